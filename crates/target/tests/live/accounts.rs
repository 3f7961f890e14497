//! Logging in with each plugin that the servers have.

use innopool_target::login::TlsMode;
use innopool_testkit::{Kind, Own};

use crate::{as_user, by_socket, failure, login, open, with_mode};

#[test]
fn mysql_passwords_over_every_way() {
    let Some(server) = innopool_testkit::own(Kind::Mysql, &[]) else {
        return;
    };
    for plugin in ["caching_sha2_password", "sha256_password"] {
        let user = plugin.replace("_password", "");
        server.sql(&format!("CREATE USER {user}@'%' IDENTIFIED WITH {plugin} BY 'tulip'"));
        let login = as_user(&server, &user, "tulip");
        for mode in [TlsMode::Required, TlsMode::Disabled] {
            // A server that knows the password from an earlier login asks less.
            server.sql("FLUSH PRIVILEGES");
            let login = with_mode(login.clone(), mode);
            for _ in 0..2 {
                open(&login).unwrap_or_else(|error| panic!("{plugin} {mode}: {error}"));
            }
            let line = failure(&with_mode(as_user(&server, &user, "wrong"), mode));
            assert!(line.contains("refuses this user name and password"), "{line}");
        }
        server.sql("FLUSH PRIVILEGES");
        open(&by_socket(login, &server)).unwrap();
    }
}

#[test]
fn mysql_takes_a_password_that_is_long_or_not_ascii() {
    let Some(server) = innopool_testkit::own(Kind::Mysql, &[]) else {
        return;
    };
    let long = "t".repeat(200);
    for (user, password) in [("lengthy", long.as_str()), ("umlaut", "grün ✓ \"x")] {
        server.sql(&format!("CREATE USER {user}@'%' IDENTIFIED BY '{password}'"));
        for mode in [TlsMode::Disabled, TlsMode::Required] {
            open(&with_mode(as_user(&server, user, password), mode)).unwrap();
        }
    }
}

#[test]
fn mariadb_passwords() {
    let Some(server) = innopool_testkit::own(Kind::Mariadb, &[]) else {
        return;
    };
    server
        .sql("CREATE USER native@'%' IDENTIFIED VIA mysql_native_password USING PASSWORD('tulip')");
    server.sql("CREATE USER old@'%' IDENTIFIED VIA mysql_old_password USING '5d2e19393cc5ef67'");
    server.sql("CREATE USER root2@localhost IDENTIFIED VIA unix_socket OR mysql_native_password USING PASSWORD('tulip')");
    let native = as_user(&server, "native", "tulip");
    open(&native).unwrap();
    open(&by_socket(native, &server)).unwrap();
    open(&by_socket(as_user(&server, "root2", "tulip"), &server)).unwrap();
    let line = failure(&as_user(&server, "native", "wrong"));
    assert!(line.contains("refuses this user name and password"), "{line}");
    let line = failure(&as_user(&server, "old", "tulip"));
    assert!(line.contains("a password in the old format"), "{line}");
}

#[test]
fn mariadb_knows_the_user_of_the_socket() {
    let Some(server) = innopool_testkit::own(Kind::Mariadb, &[]) else {
        return;
    };
    // The tests run as root; whom the kernel names is whom the account is for.
    server.sql("ALTER USER root@localhost IDENTIFIED VIA unix_socket");
    open(&by_socket(login(server.port()), &server)).unwrap();
}

/// MariaDB's ed25519 is in a package of its own; where it is installed, it is tested.
#[test]
fn mariadb_ed25519() {
    let Some(directory) = std::env::var_os("INNOPOOL_MARIADB_PLUGINS") else {
        eprintln!("SKIPPED: INNOPOOL_MARIADB_PLUGINS does not name a directory with auth_ed25519");
        return;
    };
    let option = format!("plugin_dir={}", directory.to_string_lossy());
    let started =
        Own::new(Kind::Mariadb).option(&option).option("plugin_load_add=auth_ed25519").start();
    let Some(server) = started else {
        return;
    };
    server.sql("CREATE USER ed@'%' IDENTIFIED VIA ed25519 USING PASSWORD('tulip')");
    open(&as_user(&server, "ed", "tulip")).unwrap();
    let line = failure(&as_user(&server, "ed", "wrong"));
    assert!(line.contains("refuses this user name and password"), "{line}");
}

#[test]
fn no_account_and_no_password() {
    for kind in Kind::ALL {
        let Some(server) = innopool_testkit::shared(kind) else {
            continue;
        };
        open(&login(server.port())).unwrap();
        let line = failure(&as_user(server, "nobody", "tulip"));
        assert!(line.contains("refuses this user name and password"), "{line}");
    }
}

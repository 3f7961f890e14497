//! Encryption in each of the client's modes.

use std::fs;
use std::path::{Path, PathBuf};

use innopool_target::login::{Login, TlsMode};
use innopool_testkit::{Kind, Own, Server};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tempfile::TempDir;

use crate::{by_socket, failure, login, open, with_mode};

/// An authority, another one, and certificates of the first for a server and a client.
struct Certificates {
    directory: TempDir,
}

impl Certificates {
    fn new(server_name: &str) -> Self {
        let directory = TempDir::new().unwrap();
        let issuer = authority(&directory.path().join("ca.pem"));
        authority(&directory.path().join("other-ca.pem"));
        for (file, name) in [("server", server_name), ("client", "client.test")] {
            let key = KeyPair::generate().unwrap();
            let params = CertificateParams::new([name.to_owned()]).unwrap();
            let certificate = params.signed_by(&key, &issuer).unwrap();
            let path = |what: &str| directory.path().join(format!("{file}-{what}.pem"));
            fs::write(path("cert"), certificate.pem()).unwrap();
            fs::write(path("key"), key.serialize_pem()).unwrap();
        }
        Self { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn server(&self, kind: Kind) -> Option<Server> {
        let option = |name: &str, file: &str| format!("{name}={}", self.text(file));
        Own::new(kind)
            .option(&option("ssl_ca", "ca.pem"))
            .option(&option("ssl_cert", "server-cert.pem"))
            .option(&option("ssl_key", "server-key.pem"))
            .start()
    }
}

fn authority(path: &Path) -> Issuer<'static, KeyPair> {
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let name = path.file_name().unwrap().to_str().unwrap();
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    let key = KeyPair::generate().unwrap();
    fs::write(path, params.self_signed(&key).unwrap().pem()).unwrap();
    Issuer::new(params, key)
}

fn with_ca(mut login: Login, mode: TlsMode, ca: &str) -> Login {
    login.tls.mode = mode;
    login.tls.ca = Some(ca.to_owned());
    login
}

#[test]
fn each_mode_on_a_server_with_a_certificate() {
    let certificates = Certificates::new("127.0.0.1");
    for kind in Kind::ALL {
        let Some(server) = certificates.server(kind) else {
            continue;
        };
        let login = login(server.port());
        let ca = certificates.text("ca.pem");
        let private = |login: &Login| open(login).unwrap().is_private();
        assert!(!private(&with_mode(login.clone(), TlsMode::Disabled)));
        assert!(private(&with_mode(login.clone(), TlsMode::Preferred)));
        assert!(private(&with_mode(login.clone(), TlsMode::Required)));
        assert!(private(&with_ca(login.clone(), TlsMode::VerifyCa, &ca)));
        assert!(private(&with_ca(login.clone(), TlsMode::VerifyIdentity, &ca)));

        let wrong = certificates.text("other-ca.pem");
        for mode in [TlsMode::VerifyCa, TlsMode::VerifyIdentity] {
            let line = failure(&with_ca(login.clone(), mode, &wrong));
            assert!(line.contains("not issued by an authority in"), "{line}");
        }
        // Neither of them looks at it.
        open(&with_ca(login.clone(), TlsMode::Required, &wrong)).unwrap();
    }
}

#[test]
fn a_certificate_for_another_name() {
    let certificates = Certificates::new("db.test");
    for kind in Kind::ALL {
        let Some(server) = certificates.server(kind) else {
            continue;
        };
        let login = login(server.port());
        let ca = certificates.text("ca.pem");
        open(&with_ca(login.clone(), TlsMode::VerifyCa, &ca)).unwrap();
        let line = failure(&with_ca(login, TlsMode::VerifyIdentity, &ca));
        assert!(line.contains("not for 127.0.0.1"), "{line}");
        assert!(line.contains("--ssl-mode=VERIFY_CA"), "{line}");
    }
}

#[test]
fn a_client_certificate() {
    let certificates = Certificates::new("127.0.0.1");
    for kind in Kind::ALL {
        let Some(server) = certificates.server(kind) else {
            continue;
        };
        server.sql("CREATE USER x509@localhost REQUIRE X509");
        server.sql("CREATE USER x509@'127.0.0.1' REQUIRE X509");
        let mut login = login(server.port());
        login.user = Some("x509".to_owned());
        login.tls.mode = TlsMode::Required;
        let line = failure(&login);
        assert!(line.contains("refuses this user name"), "{line}");
        login.tls.cert = Some(certificates.text("client-cert.pem"));
        login.tls.key = Some(certificates.text("client-key.pem"));
        open(&login).unwrap();
    }
}

#[test]
fn a_server_without_tls() {
    for (kind, off) in [(Kind::Mysql, "tls_version="), (Kind::Mariadb, "ssl=OFF")] {
        let Some(server) = Own::new(kind).option(off).start() else {
            continue;
        };
        let login = login(server.port());
        assert!(!open(&with_mode(login.clone(), TlsMode::Preferred)).unwrap().is_private());
        let line = failure(&with_mode(login.clone(), TlsMode::Required));
        assert!(line.contains("offers no TLS"), "{line}");
        // A socket needs none, whatever the mode.
        let socket = by_socket(with_mode(login, TlsMode::Required), &server);
        assert!(open(&socket).unwrap().is_private());
    }
}

#[test]
fn options_that_cannot_be_used() {
    let Some(server) = innopool_testkit::shared(Kind::Mysql) else {
        return;
    };
    let line = failure(&with_mode(login(server.port()), TlsMode::VerifyCa));
    assert!(line.contains("--ssl-mode=VERIFY_CA needs --ssl-ca"), "{line}");
    let line = failure(&with_ca(login(server.port()), TlsMode::VerifyCa, "/nonexistent.pem"));
    assert!(line.contains("/nonexistent.pem (--ssl-ca)"), "{line}");
    let empty = tempfile::NamedTempFile::new().unwrap();
    let path = empty.path().display().to_string();
    let line = failure(&with_ca(login(server.port()), TlsMode::VerifyCa, &path));
    assert!(line.contains("no certificate in it"), "{line}");
    let mut half = with_mode(login(server.port()), TlsMode::Required);
    half.tls.cert = Some(path);
    let line = failure(&half);
    assert!(line.contains("both --ssl-cert and --ssl-key"), "{line}");
}

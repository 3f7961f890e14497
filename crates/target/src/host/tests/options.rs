//! Which option files are read, in which order, and what is kept of them.

use super::fixture::Machine;
use crate::host::options::read;

fn texts(machine: &Machine) -> Vec<(String, String)> {
    let options = read(&machine.server());
    options.files.into_iter().map(|file| (file.path, file.text)).collect()
}

fn pair(path: &str, text: &str) -> (String, String) {
    (path.to_owned(), text.to_owned())
}

#[test]
fn includes_split_a_file_so_that_the_order_stays() {
    let machine = Machine::new();
    machine.write(
        "root/etc/my.cnf",
        "[mysqld]\ninnodb_io_capacity=100\n!includedir /etc/my.d\ninnodb_io_capacity=300\n",
    );
    machine.write("root/etc/my.d/b.cnf", "[client]\npassword=secret\n");
    machine.write("root/etc/my.d/a.cnf", "[mysqld]\ninnodb_io_capacity=200\n");
    machine.write("root/etc/my.d/c.cnf.bak", "[mysqld]\ninnodb_io_capacity=999\n");
    let expected = [
        pair("/etc/my.cnf", "[mysqld]\ninnodb_io_capacity=100\n\n"),
        pair("/etc/my.d/a.cnf", "[mysqld]\ninnodb_io_capacity=200\n"),
        pair("/etc/my.d/b.cnf", "\n\n"),
        pair("/etc/my.cnf", "[mysqld]\n\n\ninnodb_io_capacity=300\n"),
    ];
    assert_eq!(texts(&machine), expected);
}

#[test]
fn the_command_line_names_the_file_and_has_the_last_word() {
    let machine = Machine::new();
    machine.write("root/etc/my.cnf", "[mysqld]\ninnodb_io_capacity=1\n");
    machine.write(
        "root/srv/db.cnf",
        "[mysqld]\ninnodb_io_capacity=2\n[mysqld_blue]\ninnodb_io_capacity=3\n",
    );
    machine.write(
        "proc/700/cmdline",
        "/usr/sbin/any\0--defaults-file=/srv/db.cnf\0--defaults-group-suffix=_blue\0\
         --user=jane\0--innodb-buffer-pool-size=4G\0--innodb-secret=x\0",
    );
    let expected = [
        pair("/srv/db.cnf", "[mysqld]\ninnodb_io_capacity=2\n[mysqld]\ninnodb_io_capacity=3\n"),
        pair("/proc/700/cmdline", "[mysqld]\n\n\n\ninnodb-buffer-pool-size=4G\n\n"),
    ];
    assert_eq!(texts(&machine), expected);
}

#[test]
fn no_defaults_reads_no_file() {
    let machine = Machine::new();
    machine.write("root/etc/my.cnf", "[mysqld]\ninnodb_io_capacity=1\n");
    machine.write("proc/700/cmdline", "/usr/sbin/any\0--no-defaults\0");
    assert_eq!(texts(&machine), []);
}

#[test]
fn files_that_include_each_other_end() {
    let machine = Machine::new();
    let text = "[mysqld]\ninnodb_io_capacity=1\n!include /etc/my.cnf\n!include /etc/my.cnf\n";
    machine.write("root/etc/my.cnf", text);
    let options = read(&machine.server());
    assert!(options.files.len() <= 500);
    assert!(options.not_read.iter().any(|missing| missing.why.contains("deep")));
}

#[test]
fn what_a_server_ignores_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let machine = Machine::new();
    machine.write("root/etc/my.cnf", "[mysqld]\ninnodb_io_capacity=1\n!include /etc/gone.cnf\n");
    machine.write("root/etc/mysql/my.cnf", "[mysqld]\ninnodb_io_capacity=2\n");
    let open = std::fs::Permissions::from_mode(0o666);
    std::fs::set_permissions(machine.path("root/etc/mysql/my.cnf"), open).unwrap();
    let options = read(&machine.server());
    assert_eq!(options.files.len(), 1);
    let missing: Vec<&str> = options.not_read.iter().map(|m| m.what.as_str()).collect();
    assert_eq!(missing, ["option file /etc/gone.cnf", "option file /etc/mysql/my.cnf"]);
}

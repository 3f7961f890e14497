//! Who is led to, who is confirmed, and above all who is not.

use super::fixture::Machine;
use crate::host::{Login, ServerSays, locate};

const SOCKET: &str = "/run/db/db.sock";

/// The server's words: everything as process 700 of the fixture would say it.
fn says() -> ServerSays {
    ServerSays {
        pid_file: Some("/run/db/db.pid".to_owned()),
        socket: Some(SOCKET.to_owned()),
        datadir: Some("/data/db/".to_owned()),
        uptime_seconds: Some(4000),
        ..ServerSays::default()
    }
}

fn by_socket() -> Login {
    Login::Socket(SOCKET.to_owned())
}

/// A machine on which process 700 is the server.
fn machine() -> Machine {
    let machine = Machine::new();
    machine.write("root/run/db/db.pid", "700\n");
    machine.write("root/run/db/db.sock", "");
    machine.listen_unix("self", 91, SOCKET);
    machine.listen_unix("700", 91, SOCKET);
    machine.hold_socket(700, 91);
    machine
}

#[track_caller]
fn refused(machine: &Machine, says: &ServerSays, login: &Login, because: &str) {
    let missing = locate(machine.roots(), says, login).unwrap_err();
    assert!(missing.why.contains(because), "{missing:?}");
}

#[test]
fn the_pid_file_leads_to_the_holder_of_the_socket() {
    let server = locate(machine().roots(), &says(), &by_socket()).unwrap();
    assert_eq!(server.pid, 700);
    assert_eq!(server.found_by.to_string(), "/run/db/db.pid: pid; it holds the server's socket");
}

#[test]
fn the_socket_leads_there_without_a_pid_file() {
    let machine = machine();
    machine.remove("root/run/db/db.pid");
    let server = locate(machine.roots(), &says(), &by_socket()).unwrap();
    assert_eq!(server.pid, 700);
    assert!(server.found_by.to_string().starts_with("/proc/net/unix: owner"));
}

#[test]
fn an_open_ibdata1_confirms_too() {
    let machine = machine();
    machine.remove("proc/700/fd/91");
    machine.hold_file(700, "root/data/db/ibdata1");
    let server = locate(machine.roots(), &says(), &by_socket()).unwrap();
    assert!(server.found_by.name.contains("ibdata1"));
}

#[test]
fn a_stale_pid_file_is_not_believed() {
    let machine = machine();
    machine.add_process(800, 10.0);
    machine.write("root/run/db/db.pid", "800\n");
    let server = locate(machine.roots(), &says(), &by_socket()).unwrap();
    assert_eq!(server.pid, 700, "found by its socket instead");
    machine.remove("proc/700/fd/91");
    refused(&machine, &says(), &by_socket(), "process 800: it has neither");
}

#[test]
fn another_file_called_ibdata1_proves_nothing() {
    let machine = machine();
    machine.remove("proc/700/fd/91");
    machine.write("root/elsewhere/ibdata1", "pages");
    machine.hold_file(700, "root/elsewhere/ibdata1");
    refused(&machine, &says(), &by_socket(), "neither");
}

#[test]
fn a_tunnel_on_the_loopback_address_is_not_the_server() {
    let machine = machine();
    machine.add_process(900, 10.0);
    machine.hold_socket(900, 55);
    machine.listen_tcp(55, "0100007F", 3307, 1000);
    refused(&machine, &says(), &Login::Loopback(3307), "tunnel");
    refused(&machine, &says(), &Login::Loopback(3306), "tunnel");

    // The server's own port, but on another address than we came in by.
    machine.hold_socket(700, 56);
    machine.listen_tcp(56, "0500000A", 3307, 105);
    refused(&machine, &says(), &Login::Loopback(3307), "tunnel");

    machine.listen_tcp(57, "00000000", 3306, 105);
    machine.hold_socket(700, 57);
    let server = locate(machine.roots(), &says(), &Login::Loopback(3306)).unwrap();
    assert_eq!(server.pid, 700);
}

#[test]
fn a_tunnel_may_share_the_servers_port() {
    let machine = machine();
    machine.listen_tcp(57, "00000000", 3306, 105);
    machine.hold_socket(700, 57);
    let login = Login::Loopback(3306);
    assert!(locate(machine.roots(), &says(), &login).is_ok());
    machine.listen_tcp(58, "0100007F", 3306, 105);
    refused(&machine, &says(), &login, "tunnel");
}

#[test]
fn a_forwarded_socket_is_not_the_server() {
    let machine = machine();
    machine.write("root/tmp/forwarded.sock", "");
    machine.listen_unix("self", 77, "/tmp/forwarded.sock");
    machine.add_process(901, 10.0);
    machine.hold_socket(901, 77);
    let login = Login::Socket("/tmp/forwarded.sock".to_owned());
    refused(&machine, &says(), &login, "not the server's own");
}

#[test]
fn the_identifier_settles_it() {
    let machine = machine();
    machine.write("root/data/db/auto.cnf", "[auto]\nserver-uuid=aa-bb\n");
    let of = |uuid: &str| ServerSays { server_uuid: Some(uuid.to_owned()), ..says() };
    let server = locate(machine.roots(), &of("AA-BB"), &Login::Loopback(3306)).unwrap();
    assert_eq!(server.pid, 700, "a published port of a container");
    refused(&machine, &of("cc-dd"), &by_socket(), "another server");
}

#[test]
fn without_the_right_to_look_the_age_must_agree() {
    let machine = machine();
    machine.remove("proc/700/fd");
    let mut says = says();
    let server = locate(machine.roots(), &says, &by_socket()).unwrap();
    assert!(server.found_by.name.contains("as old as"));

    machine.listen_tcp(57, "00000000", 3306, 105);
    assert!(locate(machine.roots(), &says, &Login::Loopback(3306)).is_ok());
    machine.listen_tcp(58, "0100007F", 3308, 1000);
    refused(&machine, &says, &Login::Loopback(3308), "tunnel");

    says.uptime_seconds = Some(3900);
    refused(&machine, &says, &by_socket(), "not as old");
    says.uptime_seconds = None;
    refused(&machine, &says, &by_socket(), "root");
}

#[test]
fn a_container_has_its_own_files_and_sockets() {
    let machine = Machine::new();
    machine.write("root/run/db/db.sock", "not this one");
    // Docker's /var/run is an absolute link: followed inside the container, not here.
    machine.write("container/run/db/db.sock", "");
    machine.link("container/var/run", "/run");
    machine.write("container/data/db/auto.cnf", "[auto]\nserver-uuid = aa-bb\n");
    machine.write("container/data/db/ib_buffer_pool", "1,2\n1,3\n");
    let container = machine.path("container");
    machine.link("proc/700/root", container.to_str().unwrap());
    machine.link("proc/700/ns/mnt", "mnt:[2]");
    machine.link("proc/700/ns/net", "net:[2]");
    machine.listen_unix("700", 91, "/var/run/db/db.sock");
    machine.hold_socket(700, 91);
    let says = ServerSays {
        pid_file: Some("/var/run/db/db.pid".to_owned()),
        socket: Some("/var/run/db/db.sock".to_owned()),
        innodb_buffer_pool_filename: Some("ib_buffer_pool".to_owned()),
        server_uuid: Some("aa-bb".to_owned()),
        ..says()
    };
    let server = locate(machine.roots(), &says, &Login::Loopback(3307)).unwrap();
    assert_eq!(server.pid, 700);
    assert!(server.found_by.to_string().starts_with("/proc/700/net/unix"));
    let (documents, not_read) = crate::host::sample(&server, 0, true);
    let observation = crate::build::observe("container", documents, not_read);
    let pages = observation.host().unwrap().dump_file_pages.as_ref().unwrap().value;
    assert_eq!(pages, 2);
}

#[test]
fn a_server_that_says_nothing_is_not_local() {
    let machine = machine();
    let login = Login::Socket("/tmp/none.sock".to_owned());
    refused(&machine, &ServerSays::default(), &login, "neither the pid file");
}

//! Real servers on this machine: MariaDB beside us, MySQL in a chroot, and a proxy in front of each.

#![cfg(target_os = "linux")]

use innopool_target::build::observe;
use innopool_target::host::{Login, Roots, ServerSays, locate, sample};
use innopool_target::{Content, Document, collect};
use innopool_testkit::{Kind, Recorder, Server, shared};

/// What the server says of itself.
fn says(server: &Server) -> ServerSays {
    let text = |name: &str| Some(server.variable(name)).filter(|text| !text.is_empty());
    ServerSays {
        pid_file: text("pid_file"),
        socket: text("socket"),
        datadir: text("datadir"),
        innodb_data_home_dir: None,
        innodb_buffer_pool_filename: text("innodb_buffer_pool_filename"),
        server_uuid: match server.kind() {
            Kind::Mysql => text("server_uuid"),
            Kind::Mariadb => None,
        },
        uptime_seconds: server.status("Uptime").parse().ok(),
    }
}

#[test]
fn a_real_server_is_found_by_each_way_in() {
    for server in Kind::ALL.into_iter().filter_map(shared) {
        let socket = Login::Socket(server.socket().display().to_string());
        for login in [socket, Login::Loopback(server.port())] {
            let found = locate(&Roots::default(), &says(server), &login);
            let found = found.unwrap_or_else(|missing| panic!("{login:?}: {missing:?}"));
            assert_eq!(found.pid, u64::from(server.pid()), "{login:?}");
            let without_pid_file = ServerSays { pid_file: None, ..says(server) };
            let found = locate(&Roots::default(), &without_pid_file, &login).unwrap();
            assert_eq!(found.pid, u64::from(server.pid()), "{login:?}");
        }
    }
}

#[test]
fn behind_a_proxy_only_an_identifier_proves_anything() {
    for server in Kind::ALL.into_iter().filter_map(shared) {
        let proxy = Recorder::start(server).unwrap();
        let login = Login::Loopback(proxy.port());
        let with_uuid = locate(&Roots::default(), &says(server), &login);
        assert_eq!(with_uuid.is_ok(), server.kind() == Kind::Mysql, "{with_uuid:?}");
        let without = ServerSays { server_uuid: None, ..says(server) };
        let missing = locate(&Roots::default(), &without, &login).unwrap_err();
        assert!(missing.why.contains("tunnel or a proxy"), "{missing:?}");
    }
}

#[test]
fn a_real_server_is_measured_and_the_figures_survive_saving() {
    for server in Kind::ALL.into_iter().filter_map(shared) {
        let login = Login::Socket(server.socket().display().to_string());
        let found = locate(&Roots::default(), &says(server), &login).unwrap();
        let (mut documents, not_read) = sample(&found, 0, true);
        documents.extend(sample(&found, 1, false).0);
        let observation = observe("real", documents.clone(), not_read.clone());
        let host = observation.host().unwrap();
        let rss = host.server_rss_bytes.as_ref().unwrap().value;
        assert!(rss > 10 << 20, "a server of {rss} bytes");
        assert!(host.cpu_ticks.as_ref().unwrap().value > 0);
        assert_eq!(host.pid.as_ref().unwrap().value, u64::from(server.pid()));
        assert!(has_option_file(&documents), "{documents:?}");

        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("evidence");
        collect::write(&dir, &documents, &not_read, "real").unwrap();
        let (name, saved, saved_not_read) = collect::read(&dir).unwrap();
        let again = observe(&name, saved, saved_not_read);
        assert_eq!(again, observation);
    }
}

fn has_option_file(documents: &[Document]) -> bool {
    documents.iter().any(
        |document| matches!(&document.content, Content::OptionFile(text) if text.contains("[")),
    )
}

//! A look at a real server, saved and read back, must give the very same report.

use std::time::Duration;

use innopool_target::live::Limits;
use innopool_target::login::Login;
use innopool_target::{build, collect};
use innopool_testkit::{Kind, shared};

use super::look::{Look, Options, look};
use super::saved;
use crate::render::{self, Format, Page};

const PAGE: Page = Page { width: 80, colour: false, verbose: true, live: false };

fn answers(look: Look) -> Vec<String> {
    let observation = build::observe(&look.name, look.documents, look.not_read);
    let report = innopool_advice::check(&observation);
    let size = innopool_advice::size(&observation, None);
    [Format::Json, Format::Text, Format::Markdown]
        .into_iter()
        .flat_map(|format| {
            [render::report(&report, format, PAGE), render::size(&size, format, PAGE)]
        })
        .collect()
}

fn a_saved_look_gives_the_same_report(kind: Kind, options: Options) {
    let Some(server) = shared(kind) else {
        return;
    };
    let login = Login {
        host: "127.0.0.1".to_owned(),
        port: server.port(),
        user: Some("root".to_owned()),
        ..Login::default()
    };
    let seen = look(&login, Limits::default(), options).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path().join("evidence");
    collect::write(&dir, &seen.documents, &seen.not_read, &seen.name).unwrap();
    let read = saved::read(&[dir], None).unwrap();
    for (live, saved) in answers(seen).iter().zip(answers(read)) {
        for (live, saved) in live.lines().zip(saved.lines()) {
            assert_eq!(live, saved);
        }
        assert_eq!(*live, saved);
    }
}

const WATCHED: Options =
    Options { interval: Duration::from_millis(2500), skip_status_text: false, host_memory: None };

#[test]
fn a_look_at_mysql_saves_to_the_same_report() {
    a_saved_look_gives_the_same_report(Kind::Mysql, WATCHED);
}

#[test]
fn a_look_at_mariadb_saves_to_the_same_report() {
    a_saved_look_gives_the_same_report(Kind::Mariadb, WATCHED);
}

#[test]
fn a_look_with_what_the_person_knows_saves_to_the_same_report() {
    for kind in Kind::ALL {
        let options = Options {
            interval: Duration::ZERO,
            skip_status_text: true,
            host_memory: Some(64 << 30),
        };
        a_saved_look_gives_the_same_report(kind, options);
    }
}

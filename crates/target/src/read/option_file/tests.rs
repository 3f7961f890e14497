//! Tests of option files as a whole: groups, includes, meanings, and the way back to text.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::option_file::parse_size;

/// Included files from memory.
#[derive(Default)]
struct Memory(BTreeMap<&'static str, &'static str>);

impl Includes for Memory {
    fn file(&mut self, path: &str) -> Result<String, IncludeError> {
        let text = self.0.get(path).map(|text| (*text).to_owned());
        text.ok_or_else(|| IncludeError::Unreadable("no such file".to_owned()))
    }

    fn directory(&mut self, path: &str) -> Result<Vec<String>, IncludeError> {
        let prefix = format!("{}/", path.trim_end_matches('/'));
        let names: Vec<String> = self
            .0
            .keys()
            .filter_map(|path| path.strip_prefix(&prefix))
            .filter(|name| !name.contains('/'))
            .map(str::to_owned)
            .rev()
            .collect();
        if names.is_empty() {
            return Err(IncludeError::Unreadable("no such directory".to_owned()));
        }
        Ok(names)
    }
}

fn mysql() -> Server {
    Server::detect("8.0.36", "MySQL Community Server - GPL")
}

fn mariadb() -> Server {
    Server::detect("10.11.6-MariaDB", "mariadb.org binary distribution")
}

fn parse_alone(text: &str, server: &Server) -> Configuration {
    parse(text, "my.cnf", server, &mut NotFollowed)
}

/// Name and value of each setting, in order.
fn settings(configuration: &Configuration) -> Vec<(&str, Option<&str>)> {
    let pairs = configuration.settings.iter();
    pairs.map(|setting| (setting.name.as_str(), setting.value.as_deref())).collect()
}

const NO_LINE: [u32; 0] = [];

fn fatal(configuration: &Configuration) -> Vec<u32> {
    let problems = configuration.problems.iter();
    problems.filter(|p| p.fatal).map(|p| p.line).collect()
}

#[test]
fn keeps_the_servers_groups_and_lets_the_last_value_win() {
    let text = "[client]\nport = 1\n[mysqld]\ninnodb-buffer-pool-size = 1G\n\
                [mysqld_safe]\nnice = 2\n[server]\nskip-name-resolve\n\
                [mysqld]\ninnodb_buffer_pool_size = 2G\n";
    let configuration = parse_alone(text, &mysql());
    assert_eq!(
        settings(&configuration),
        [
            ("innodb_buffer_pool_size", Some("1G")),
            ("skip_name_resolve", None),
            ("innodb_buffer_pool_size", Some("2G")),
        ]
    );
    let size = configuration.number("innodb_buffer_pool_size").unwrap();
    assert_eq!(size.value, 2 << 30);
    assert_eq!(size.source.to_string(), "my.cnf:10: innodb_buffer_pool_size");
    assert_eq!(configuration.problems, []);
}

#[test]
fn the_flavour_and_version_choose_among_groups() {
    let text = "[mysqld-8.0]\na=1\n[mysqld-5.7]\nb=1\n[mariadb-10.11]\nc=1\n[galera]\nd=1\n";
    let names = |server: &Server| {
        let configuration = parse_alone(text, server);
        let names: Vec<String> = configuration.settings.into_iter().map(|s| s.name).collect();
        names.join("")
    };
    assert_eq!(names(&mysql()), "a");
    assert_eq!(names(&mariadb()), "cd");
    assert_eq!(names(&Server::default()), "abcd");
    let any_mysql = Server { flavor: crate::Flavor::Mysql, ..Server::default() };
    assert_eq!(names(&any_mysql), "ab");
}

#[test]
fn prefixes_mean_the_option_behind_them() {
    let text = "[mysqld]\nloose_innodb-buffer-pool-size=1G\nskip-innodb-doublewrite\n\
                disable_log_bin\nenable-innodb_flush_sync\nskip-log-bin=0\n\
                loose-skip-innodb_adaptive_hash_index\nskip-networking\n\
                maximum-join_buffer_size=1M\n";
    let configuration = parse_alone(text, &mysql());
    assert_eq!(
        settings(&configuration),
        [
            ("innodb_buffer_pool_size", Some("1G")),
            ("innodb_doublewrite", Some("0")),
            ("log_bin", Some("0")),
            ("innodb_flush_sync", Some("1")),
            ("log_bin", Some("1")),
            ("innodb_adaptive_hash_index", Some("0")),
            ("skip_networking", None),
            ("maximum_join_buffer_size", Some("1M")),
        ]
    );
    let loose: Vec<u32> = configuration
        .settings
        .iter()
        .filter(|setting| setting.loose)
        .map(|setting| setting.line)
        .collect();
    assert_eq!(loose, [2, 7]);
    assert_eq!(configuration.problems, []);
}

#[test]
fn set_variable_is_an_assignment_only_before_5_5() {
    let text = "[mysqld]\nset-variable = max_connections=16\n";
    let old = parse_alone(text, &Server::detect("5.1.73", ""));
    assert_eq!(settings(&old), [("max_connections", Some("16"))]);
    assert_eq!(old.problems, []);
    let new = parse_alone(text, &mysql());
    assert_eq!(settings(&new), [("set_variable", Some("max_connections=16"))]);
    assert_eq!(fatal(&new), [2]);
}

#[test]
fn what_a_server_refuses_is_fatal_and_says_what_to_write() {
    for (line, remedy) in [
        ("innodb_buffer_pool_size = 1.5G", "write 1536M"),
        ("innodb_buffer_pool_size = 0,25T", "write 262144M"),
        ("innodb_buffer_pool_size = 4 GB", "write 4GB"),
        ("innodb_buffer_pool_size = \u{a0}4G", "write 4G"),
        ("innodb-flush-log-at-trx-commit = 1/2/0", "write 0, 1 or 2"),
        ("innodb_buffer_pool_size = @SIZE@", "write a whole number"),
        ("innodb_buffer_pool_size = 0x10", "write a whole number"),
        ("innodb_buffer_pool_size", "needs a value"),
        ("innodb_buffer_pool_size =", "has no value"),
        ("innodb_buffer_pool_size: 2G", "write innodb_buffer_pool_size = value"),
        ("innodb_buffer_pool_size 2G", "write innodb_buffer_pool_size = value"),
        ("Innodb_buffer_pool_size = 2G", "write innodb_buffer_pool_size"),
        ("--innodb_buffer_pool_size = 2G", "remove it"),
        ("= 2G", "no name"),
        ("[mysqld", "write [group]"),
        ("!include", "without a path"),
    ] {
        let configuration = parse_alone(&format!("[mysqld]\n{line}\n"), &mysql());
        assert_eq!(fatal(&configuration), [2], "{line}");
        let message = &configuration.problems[0].message;
        assert!(message.contains(remedy), "{line}: {message}");
    }
    let old = parse_alone("[mysqld]\ntmp_table_size=1T\n", &Server::detect("8.0.13", ""));
    assert_eq!(fatal(&old), [2]);
    let old = parse_alone("[mysqld]\ntmp_table_size=1T\n", &Server::detect("8.0.14", ""));
    assert_eq!(old.problems, []);
}

#[test]
fn what_a_server_reads_otherwise_than_it_looks_is_told() {
    for (line, said) in [
        ("sort_buffer_size = 16Mega", "as 16M"),
        ("sort_buffer_size = -1", "smallest"),
        ("[ mysqld ]", "write [mysqld]"),
        ("!inklude x", "ignore this line"),
    ] {
        let configuration = parse_alone(&format!("[mysqld]\n{line}\n"), &mysql());
        assert_eq!(fatal(&configuration), NO_LINE, "{line}");
        let message = &configuration.problems[0].message;
        assert!(message.contains(said), "{line}: {message}");
    }
    assert_eq!(fatal(&parse_alone("[mysqld]\nsort_buffer_size=-1\n", &mariadb())), [2]);
    assert_eq!(fatal(&parse_alone("[mysqld]\nMax_connections=1\n", &mariadb())), NO_LINE);
    assert_eq!(fatal(&parse_alone("[mysqld]\nloose-x: 1\n", &mysql())), NO_LINE);
}

#[test]
fn no_message_repeats_what_may_be_a_secret() {
    let text = "[mysqld]\nwsrep_sst_auth: ada:tulip\nmaster-password tulip\n";
    let configuration = parse_alone(text, &mariadb());
    assert_eq!(fatal(&configuration), [2, 3]);
    for problem in &configuration.problems {
        assert!(!problem.message.contains("tulip"), "{}", problem.message);
    }
}

#[test]
fn an_option_before_any_group_and_a_byte_order_mark_are_fatal() {
    let configuration = parse_alone("a=1\n[mysqld]\r\nb=2\r\n", &mysql());
    assert_eq!(fatal(&configuration), [1]);
    assert_eq!(settings(&configuration), [("b", Some("2"))]);
    let configuration = parse_alone("\u{feff}[mysqld]\na=1", &mysql());
    assert_eq!(fatal(&configuration), [1]);
    assert_eq!(settings(&configuration), [("a", Some("1"))]);
}

#[test]
fn an_overlong_line_is_split_as_servers_split_it() {
    let text = format!("[mysqld]\na = {}\nb = 1\n", "x".repeat(5000));
    let configuration = parse_alone(&text, &mysql());
    let [(_, Some(first)), (rest, None), ("b", Some("1"))] = settings(&configuration)[..] else {
        panic!("{:?}", settings(&configuration));
    };
    assert_eq!(first.len() + "a = ".len(), 4094);
    assert_eq!(first.len() + rest.len(), 5000);
    assert!(configuration.problems[0].message.contains("4094 bytes"));
    assert_eq!(configuration.settings[2].line, 3);
}

#[test]
fn follows_includes_in_the_servers_order() {
    let mut files = Memory::default();
    files.0.insert("/etc/a.cnf", "[client]\nx=1\n[mysqld]\na=1\n");
    files.0.insert("/etc/d/20.cnf", "[mysqld]\nd=20\n");
    files.0.insert("/etc/d/10.local.cnf", "[mysqld]\nd=10\n");
    files.0.insert("/etc/d/30.ini", "[mysqld]\nd=30\n");
    files.0.insert("/etc/d/15.cnf", "d=15\n[mysqld]\nd=16\n");
    let text = "[mysqld]\n!include /etc/a.cnf\nb=2\n!includedir /etc/d/\nc=3\n";
    let configuration = parse(text, "my.cnf", &mysql(), &mut files);
    assert_eq!(
        settings(&configuration),
        [
            ("a", Some("1")),
            ("b", Some("2")),
            ("d", Some("10")),
            ("d", Some("20")),
            ("c", Some("3")),
        ]
    );
    assert_eq!(
        configuration.files,
        ["my.cnf", "/etc/a.cnf", "/etc/d/10.local.cnf", "/etc/d/15.cnf", "/etc/d/20.cnf"]
    );
    // A refused line ends the reading of an included file, but not the server.
    let [problem] = &configuration.problems[..] else {
        panic!("{:?}", configuration.problems);
    };
    assert_eq!((problem.path.as_str(), problem.line), ("/etc/d/15.cnf", 1));
    assert!(!problem.fatal);
}

#[test]
fn a_missing_file_is_passed_over_and_a_missing_directory_is_fatal() {
    let text = "[mysqld]\n!include /no\n!includedir /none\na=1\n";
    let configuration = parse(text, "my.cnf", &mysql(), &mut Memory::default());
    let told: Vec<_> = configuration.problems.iter().map(|p| (p.line, p.fatal)).collect();
    assert_eq!(told, [(2, false), (3, true)]);
    // When nobody looked, nothing is known to be missing.
    let configuration = parse_alone(text, &mysql());
    let told: Vec<_> = configuration.problems.iter().map(|p| (p.line, p.fatal)).collect();
    assert_eq!(told, [(2, false), (3, false)]);
    assert_eq!(settings(&configuration), [("a", Some("1"))]);
}

#[test]
fn a_cycle_ends_where_the_server_ends_it() {
    let mut files = Memory::default();
    files.0.insert("/a", "[mysqld]\nx=1\n!include /b\n");
    files.0.insert("/b", "[mysqld]\nx=2\n!include /a\n");
    let configuration = parse("!include /a\n", "my.cnf", &mysql(), &mut files);
    // my.cnf is at depth 0, and a file at depth 10 is the last to be read: /b.
    assert_eq!(configuration.files.len(), 11);
    assert_eq!(configuration.text("x").unwrap().value, "2");
    assert_eq!(fatal(&configuration), NO_LINE);
    let told = |text: &str| configuration.problems.iter().any(|p| p.message.contains(text));
    assert!(told("being read already") && told("10 files"));

    files.0.insert("/a", "!include /a\n!include /a\n!include /a\n");
    let configuration = parse("!include /a\n", "my.cnf", &mysql(), &mut files);
    assert_eq!(configuration.files.len(), 500);
}

#[test]
fn reads_this_machines_files() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    std::fs::create_dir(path("conf.d")).unwrap();
    std::fs::write(path("conf.d/x.cnf"), b"[mysqld]\nsocket=/caf\xe9\n").unwrap();
    std::fs::create_dir(path("conf.d/y.cnf")).unwrap();
    let main = format!("!includedir {}\n[mysqld]\na=1\n", path("conf.d"));
    std::fs::write(path("my.cnf"), main).unwrap();

    let configuration = read_file(&path("my.cnf"), &mysql());
    assert_eq!(settings(&configuration), [("socket", Some("/caf\u{fffd}")), ("a", Some("1"))]);
    let [problem] = &configuration.problems[..] else {
        panic!("{:?}", configuration.problems);
    };
    assert!(problem.message.contains("not a file"), "{}", problem.message);

    let missing = read_file(&path("none.cnf"), &mysql());
    assert!(missing.problems[0].fatal && missing.settings.is_empty());
    let (none, my) = (path("none.cnf"), path("my.cnf"));
    let present = read_files_present(&[&none, &my, &my], &mysql());
    assert_eq!(present.settings.len(), 4);
}

#[cfg(unix)]
#[test]
fn ignores_a_file_that_everybody_may_write() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("my.cnf");
    std::fs::write(&path, "[mysqld]\na=1\n").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    let configuration = read_files_present(&[path.to_str().unwrap()], &mysql());
    assert_eq!(configuration.settings, []);
    assert!(configuration.problems[0].message.contains("chmod o-w"));
    assert_eq!(fatal(&configuration), NO_LINE);
}

#[test]
fn only_what_evidence_may_hold_is_kept_for_saving() {
    let text = "[mysqld]\npassword=tulip\nsync_binlog=1\n";
    let mut configuration = parse_alone(text, &mysql());
    configuration.keep_allowed();
    assert_eq!(settings(&configuration), [("sync_binlog", Some("1"))]);
}

#[test]
fn renders_groups_and_quotes() {
    let text = "[mysqld]\ninit-connect = 'SET NAMES \"x\"' # c\nloose-a=1\nlog_bin\n[server]\nb=\n";
    assert_eq!(
        render(&parse_alone(text, &mysql()).settings),
        "[mysqld]\ninit_connect = \"SET NAMES \\\"x\\\"\"\nloose_a = 1\nlog_bin\n\n\
         [server]\nb = \"\"\n"
    );
}

/// Lines as people write them, well and badly.
fn any_line() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec!["[mysqld]", "[server] #", "[mariadb-10.6]", "[client]", ""])
            .prop_map(str::to_owned),
        ("(loose|skip|enable|disable|maximum|)[-_]?", "[a-z_.-]{0,12}", "[ \t]*=[ \t]*", ".{0,30}")
            .prop_map(|(prefix, name, equals, value)| format!("{prefix}{name}{equals}{value}")),
        ("(skip|enable|disable|loose)[-_]", prop::sample::select(crate::allow::VARIABLES))
            .prop_map(|(prefix, name)| format!("{prefix}{name}")),
        ".{0,40}",
    ]
}

proptest! {
    #[test]
    fn rendered_settings_read_back_the_same(lines in prop::collection::vec(any_line(), 0..20)) {
        let text = format!("[mysqld]\n{}", lines.join("\n"));
        let server = Server::default();
        let first = parse_alone(&text, &server);
        let second = parse_alone(&render(&first.settings), &server);
        let content = |configuration: &Configuration| -> Vec<_> {
            let settings = configuration.settings.iter().filter(|s| is_name(&s.name));
            settings
                .map(|s| (s.group.clone(), s.name.clone(), s.value.clone(), s.loose))
                .collect()
        };
        prop_assert_eq!(content(&first), content(&second));
    }

    #[test]
    fn sizes_are_never_misread(digits in 0_u64..1 << 34, unit in "[kKmMgG]?") {
        let shift = match unit.to_ascii_lowercase().as_str() {
            "k" => 10,
            "m" => 20,
            "g" => 30,
            _ => 0,
        };
        let expected = digits.checked_mul(1 << shift);
        prop_assert_eq!(parse_size(&format!("{digits}{unit}")).ok(), expected);
    }
}

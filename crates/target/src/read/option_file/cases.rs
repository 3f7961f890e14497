//! Option files from servers in the wild, where the folder with them is at hand.

use std::path::PathBuf;

use super::*;

/// The text of a case, or `None` with a word on stderr.
fn case(name: &str) -> Option<String> {
    let root = std::env::var_os("INNOPOOL_CASES").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases")),
        PathBuf::from,
    );
    let path = root.join("cnf").join(name);
    let Ok(bytes) = std::fs::read(&path) else {
        eprintln!("SKIPPED: no {}", path.display());
        return None;
    };
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// What must come of a case: names with the values that win (`None`: not set), and fatal lines.
fn check(
    name: &str,
    server: &Server,
    expected: &[(&str, Option<&str>)],
    fatal: &[u32],
) -> Option<Configuration> {
    let configuration = parse(&case(name)?, name, server, &mut NotFollowed);
    for (variable, value) in expected {
        let found = configuration.text(variable).map(|fact| fact.value);
        assert_eq!(found.as_deref(), *value, "{name}: {variable}");
    }
    let refused: Vec<u32> = configuration
        .problems
        .iter()
        .filter(|problem| problem.fatal)
        .map(|problem| problem.line)
        .collect();
    assert_eq!(refused, fatal, "{name}: {:?}", configuration.problems);
    Some(configuration)
}

fn bytes(configuration: &Configuration, name: &str) -> Option<u64> {
    Some(configuration.number(name)?.value)
}

const GIB: u64 = 1 << 30;

#[test]
fn percona_51_with_43_gigabytes() {
    let server = Server::detect("5.1.58-percona", "");
    let Some(read) = check(
        "c01_percona51_43G_trailing_sections.cnf",
        &server,
        &[
            ("innodb_flush_log_at_trx_commit", Some("2")),
            ("innodb_log_files_in_group", Some("2")),
            ("innodb_log_file_size", Some("2000M")),
            ("innodb_flush_method", None),
            ("group", None),
            ("skip_locking", Some("ON")),
            ("key_buffer", Some("150M")),
        ],
        &[],
    ) else {
        return;
    };
    assert_eq!(bytes(&read, "innodb_buffer_pool_size"), Some(46_170_898_432));
    let ignored = read.settings.iter().filter(|s| s.name == "binlog_ignore_db");
    assert_eq!(ignored.count(), 13);
}

#[test]
fn comments_quotes_and_semicolons() {
    check(
        "c02_comments_quotes_semicolons.cnf",
        &Server::default(),
        &[
            ("user", Some("mysql")),
            ("password", Some("password # still part of it!")),
            ("something", Some("something ; or # another")),
            ("log_bin", Some("ON")),
        ],
        &[],
    );
}

#[test]
fn all_suffixes() {
    let name = "c04_unit_suffix_matrix.cnf";
    let Some(read) = check(name, &Server::default(), &[], &[]) else {
        return;
    };
    let read: Vec<u64> = (1..=12).filter_map(|n| bytes(&read, &format!("var{n}"))).collect();
    let (mega, kilo) = (16 << 20, 16 << 10);
    let expected = [mega, mega, mega, mega, kilo, kilo, kilo, kilo, GIB, GIB, GIB, GIB];
    assert_eq!(read, expected);
}

#[test]
fn values_that_win_and_lines_that_are_refused() {
    let any = Server::default();
    let mysql = |version: &str| Server::detect(version, "MySQL Community Server");
    let mariadb = Server::detect("10.11.6-MariaDB", "");
    check(
        "c05_hash_prefixed_disabled_lines.cnf",
        &mysql("5.6.30"),
        &[
            ("innodb_buffer_pool_size", Some("16M")),
            ("datadir", Some("/mnt/data/mysql")),
            (
                "wsrep_provider_options",
                Some(
                    "gcache.size=64M;base_host=192.0.2.10; base_port=4567; \
                     cert.log_conflicts=no;etc=etc;",
                ),
            ),
            ("basedir", None),
        ],
        &[],
    );
    let blank_end = "c07_whitespace_only_lines_bug917770.cnf";
    check(blank_end, &any, &[("innodb_log_file_size", Some("5M")), ("password", None)], &[]);
    let plugins = "c08_plugin_load_semicolons_in_value.cnf";
    if let Some(read) = check(plugins, &any, &[("prompt", None), ("log_bin", Some("ON"))], &[]) {
        let value = read.text("plugin_load").unwrap().value;
        assert!(value.starts_with("innodb=ha_innodb_plugin.so.0;innodb_trx="), "{value}");
    }
    check(
        "c10_mysql84_no_pool_setting_io_capacity.cnf",
        &mysql("8.4.3"),
        &[
            ("innodb_buffer_pool_size", Some("1G")),
            ("innodb_page_size", Some("4KB")),
            ("innodb_io_capacity", Some("100000")),
            ("log_bin", Some("0")),
            ("prompt", None),
        ],
        &[],
    );
    check(
        "c17_percona_hyphen_names_26G.cnf",
        &any,
        &[
            ("innodb_buffer_pool_size", Some("26G")),
            ("innodb_flush_log_at_trx_commit", Some("1")),
            ("init_connect", Some("SET NAMES utf8mb4")),
        ],
        &[],
    );
    check(
        "c19_percona_mixed_names_placeholder_1_2_0.cnf",
        &mysql("5.6.30"),
        &[("innodb_buffer_pool_size", Some("64G")), ("innodb_buffer_pool_instances", Some("12"))],
        &[17],
    );
    check(
        "c20_percona_bench_20G_tab_indented.cnf",
        &any,
        &[
            ("innodb_buffer_pool_size", Some("20G")),
            ("innodb_log_compressed_pages", Some("0")),
            ("innodb_old_blocks_pct", Some("10")),
        ],
        &[],
    );
    let galera = "c22_galera_trailing_spaces_durability0.cnf";
    let settings = [
        ("innodb_buffer_pool_size", Some("2G")),
        ("innodb_flush_log_at_trx_commit", Some("0")),
        ("wsrep_node_name", Some("mariadb-0")),
        ("query_cache_size", Some("0")),
    ];
    check(galera, &mariadb, &settings, &[]);
    check(galera, &mysql("8.0.36"), &[("innodb_buffer_pool_size", None)], &[]);
    check(
        "c23_loose_underscore_and_hyphen.cnf",
        &any,
        &[("innodb_buffer_pool_size", Some("2G")), ("innodb_log_file_size", Some("512M"))],
        &[],
    );
    check(
        "c25_mariadb106_server_cnf_empty_groups_tabs.cnf",
        &Server::detect("10.6.12-MariaDB", ""),
        &[("innodb_buffer_pool_size", Some("256M")), ("character_set_server", Some("utf8mb4"))],
        &[],
    );
    let colon = "c26_colon_instead_of_equals.cnf";
    check(colon, &mariadb, &[("innodb_buffer_pool_size", None)], &[2]);
    check(
        "c28_xampp_double_hash_commented_lines.ini",
        &any,
        &[("innodb_buffer_pool_size", Some("2048M")), ("innodb_log_file_size", Some("5M"))],
        &[],
    );
}

#[test]
fn an_include_without_a_group() {
    let name = "c11_deb_fallback_only_includedir.cnf";
    if let Some(read) = check(name, &Server::default(), &[], &[]) {
        assert_eq!(read.settings, []);
        assert!(read.problems[0].message.contains("/etc/mysql/conf.d/"));
    }
}

#[test]
fn windows_paths_with_blanks() {
    check(
        "c16_windows_mariadb_paths_with_spaces.ini",
        &Server::default(),
        &[
            ("innodb_buffer_pool_size", Some("64M")),
            ("basedir", Some("C:/Users/User/Downloads/App Dir/App Dir/mariadb")),
        ],
        &[],
    );
}

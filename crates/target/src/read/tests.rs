//! Pasted output of every kind, and what is recognised in it.

use super::*;

fn kinds(documents: &[Document]) -> Vec<(&'static str, usize)> {
    documents.iter().map(|document| (kind(&document.content), document.moment)).collect()
}

fn kind(content: &Content) -> &'static str {
    match content {
        Content::Variables(_) => "variables",
        Content::Status(_) => "status",
        Content::PoolStats(_) => "pool stats",
        Content::Metrics(_) => "metrics",
        Content::InnodbStatus(_) => "innodb status",
        Content::OptionFile(_) => "option file",
        Content::MysqldAuto(_) => "auto",
        Content::Meminfo(_) => "meminfo",
        Content::ErrorLog(_) => "error log",
        Content::VariableOrigins(_) => "origins",
        _ => "other",
    }
}

fn listing(content: &Content) -> Vec<(String, String, u32)> {
    let (Content::Status(table) | Content::Variables(table)) = content else {
        panic!("not a listing");
    };
    table
        .rows
        .iter()
        .map(|row| {
            let cell = |at: usize| row.cells[at].clone().expect("a cell");
            (cell(0), cell(1), row.line.expect("a line"))
        })
        .collect()
}

fn row(name: &str, value: &str, line: u32) -> (String, String, u32) {
    (name.to_owned(), value.to_owned(), line)
}

const MIXED: &str = "\
$ mysql
mysql> show global variables;
+-------------------------+-----------+
| Variable_name           | Value     |
+-------------------------+-----------+
| innodb_buffer_pool_size | 536870912 |
| secret_variable         | hush      |
| version                 | 8.4.1     |
+-------------------------+-----------+
3 rows in set (0.01 sec)

mysql> show global status;
+----------------------------------+-------+
| Variable_name                    | Value |
+----------------------------------+-------+
| Innodb_buffer_pool_read_requests | 900   |
| Innodb_buffer_pool_reads         | 30    |
| Innodb_page_size                 | 16384 |
+----------------------------------+-------+
mysql> show engine innodb status\\G
*************************** 1. row ***************************
  Type: InnoDB
  Name:
Status:
=====================================
2026-03-04 05:06:07 0x7f INNODB MONITOR OUTPUT
=====================================
------------
TRANSACTIONS
------------
History list length 4
---TRANSACTION 7, ACTIVE 1 sec
insert into t values ('
[mysqld]
innodb_buffer_pool_size = 1
Innodb_buffer_pool_reads\t77
')
--------
FILE I/O
--------
----------------------
BUFFER POOL AND MEMORY
----------------------
Buffer pool size   32764
----------------------------
END OF INNODB MONITOR OUTPUT
============================

1 row in set (0.00 sec)

mysql> show global status like 'innodb_buffer_pool_reads';
Variable_name\tValue
Innodb_buffer_pool_reads\t45
$ cat /etc/my.cnf
# mine
[mysqld]
innodb_buffer_pool_size = 512M
password = hush

$ cat /proc/meminfo
MemTotal:        4000000 kB
MemFree:          100000 kB
SwapTotal:             0 kB
$ tail error.log
2026-03-04T05:06:07.000001Z 0 [Note] [MY-011946] [InnoDB] Buffer pool(s) load completed at 260304  6:06:07
2026-03-04T05:06:08.000001Z 9 [Note] Access denied for user 'hush'
";

#[test]
fn a_session_with_everything_in_it() {
    let documents = read_text(MIXED, "paste.txt");
    assert_eq!(
        kinds(&documents),
        vec![
            ("variables", 0),
            ("status", 0),
            ("innodb status", 0),
            ("status", 1),
            ("option file", 0),
            ("meminfo", 0),
            ("error log", 0),
        ]
    );
    assert_eq!(
        listing(&documents[0].content),
        vec![row("innodb_buffer_pool_size", "536870912", 6), row("version", "8.4.1", 8)]
    );
    assert_eq!(
        listing(&documents[1].content),
        vec![
            row("Innodb_buffer_pool_read_requests", "900", 16),
            row("Innodb_buffer_pool_reads", "30", 17),
            row("Innodb_page_size", "16384", 18),
        ]
    );
    assert_eq!(listing(&documents[3].content), vec![row("Innodb_buffer_pool_reads", "45", 53)]);
    let lines_of = |text: &str, needle: &str| {
        let at = text.lines().position(|line| line.contains(needle));
        at.map(|at| at + 1)
    };
    let line_in_file = |needle: &str| lines_of(MIXED, needle);
    for document in &documents {
        match &document.content {
            Content::OptionFile(text) => {
                assert_eq!(lines_of(text, "512M"), line_in_file("512M"));
            }
            Content::ErrorLog(text) => {
                let event = &error_log::parse(text, "paste.txt")[0];
                assert_eq!(Some(event.line as usize), line_in_file("load completed"));
                assert!(!text.contains("hush"));
            }
            Content::Meminfo(text) => {
                let ram = meminfo::parse(text, "m").ram_bytes.expect("RAM");
                assert_eq!(ram.source.line.map(|line| line as usize), line_in_file("MemTotal"));
                assert!(!text.contains("MemFree"));
            }
            Content::InnodbStatus(text) => assert!(!text.contains("insert")),
            _ => {}
        }
    }
}

#[test]
fn windows_line_ends_and_encodings_change_nothing() {
    let expected = read_text(MIXED, "p");
    let crlf = MIXED.replace('\n', "\r\n");
    assert_eq!(read_bytes(crlf.as_bytes(), "p"), expected);
    let wide: Vec<u8> =
        [0xff, 0xfe].into_iter().chain(crlf.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert_eq!(read_bytes(&wide, "p"), expected);
}

#[test]
fn later_blocks_of_mysqladmin_r_are_differences() {
    let block = |rows: &[(&str, &str)]| {
        let mut text = String::from("+---+---+\n| Variable_name | Value |\n+---+---+\n");
        for (name, value) in rows {
            text += &format!("| {name} | {value} |\n");
        }
        text + "+---+---+\n"
    };
    let text = [
        block(&[
            ("Innodb_buffer_pool_dump_status", "Dumping of buffer pool not started"),
            ("Innodb_buffer_pool_pages_total", "640"),
            ("Innodb_buffer_pool_pages_dirty", "9"),
            ("Innodb_buffer_pool_reads", "100"),
            ("Uptime", "5000"),
        ]),
        block(&[
            ("Innodb_buffer_pool_dump_status", "0"),
            ("Innodb_buffer_pool_pages_total", "0"),
            ("Innodb_buffer_pool_pages_dirty", "-4"),
            ("Innodb_buffer_pool_reads", "20"),
            ("Uptime", "10"),
        ]),
        block(&[
            ("Innodb_buffer_pool_pages_total", "0"),
            ("Innodb_buffer_pool_reads", "3"),
            ("Uptime", "10"),
        ]),
    ]
    .concat();
    let documents = read_text(&text, "p");
    assert_eq!(kinds(&documents), vec![("status", 0), ("status", 1), ("status", 2)]);
    let values = |at: usize| -> Vec<String> {
        listing(&documents[at].content).into_iter().map(|(_, value, _)| value).collect()
    };
    assert_eq!(values(1), ["Dumping of buffer pool not started", "640", "5", "120", "5010"]);
    assert_eq!(values(2), ["640", "123", "5020"]);
}

#[test]
fn several_short_listings_make_one_moment() {
    let text = "Variable_name\tValue\nInnodb_pages_read\t5\nVariable_name\tValue\nUptime\t6\n\
                Variable_name\tValue\nInnodb_pages_read\t7\n";
    let documents = read_text(text, "p");
    assert_eq!(kinds(&documents), vec![("status", 0), ("status", 1)]);
    assert_eq!(listing(&documents[0].content).len(), 2);
}

#[test]
fn a_markdown_table_and_a_bar_inside_a_value() {
    let text = "| Variable\\_name | Value |\n|---|:---:|\n\
                | Innodb\\_buffer\\_pool\\_load\\_status | Cannot open '/a|b_c' for reading: x |\n";
    let documents = read_text(text, "p");
    assert_eq!(
        listing(&documents[0].content),
        vec![row("Innodb_buffer_pool_load_status", "Cannot open '/a|b_c' for reading: x", 3)]
    );
}

#[test]
fn pool_statistics_in_every_layout() {
    let vertical = "mysql> select ...\n*** 1. row ***\n  POOL_ID: 1\nPOOL_SIZE: 20\n FREE_BUFFERS: 2\n\
                    *** 2. row ***\n  POOL_ID: 0\nPOOL_SIZE: 10\n FREE_BUFFERS: 1\n2 rows in set\n";
    let bare =
        "POOL_ID: 1\nPOOL_SIZE: 20\nFREE_BUFFERS: 2\nPOOL_ID: 0\nPOOL_SIZE: 10\nFREE_BUFFERS: 1\n";
    let boxed = "+--+--+--+\n| POOL_ID | POOL_SIZE | FREE_BUFFERS |\n+--+--+--+\n| 1 | 20 | 2 |\n| 0 | 10 | 1 |\n+--+--+--+\n";
    let markdown = "| POOL\\_ID | POOL\\_SIZE | FREE\\_BUFFERS |\n|--|--|--|\n| 1 | 20 | 2 |\n| 0 | 10 | 1 |\n";
    let tabs = "POOL_ID\tPOOL_SIZE\tFREE_BUFFERS\n1\t20\t2\n0\t10\t1\n";
    for text in [vertical, bare, boxed, markdown, tabs] {
        let documents = read_text(text, "p");
        assert_eq!(kinds(&documents), vec![("pool stats", 0)], "{text}");
        let Content::PoolStats(table) = &documents[0].content else {
            panic!("{text}");
        };
        let stats = pool_stats::parse(table, "p").expect("stats");
        let sizes: Vec<_> = stats.instances.iter().map(|i| i.size_pages).collect();
        assert_eq!(sizes, [Some(10), Some(20)], "{text}");
    }
    let row: Vec<String> = (0..32).map(|n| (n + 100).to_string()).collect();
    let documents = read_text(&row.join("\t"), "p");
    let Content::PoolStats(table) = &documents[0].content else {
        panic!("not recognised without heading");
    };
    let stats = pool_stats::parse(table, "p").expect("stats");
    assert_eq!(stats.instances[0].size_pages, Some(101));
    assert_eq!(stats.instances[0].page_gets, Some(120));
}

#[test]
fn other_result_sets() {
    let text = "+---+\n| @@innodb_buffer_pool_size | @@global.version | @@port |\n+---+\n| 5 | 8.4.1 | 1 |\n+---+\n\
                name\tsubsystem\tcount\ntrx_rseg_history_len\ttransaction\t12\nbuffer_x\ty\t1\n\n\
                variable_name\torigin\tpath\tset_at\tset_by\ninnodb_page_size\tfile\t/etc/my.cnf\tNULL\tNULL\nhush\tfile\tx\ty\tz\n\n\
                a\tb\n1\t2\n";
    let documents = read_text(text, "p");
    assert_eq!(kinds(&documents), vec![("variables", 0), ("metrics", 0), ("origins", 0)]);
    assert_eq!(listing(&documents[0].content).len(), 2);
    let Content::VariableOrigins(table) = &documents[2].content else {
        panic!("origins");
    };
    assert_eq!(table.rows.len(), 1);
    assert_eq!(table.rows[0].cells[3], None);
}

#[test]
fn two_scrapes_of_an_exporter_are_two_moments() {
    let scrape = "# HELP mysql_global_status_uptime x\n# TYPE mysql_global_status_uptime untyped\n\
                  mysql_global_status_uptime 5\n\
                  mysql_global_status_buffer_pool_pages{state=\"dirty\"} 2\n\
                  mysql_global_status_buffer_pool_dirty_pages 2\n\
                  mysql_global_variables_innodb_page_size 16384\n\
                  mysql_info_schema_innodb_metrics_transaction_trx_rseg_history_len 3\n\
                  go_goroutines 4\n";
    let documents = read_text(&scrape.repeat(2), "p");
    assert_eq!(
        kinds(&documents),
        vec![("status", 0), ("variables", 0), ("metrics", 0), ("status", 1), ("variables", 1)]
    );
    assert_eq!(
        listing(&documents[0].content),
        vec![row("uptime", "5", 3), row("innodb_buffer_pool_pages_dirty", "2", 4)]
    );
}

#[test]
fn persisted_variables_are_whole() {
    let text =
        "$ cat mysqld-auto.cnf\n{\"Version\": 2,\n \"mysql_static_variables\": {}}\nUptime\t5\n";
    let documents = read_text(text, "p");
    assert_eq!(kinds(&documents), vec![("auto", 0), ("status", 0)]);
}

#[test]
fn nothing_is_seen_in_other_texts() {
    for text in [
        "",
        "\u{0}",
        "hello\n",
        "[Service]\nExecStart=/usr/bin/x\n",
        "[1, 2, 3]",
        "{\"a\": 1}",
        "a\tb\nc\td\n",
        "+--+\n| x |\n+--+\n| 1 |\n+--+\n",
        "*** 1. row ***\nuser: hush\n",
        "innodb_buffer_pool_size is what we talk about",
    ] {
        assert_eq!(read_text(text, "p"), vec![], "{text:?}");
    }
    let error = read_file(b"hello", "x.txt").expect_err("nothing in it");
    assert_eq!(error.to_string(), "x.txt: nothing in it is output that innopool reads");
    for part in ["SHOW GLOBAL STATUS", "innopool collect"] {
        assert!(READABLE.contains(part), "{part}");
    }
}

#[test]
fn a_listing_repeated_without_headings_is_cut_where_it_begins_anew() {
    let mut text = String::new();
    for uptime in 0..4000 {
        text.push_str(&format!(
            "Innodb_page_size\t16384\nInnodb_pages_read\t7\nThreads_running\t1\nUptime\t{uptime}\n"
        ));
    }
    let documents = read_text(&text, "p");
    let tables: Vec<_> = documents.iter().filter(|d| kind(&d.content) == "status").collect();
    assert_eq!(tables.len(), 1000);
    assert!(tables.iter().all(|document| listing(&document.content).len() == 4));
    let last = listing(&tables[999].content);
    assert_eq!(last[3], row("Uptime", "3999", 16_000));
}

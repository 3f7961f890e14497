//! Messages of the error log, and the events that come of them.

use super::*;
use crate::log_events::LogEventKind as Kind;

fn kinds(text: &str) -> Vec<Kind> {
    let events = parse(text, "log");
    let kept = keep_events(text);
    assert_eq!(events, parse(&kept, "log"), "kept: {kept}");
    assert_eq!(kept, keep_events(&kept));
    events.into_iter().map(|event| event.kind).collect()
}

fn resize(from: u64, to: u64) -> Kind {
    Kind::ResizeStarted { from_bytes: Some(from), to_bytes: Some(to) }
}

#[test]
fn a_start_that_loads_and_a_shutdown_that_dumps() {
    let text = "\
2024-05-06T07:08:09.000001Z 0 [Note] [MY-012955] [InnoDB] Initializing buffer pool, total size = 3.000000G, instances = 3, chunk size =128.000000M \n\
2024-05-06T07:08:10.000001Z 0 [Note] [MY-011946] [InnoDB] Loading buffer pool(s) from /srv/ib_buffer_pool\n\
2024-05-06T07:08:11.000001Z 0 [Note] [MY-011946] [InnoDB] Buffer pool(s) load completed at 240506  9:08:11\n\
2024-05-06T08:00:00.000001Z 0 [Note] Shutting down plugin 'INNODB_BUFFER_POOL_STATS'\n\
2024-05-06T08:00:01.000001Z 0 [Note] [MY-011944] [InnoDB] Dumping buffer pool(s) to /srv/ib_buffer_pool\n\
2024-05-06T08:00:01.100001Z 0 [Note] [MY-011944] [InnoDB] Buffer pool(s) dump completed at 240506 10:00:01\n\
2024-05-06T08:00:02.100001Z 0 [Note] [MY-013084] [InnoDB] Shutdown completed; log sequence number 17\n";
    let file = "/srv/ib_buffer_pool".to_owned();
    assert_eq!(
        kinds(text),
        vec![
            Kind::PoolInitialised {
                size_bytes: Some(3 << 30),
                instances: Some(3),
                chunk_bytes: Some(128 << 20),
            },
            Kind::LoadStarted { file: file.clone() },
            Kind::LoadCompleted,
            Kind::DumpStarted { file },
            Kind::DumpCompleted,
            Kind::ShutdownCompleted,
        ]
    );
    let events = parse(text, "log");
    assert_eq!(events[2].line, 3);
    assert_eq!(events[2].logged_at.as_deref(), Some("2024-05-06T07:08:11.000001Z"));
}

#[test]
fn a_resize_is_one_event_however_often_it_is_announced() {
    let text = "\
[Note] [MY-012398] [InnoDB] Requested to resize buffer pool. (new size: 2147483648 bytes)\n\
[Note] [MY-013954] [InnoDB] Status code 1: Resizing buffer pool from 1073741824 to\n\
2147483648 (unit=134217728).\n\
[Note] [MY-011894] [InnoDB] Completed to resize buffer pool from 1073741824 to 2147483648.\n\
[Note] [MY-013954] [InnoDB] Status code 0: Completed resizing buffer pool at 240506  6:25:46.\n";
    assert_eq!(kinds(text), vec![resize(1 << 30, 2 << 30), Kind::ResizeCompleted]);
}

#[test]
fn a_shrink_tells_how_far_it_came() {
    let text = "\
240506  9:44:11 [Note] InnoDB: Resizing buffer pool from 300 to 200 (unit=100).\n\
240506  9:44:11 [Note] InnoDB: buffer pool 1 : withdrawing blocks. (70/90)\n\
240506  9:44:12 [Note] InnoDB: Will retry to withdraw 1 seconds later.\n\
240506  9:44:12 [Note] InnoDB: buffer pool 0 : failed to allocate new memory.\n\
240506  9:44:13 [Note] InnoDB: Resizing buffer pool failed, finished resizing at 240506  9:44:13.\n";
    assert_eq!(
        kinds(text),
        vec![
            resize(300, 200),
            Kind::ResizeRetry { withdrawn_pages: Some(70), target_pages: Some(90) },
            Kind::ResizeFailed { message: "buffer pool 0 : failed to allocate new memory.".into() },
        ]
    );
}

#[test]
fn every_way_a_load_or_dump_fails() {
    for text in [
        "Cannot open '/x/ib_buffer_pool' for reading: No such file or directory",
        "Error reading '/x/ib_buffer_pool', unable to load buffer pool (stage 1)",
        "Error parsing '/x/ib_buffer_pool', unable to load buffer pool (stage 2)",
        "Error parsing '/x/ib': bogus space,page 5,6 at line 7, unable to load buffer pool",
        "Buffer pool(s) load completed at 240506  9:44:13 (/x/ib was empty or had errors)",
    ] {
        let line = format!("2024-05-06  7:08:09 0 [ERROR] InnoDB: {text}\n");
        let message = text.to_owned();
        assert_eq!(kinds(&line), vec![Kind::LoadFailed { message }]);
    }
    for text in [
        "Cannot open '/x/ib.incomplete' for writing: Permission denied",
        "Cannot write to '/x/ib': No space left on device",
        "Cannot close '/x/ib': Input/output error",
        "Cannot delete '/x/ib': Permission denied",
        "Cannot rename '/x/ib.incomplete' to '/x/ib': Permission denied",
        "Cannot allocate 800 bytes: Cannot allocate memory",
    ] {
        let line = format!("2024-05-06  7:08:09 0 [ERROR] InnoDB: {text}\n");
        let message = text.to_owned();
        assert_eq!(kinds(&line), vec![Kind::DumpFailed { message }]);
    }
}

#[test]
fn the_page_cleaner_in_three_wordings() {
    let slow = |flushed_pages, evicted_pages| Kind::PageCleanerSlow {
        took_ms: 4255,
        flushed_pages,
        evicted_pages,
    };
    let head = "web | 2024-05-06T07:08:09Z 0 [Note] InnoDB: ";
    for (text, kind) in [
        (
            "page_cleaner: 1000ms intended loop took 4255ms. The settings might not be optimal. (flushed=0, during the time.)",
            slow(0, None),
        ),
        (
            "page_cleaner: 1000ms intended loop took 4255ms. The settings might not be optimal. (flushed=12 and evicted=3, during the time.)",
            slow(12, Some(3)),
        ),
        ("Page cleaner took 4255ms to flush 12 and evict 3 pages", slow(12, Some(3))),
    ] {
        assert_eq!(kinds(&format!("{head}{text}\n")), vec![kind]);
    }
}

#[test]
fn quotations_and_backup_tools_are_not_the_server() {
    for text in [
        "2024-05-06 7:08:09 5 [Warning] Access denied; InnoDB: Loading buffer pool(s) from /x\n",
        "select '[Note] InnoDB: Loading buffer pool(s) from /x'\n",
        "2024-05-06T07:08:09Z 0 [System] [MY-010229] [Server] Starting crash recovery...\n",
        "{\"log\":\"2024-05-06T07:08:09Z 0 [Note] [MY-012955] [InnoDB] Initializing buffer pool, total size = 1G\\n\",\"file\":\"/x/innobackup.prepare.log\"}\n",
        "2024-05-06T07:08:09Z 0 [Note] [MY-011825] [Xtrabackup] user: alice\n2024-05-06T07:08:09Z 0 [Note] [MY-012955] [InnoDB] Initializing buffer pool, total size = 1G\n",
    ] {
        assert_eq!(kinds(text), vec![], "{text}");
        assert!(!keep_events(text).contains("alice"));
    }
    let docker = "{\"log\":\"2024-05-06T07:08:09Z 0 [Note] InnoDB: Starting crash recovery.\\n\",\"stream\":\"stderr\"}";
    assert_eq!(kinds(docker), vec![Kind::CrashRecovery]);
}

#[test]
fn what_is_kept_holds_no_accounts_and_no_other_lines() {
    let text = "alice@db1 % 2024-05-06T07:08:09Z 0 [Note] InnoDB: Starting crash recovery.\n\
                2024-05-06T07:08:09Z 7 [Note] Access denied for user 'bob'@'10.0.0.9'\n\
                2024-05-06T07:08:10Z 0 [Note] InnoDB: Adjusting innodb_buffer_pool_instances from 8 to 1 since\n\
                secret_statement\n";
    let kept = keep_events(text);
    for secret in ["alice", "bob", "10.0.0.9", "secret_statement", "db1"] {
        assert!(!kept.contains(secret), "{kept}");
    }
    assert_eq!(kinds(text), vec![Kind::CrashRecovery, Kind::InstancesAdjusted { from: 8, to: 1 }]);
    assert_eq!(parse(&kept, "x")[1].line, 3);
}

//! The way from a page to its instance, against MySQL 9.7: each resident page is in the instance that
//! the fold says, for several counts of instances.

#![allow(clippy::unwrap_used, reason = "a failing test may panic anywhere")]

use std::collections::HashSet;

use innopool_policy::PageId;
use innopool_policy::page::Fold;
use innopool_policy::variant::Variant;
use innopool_testkit::{Kind, Own, page_events};

#[test]
fn every_page_is_in_the_instance_of_its_fold() {
    // The smallest pool that may have more than one.
    let own = Own::new(Kind::Mysql).option("innodb_buffer_pool_size=1G");
    let Some(mut server) = own.option("innodb_buffer_pool_instances=2").start() else { return };
    server.sql(
        "CREATE DATABASE w; CREATE TABLE w.t (id INT PRIMARY KEY, c CHAR(250), d CHAR(250)); \
         SET cte_max_recursion_depth = 60000; \
         INSERT INTO w.t WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM n \
         WHERE x < 60000) SELECT x, 'x', 'x' FROM n",
    );
    for instances in [2, 3, 8] {
        if instances != 2 {
            let option = format!("innodb_buffer_pool_instances={instances}");
            server.restart_with(&[&option]).unwrap();
        }
        server.sql("SELECT SUM(LENGTH(c)) FROM w.t");
        let rows = page_events::lru_snapshot(&server).unwrap();
        assert!(rows.len() > 2_000, "{} pages", rows.len());
        let used: HashSet<u32> = rows.iter().map(|row| row.instance).collect();
        assert_eq!(used.len(), instances, "instances that have pages");
        let elsewhere = |fold: Fold| {
            let differs = rows.iter().filter(|row| {
                let page = PageId::new(row.page.space, row.page.page_no);
                fold.instance_of(page, instances) != row.instance as usize
            });
            differs.count()
        };
        assert_eq!(elsewhere(Variant::Mysql84.rules().fold), 0, "of {} pages", rows.len());
        assert!(elsewhere(Fold::Wide) > 0, "the fold of 5.7 differs");
    }
}

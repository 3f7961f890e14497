//! The page `mysqld_exporter` serves, back into the names the server itself uses.
//!
//! The exporter renames and splits some values: page states become labels of one metric, the total
//! is dropped, dirty pages were a state in old versions and a metric of their own in newer ones, and
//! numbers are printed as floats. Lines are read one at a time; only allow-listed names are kept.

use super::tables::{ListingKind, Pair};
use crate::allow;
use crate::table::parse_count;

/// What one line of the page says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    /// Names of the server with their values; empty for metrics innopool does not read.
    pub(crate) pairs: Vec<Pair>,
    /// A counter of `INNODB_METRICS` with its count.
    pub(crate) metric: Option<(String, String)>,
    /// Seconds since 1970, where the line says so.
    pub(crate) taken_unix_seconds: Option<f64>,
}

/// Reads one line; `None` when it is not a sample of a MySQL metric.
pub(crate) fn sample(raw: &str, line: usize) -> Option<Sample> {
    let raw = raw.trim();
    let name_end = raw.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
    let (name, rest) = raw.split_at_checked(name_end)?;
    let name = name.strip_prefix("mysql_")?;
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (Vec::new(), rest),
    };
    let mut words = rest.split_whitespace();
    let value = words.next()?;
    let number: f64 = value.parse().ok()?;
    let taken_unix_seconds = words
        .next()
        .and_then(|word| word.parse::<i64>().ok())
        .map(|milliseconds| milliseconds as f64 / 1000.0);
    let whole = parse_count(value).filter(|_| number.fract() == 0.0);
    let value = whole.map_or_else(|| value.to_owned(), |count| count.to_string());
    let pairs = if number.is_finite() { pairs(name, &labels, &value, line) } else { Vec::new() };
    let metric = metric(name).map(|name| (name, value));
    Some(Sample { pairs, metric, taken_unix_seconds })
}

/// True for a comment of the page that names a MySQL metric.
pub(crate) fn is_comment(raw: &str) -> bool {
    raw.starts_with("# HELP mysql_") || raw.starts_with("# TYPE mysql_")
}

type Labels = Vec<(String, String)>;

/// The labels up to the closing brace, and what follows it.
fn labels(text: &str) -> Option<(Labels, &str)> {
    let mut found = Vec::new();
    let mut rest = text.trim_start_matches([',', ' ']);
    loop {
        if let Some(behind) = rest.strip_prefix('}') {
            return Some((found, behind));
        }
        let (name, behind) = rest.split_once("=\"")?;
        let (value, behind) = quoted(behind)?;
        found.push((name.trim().to_owned(), value));
        rest = behind.trim_start_matches([',', ' ']);
        if found.len() > 64 {
            return None;
        }
    }
}

/// A label's value up to its closing quote, escapes resolved, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, text.get(at + 1..)?)),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            c => value.push(c),
        }
    }
    None
}

/// The server's names for a metric.
fn pairs(name: &str, labels: &Labels, value: &str, line: usize) -> Vec<Pair> {
    let label =
        |key: &str| labels.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
    let pair = |kind: ListingKind, server_name: &str, value: &str| {
        let mut pair = Pair::new(server_name, value, line, Some(kind))?;
        // Two metrics may stand for one name; a repeated metric begins a new scrape.
        pair.key = format!("{name} {server_name}");
        (pair.kind == kind).then_some(pair)
    };
    if name == "version_info" {
        return ["version", "version_comment"]
            .iter()
            .filter_map(|key| pair(ListingKind::Variables, key, label(key)?))
            .collect();
    }
    if let Some(variable) = name.strip_prefix("global_variables_") {
        return pair(ListingKind::Variables, variable, value).into_iter().collect();
    }
    let Some(status) = name.strip_prefix("global_status_") else {
        return Vec::new();
    };
    let server_name = match status {
        "buffer_pool_pages" => label("state").map(|s| format!("innodb_buffer_pool_pages_{s}")),
        "buffer_pool_dirty_pages" => Some("innodb_buffer_pool_pages_dirty".to_owned()),
        "buffer_pool_page_changes_total" => {
            label("operation").map(|o| format!("innodb_buffer_pool_pages_{o}"))
        }
        "innodb_row_ops_total" => label("operation").map(|o| format!("innodb_rows_{o}")),
        "commands_total" => label("command").map(|c| format!("com_{c}")),
        "handlers_total" => label("handler").map(|h| format!("handler_{h}")),
        other => Some(other.to_owned()),
    };
    server_name
        .and_then(|server_name| pair(ListingKind::Status, &server_name, value))
        .into_iter()
        .collect()
}

/// `info_schema_innodb_metrics_<subsystem>_<name>`, counters with `_total` behind.
fn metric(name: &str) -> Option<String> {
    let rest = name.strip_prefix("info_schema_innodb_metrics_")?;
    let rest = rest.strip_suffix("_total").unwrap_or(rest);
    allow::METRICS
        .iter()
        .find(|metric| rest.strip_suffix(*metric).is_some_and(|subsystem| subsystem.ends_with('_')))
        .map(|metric| (*metric).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(raw: &str) -> Vec<(String, String)> {
        sample(raw, 0)
            .map(|sample| sample.pairs)
            .unwrap_or_default()
            .into_iter()
            .map(|pair| (pair.name, pair.value))
            .collect()
    }

    #[test]
    fn metrics_get_their_server_names_back() {
        for (raw, name, value) in [
            (
                r#"mysql_global_status_buffer_pool_pages{state="free"} 1024"#,
                "innodb_buffer_pool_pages_free",
                "1024",
            ),
            (
                "mysql_global_status_buffer_pool_dirty_pages 7",
                "innodb_buffer_pool_pages_dirty",
                "7",
            ),
            (
                r#"mysql_global_status_buffer_pool_page_changes_total{operation="made_young"} 2.5e+06"#,
                "innodb_buffer_pool_pages_made_young",
                "2500000",
            ),
            (
                r#"mysql_global_status_innodb_row_ops_total{operation="inserted"} 3"#,
                "innodb_rows_inserted",
                "3",
            ),
            (
                r#"mysql_global_status_commands_total{command="select",host="a}b\" c"} 4 1700000000500"#,
                "com_select",
                "4",
            ),
            (r#"mysql_global_status_handlers_total{handler="commit"} 5"#, "handler_commit", "5"),
            (
                "mysql_global_status_innodb_buffer_pool_read_requests 1.2345e+09",
                "innodb_buffer_pool_read_requests",
                "1234500000",
            ),
            (
                "mysql_global_variables_innodb_buffer_pool_size 1.34217728e+08",
                "innodb_buffer_pool_size",
                "134217728",
            ),
            (
                "mysql_global_variables_innodb_max_dirty_pages_pct 90.5",
                "innodb_max_dirty_pages_pct",
                "90.5",
            ),
        ] {
            assert_eq!(named(raw), vec![(name.to_owned(), value.to_owned())], "{raw}");
        }
        let with_time = r#"mysql_global_status_uptime{x="1"} 4 1700000000500"#;
        let taken = sample(with_time, 0).and_then(|sample| sample.taken_unix_seconds);
        assert_eq!(taken, Some(1_700_000_000.5));
    }

    #[test]
    fn the_version_stands_in_labels() {
        let raw = r#"mysql_version_info{innodb_version="8.4.1",version="8.4.1-lts",version_comment="MySQL \"LTS\""} 1"#;
        assert_eq!(
            named(raw),
            vec![
                ("version".to_owned(), "8.4.1-lts".to_owned()),
                ("version_comment".to_owned(), "MySQL \"LTS\"".to_owned()),
            ]
        );
    }

    #[test]
    fn other_metrics_and_broken_lines_give_nothing() {
        for raw in [
            "mysql_global_status_aborted_clients 5",
            "go_goroutines 5",
            r#"mysql_global_status_buffer_pool_pages{state="free 1024"#,
            r#"mysql_global_status_buffer_pool_pages{state="secret"} 1"#,
            "mysql_global_status_uptime NaN",
            "mysql_global_status_uptime",
        ] {
            assert_eq!(named(raw), vec![], "{raw}");
        }
    }

    #[test]
    fn innodb_metrics_lose_their_subsystem() {
        let raw = "mysql_info_schema_innodb_metrics_transaction_trx_rseg_history_len 12";
        let metric = sample(raw, 0).and_then(|sample| sample.metric);
        assert_eq!(metric, Some(("trx_rseg_history_len".to_owned(), "12".to_owned())));
    }
}

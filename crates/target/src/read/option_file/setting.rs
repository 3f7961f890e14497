//! What an option means to a server: the variable its name stands for, and whether the server takes
//! the value.

use super::walk::Entry;
use crate::allow;
use crate::option_file::{Problem, Setting, parse_size};
use crate::variables::normalise_name;
use crate::version::{Flavor, Server, Version};

/// Variables that hold a whole number, so that a server refuses to start on anything else.
const NUMBERS: &[&str] = &[
    "innodb_buffer_pool_chunk_size",
    "innodb_buffer_pool_dump_pct",
    "innodb_buffer_pool_instances",
    "innodb_buffer_pool_size",
    "innodb_buffer_pool_size_auto_min",
    "innodb_buffer_pool_size_max",
    "innodb_flush_log_at_timeout",
    "innodb_flush_log_at_trx_commit",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_log_buffer_size",
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_lru_flush_size",
    "innodb_lru_scan_depth",
    "innodb_old_blocks_pct",
    "innodb_old_blocks_time",
    "innodb_page_cleaners",
    "innodb_page_size",
    "innodb_read_ahead_threshold",
    "innodb_read_io_threads",
    "innodb_redo_log_capacity",
    "innodb_write_io_threads",
    "join_buffer_size",
    "max_connections",
    "read_buffer_size",
    "read_rnd_buffer_size",
    "sort_buffer_size",
    "sync_binlog",
    "thread_stack",
    "tmp_table_size",
];

/// The first MySQL that takes the suffixes T, P and E.
const LARGE_SUFFIXES_SINCE: Version = Version::new(8, 0, 14);

/// The first MySQL and MariaDB without `set-variable`.
const NO_SET_VARIABLE_SINCE: (u16, u16, u16) = (5, 5, 0);

/// Reads one option as a server would, and tells what the server makes of it otherwise than it
/// looks.
pub(super) fn interpret(entry: &Entry, server: &Server) -> (Setting, Vec<Problem>) {
    let mut notes = Notes { entry, problems: Vec::new() };
    let mut written = normalise_name(&entry.name);
    let mut value = entry.value.clone();
    let loose = match written.strip_prefix("loose_") {
        Some(rest) => {
            written = rest.to_owned();
            true
        }
        None => false,
    };
    if written == "set_variable" {
        (written, value) = set_variable(written, value, server, &mut notes);
    }
    let (name, value) = without_switch_prefix(&written, value);
    check_name(server, loose, &mut notes);
    if NUMBERS.contains(&name.as_str()) {
        check_number(&name, value.as_deref(), server, &mut notes);
    }
    let setting = Setting {
        name,
        value,
        group: entry.group.clone(),
        path: entry.path.clone(),
        line: entry.line,
        loose,
    };
    (setting, notes.problems)
}

/// Collects what is to be said of one option.
struct Notes<'e> {
    entry: &'e Entry,
    problems: Vec<Problem>,
}

impl Notes<'_> {
    fn add(&mut self, message: String, fatal: bool) {
        self.problems.push(Problem {
            path: self.entry.path.clone(),
            line: self.entry.line,
            message,
            fatal,
        });
    }
}

/// `skip_x` and `disable_x` are `x = 0`, `enable_x` is `x = 1`, and each turned round by `= 0`.
/// Only where `x` is a variable we know: many names begin with `skip_` by themselves.
fn without_switch_prefix(written: &str, value: Option<String>) -> (String, Option<String>) {
    let as_is = (written.to_owned(), value.clone());
    let (rest, on) = match written.split_once('_') {
        Some(("skip" | "disable", rest)) => (rest, false),
        Some(("enable", rest)) => (rest, true),
        _ => return as_is,
    };
    if allow::is_variable(written) || !allow::is_variable(rest) {
        return as_is;
    }
    let on = on != (value.as_deref() == Some("0"));
    let value = if on { "1" } else { "0" };
    (rest.to_owned(), Some(value.to_owned()))
}

/// `set-variable = name=value` was another way to write `name = value` before 5.5.
fn set_variable(
    written: String,
    value: Option<String>,
    server: &Server,
    notes: &mut Notes<'_>,
) -> (String, Option<String>) {
    let (major, minor, patch) = NO_SET_VARIABLE_SINCE;
    match value.as_deref().and_then(|text| text.split_once('=')) {
        Some((name, inner)) if server.below(major, minor, patch) => {
            (normalise_name(name), Some(inner.trim().to_owned()))
        }
        _ => {
            let message = "set-variable went away with 5.5, and a server that does not know an \
                           option does not start; write the variable's own name = value";
            notes.add(message.to_owned(), true);
            (written, value)
        }
    }
}

/// A server knows no name with blanks, a colon or leading dashes in it, and does not start on a name
/// it does not know. Messages repeat only what cannot be a value.
fn check_name(server: &Server, loose: bool, notes: &mut Notes<'_>) {
    let written = notes.entry.name.as_str();
    let word_end = written.find(|c: char| c == ':' || c.is_whitespace()).unwrap_or(written.len());
    let (word, rest) = written.split_at(word_end);
    if word.is_empty() {
        notes.add("there is no name before the '='".to_owned(), true);
    } else if word.starts_with("--") {
        let message = "option files take names without the leading '--'; remove it";
        notes.add(message.to_owned(), !loose);
    } else if !rest.is_empty() {
        let message = format!(
            "'{word}' is not set: a value follows '=', not '{}'; write {word} = value",
            if rest.trim_start().starts_with(':') { ":" } else { " " }
        );
        notes.add(message, !loose);
    } else if word.bytes().any(|byte| byte.is_ascii_uppercase())
        && server.flavor != Flavor::Mariadb
        && allow::is_variable(word.trim_start_matches("loose_"))
    {
        let message = format!(
            "MySQL knows option names in lower case only; write {}",
            word.to_ascii_lowercase()
        );
        notes.add(message, server.flavor.is_mysql_like() && !loose);
    }
}

fn check_number(name: &str, value: Option<&str>, server: &Server, notes: &mut Notes<'_>) {
    let mariadb = server.flavor == Flavor::Mariadb;
    let Some(value) = value else {
        notes.add(format!("{name} needs a value"), true);
        return;
    };
    // Other blanks, such as a no-break space, are part of the value to a server.
    let value = value.trim_ascii();
    if value.is_empty() {
        let message = if mariadb {
            format!("{name} has no value; the server takes the smallest it allows")
        } else {
            format!("{name} has no value; write one or remove the line")
        };
        notes.add(message, !mariadb);
    } else if value.starts_with('-') && parse_size(&value[1..]).is_ok() {
        let message = if mariadb {
            format!("{name} cannot be negative")
        } else {
            format!("{name} cannot be negative; the server takes the smallest value it allows")
        };
        notes.add(message, mariadb);
    } else if let Err(reason) = parse_size(value) {
        notes.add(format!("{name}: {reason}; {}", remedy(name, value)), true);
    } else {
        check_suffix(name, value, server, notes);
    }
}

/// Looks at what stands behind the digits of a number the server accepts.
fn check_suffix(name: &str, value: &str, server: &Server, notes: &mut Notes<'_>) {
    let unsigned = value.trim_start_matches('+');
    let suffix = unsigned.trim_start_matches(|c: char| c.is_ascii_digit());
    let large = suffix.starts_with(['t', 'T', 'p', 'P', 'e', 'E']);
    let before_large = server.version.is_some_and(|v| v < LARGE_SUFFIXES_SINCE);
    if large && server.flavor.is_mysql_like() && before_large {
        let message = format!(
            "{name}: MySQL before {LARGE_SUFFIXES_SINCE} knows only the suffixes K, M and G"
        );
        notes.add(message, true);
        return;
    }
    let mut letters = suffix.chars();
    let (unit, rest) = (letters.next(), letters.as_str());
    if let Some(unit) = unit
        && !(rest.is_empty() || rest.eq_ignore_ascii_case("b") || rest.eq_ignore_ascii_case("ib"))
    {
        let digits = unsigned.trim_end_matches(suffix);
        let message = format!("{name}: the server reads '{value}' as {digits}{unit}");
        notes.add(message, false);
    }
}

/// What to write instead of a number the server refuses.
fn remedy(name: &str, value: &str) -> String {
    if let Some(megabytes) = whole_megabytes(value) {
        return format!("write {megabytes}M");
    }
    let joined: String = value.split_whitespace().collect();
    if joined != value && parse_size(&joined).is_ok() {
        return format!("write {joined}");
    }
    if name == "innodb_flush_log_at_trx_commit" {
        return "write 0, 1 or 2".to_owned();
    }
    "write a whole number, with K, M or G behind it if need be".to_owned()
}

/// `1.5G` is 1536 megabytes.
fn whole_megabytes(value: &str) -> Option<u64> {
    let (number, suffix) = value.split_at(value.find(|c: char| c.is_ascii_alphabetic())?);
    let (whole, fraction) = number.trim().split_once(['.', ','])?;
    let megabytes_per_unit = match suffix.chars().next()? {
        'm' | 'M' => 1,
        'g' | 'G' => 1024,
        't' | 'T' => 1024 * 1024,
        _ => return None,
    };
    let tenths = 10_u64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let whole = whole.parse::<u64>().ok()?.checked_mul(megabytes_per_unit)?;
    let part = fraction.parse::<u64>().ok()?.checked_mul(megabytes_per_unit)?;
    whole.checked_add(part / tenths)
}

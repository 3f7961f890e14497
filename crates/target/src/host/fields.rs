//! [`Host`] as a table of names, values and sources, and back: the form in which the machine's
//! figures travel with the other documents of a moment.

use std::sync::Arc;

use super::Host;
use crate::option_file::parse_size;
use crate::provenance::{Fact, Source};
use crate::table::{Table, parse_count};
use crate::variables::parse_flag;

/// Place of a person's own word on the machine's memory, which is believed before the kernel's.
pub const HOST_MEMORY_OPTION: &str = "--host-memory";

/// How a value is written in a table cell and read from one.
trait Cell: Sized {
    fn to_text(&self) -> String;
    fn from_text(text: &str) -> Option<Self>;
}

impl Cell for u64 {
    fn to_text(&self) -> String {
        self.to_string()
    }

    /// Also `32G`: what a person types for `--host-memory`.
    fn from_text(text: &str) -> Option<Self> {
        parse_count(text).or_else(|| parse_size(text).ok())
    }
}

impl Cell for bool {
    fn to_text(&self) -> String {
        u8::from(*self).to_string()
    }

    fn from_text(text: &str) -> Option<Self> {
        parse_flag(text)
    }
}

impl Cell for String {
    fn to_text(&self) -> String {
        self.clone()
    }

    fn from_text(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }
}

/// Calls `$visit!` with all fields: those that describe the machine or tell its state, then those
/// that only count up and mean nothing but in comparison with another moment.
macro_rules! with_fields {
    ($visit:ident) => {
        $visit! {
            described {
                pid, ram_bytes, available_bytes, swap_total_bytes, swap_free_bytes,
                memory_page_bytes, server_rss_bytes, server_rss_peak_bytes, server_swapped_bytes,
                other_processes_rss_bytes, cgroup_limit_bytes, cgroup_usage_bytes, cgroup_version,
                cpus, numa_nodes, numa_node_bytes, huge_pages_bytes, transparent_huge_pages,
                data_device, data_device_rotational, dump_file, dump_file_pages,
            }
            counted {
                swapped_in_pages, swapped_out_pages, memory_stall_microseconds, iowait_ticks,
                cpu_ticks, data_device_reads, data_device_read_milliseconds, data_device_writes,
            }
        }
    };
}

macro_rules! define_conversions {
    (described { $($described:ident,)* } counted { $($counted:ident,)* }) => {
        /// The known figures as a table with the columns `name`, `value` and `source`.
        pub fn to_table(host: &Host) -> Table {
            // Taken apart in full, so that a new field cannot be forgotten here.
            let Host { $($described,)* $($counted,)* } = host;
            let mut table = Table::new(["name", "value", "source"]);
            $(push(&mut table, stringify!($described), $described.as_ref());)*
            $(push(&mut table, stringify!($counted), $counted.as_ref());)*
            table
        }

        /// Sets the field `name`; what it had before is replaced.
        ///
        /// # Errors
        /// When there is no such field, or `text` is not a value of its kind.
        pub(crate) fn set(
            host: &mut Host,
            name: &str,
            text: &str,
            source: Source,
        ) -> Result<(), String> {
            match name {
                $(stringify!($described) => assign(&mut host.$described, text, source),)*
                $(stringify!($counted) => assign(&mut host.$counted, text, source),)*
                _ => Err("there is no figure of this name".to_owned()),
            }
        }

        /// Fills what `later` does not know from `earlier`, except counters: those of an earlier
        /// moment would look as if nothing had happened since. A person's word stays in force.
        pub(crate) fn inherit(later: &mut Host, earlier: &Host) {
            $(if takes_over(later.$described.as_ref(), earlier.$described.as_ref()) {
                later.$described.clone_from(&earlier.$described);
            })*
        }
    };
}

with_fields!(define_conversions);

fn takes_over<T>(later: Option<&Fact<T>>, earlier: Option<&Fact<T>>) -> bool {
    let by_person = |fact: &Fact<T>| &*fact.source.place == HOST_MEMORY_OPTION;
    match later {
        None => true,
        Some(later) => earlier.is_some_and(by_person) && !by_person(later),
    }
}

fn push<T: Cell>(table: &mut Table, name: &str, fact: Option<&Fact<T>>) {
    if let Some(fact) = fact {
        table.push([
            Some(name.to_owned()),
            Some(fact.value.to_text()),
            Some(fact.source.to_string()),
        ]);
    }
}

fn assign<T: Cell>(field: &mut Option<Fact<T>>, text: &str, source: Source) -> Result<(), String> {
    let value = T::from_text(text).ok_or_else(|| format!("'{text}' is not a value of it"))?;
    *field = Some(Fact::new(value, source));
    Ok(())
}

/// The source written as `place: name`; without one, the document's place and the field.
pub(crate) fn parse_source(text: Option<&str>, place: &Arc<str>, field: &str) -> Source {
    match text {
        None | Some("") => Source::new(Arc::clone(place), field),
        Some(text) => match text.rsplit_once(": ") {
            Some((place, name)) => Source::new(place, name),
            None => Source::new(text, ""),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_survives_its_table() {
        let count = |value| Some(Fact::new(value, Source::new("/proc/meminfo", "MemTotal")));
        let host = Host {
            ram_bytes: count(34_359_738_368),
            iowait_ticks: count(17),
            data_device: Some(Fact::new("nvme0n1".into(), Source::new("/sys/dev/block", ""))),
            data_device_rotational: Some(Fact::new(false, Source::new("/sys/block", "rotational"))),
            ..Host::default()
        };
        let table = to_table(&host);
        let mut back = Host::default();
        for row in &table.rows {
            let name = table.cell(row, "name").unwrap();
            let source = parse_source(table.cell(row, "source"), &"elsewhere".into(), name);
            set(&mut back, name, table.cell(row, "value").unwrap(), source).unwrap();
        }
        assert_eq!(back, host);
        assert_eq!(table.rows.len(), 4);
    }

    #[test]
    fn counters_are_not_inherited_but_figures_are() {
        let fact = |value| Some(Fact::new(value, Source::new("/proc", "x")));
        let earlier = Host {
            ram_bytes: fact(1),
            cpus: fact(2),
            swapped_in_pages: fact(3),
            ..Host::default()
        };
        let mut later = Host { cpus: fact(4), ..Host::default() };
        inherit(&mut later, &earlier);
        assert_eq!(later.ram_bytes, fact(1));
        assert_eq!(later.cpus, fact(4));
        assert_eq!(later.swapped_in_pages, None);
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        let source = Source::new("x", "y");
        let mut host = Host::default();
        assert!(set(&mut host, "ram", "1", source.clone()).is_err());
        assert!(set(&mut host, "ram_bytes", "-1", source.clone()).is_err());
        assert!(set(&mut host, "ram_bytes", "32G", source).is_ok());
        assert_eq!(host.ram_bytes.unwrap().value, 32 << 30);
    }
}

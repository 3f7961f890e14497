//! The probes: which functions of the server, and what to read from their arguments.
//!
//! Functions are named by their mangled names in full. These hold the types of the parameters, so a
//! build whose parameters are others lacks the name and is refused. Where the fields of a
//! descriptor are is in no name; [`Recording::check`](super::Recording::check) finds out.
//!
//! The first six arguments of a function are in `di`, `si`, `dx`, `cx`, `r8` and `r9` (x86-64).

/// What a line of the trace is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum What {
    Get,
    GetZip,
    TryGet,
    OptimisticGet,
    KnownGet,
    Read,
    Create,
    LinearCheck,
    RandomCheck,
    Add,
    Young,
    Old,
    /// A page is about to be unlinked from the list, to be moved or to leave.
    Unlink,
    Candidate,
    /// No page's event: the share of the old part is set.
    OldRatio,
}

/// One probed function.
pub(crate) struct Probe {
    /// The name of the event; that of the return has an `r` at its end.
    pub(crate) name: &'static str,
    pub(crate) what: What,
    /// The mangled name of the function.
    pub(crate) function: &'static str,
    /// What is read at the entry: the space and the page number first, if it is about a page.
    pub(crate) fetch: &'static str,
    /// What is read at the return, if anything.
    pub(crate) fetch_return: Option<&'static str>,
}

/// The offsets are those of `page_id_t` (space 0, page number 4), which `buf_page_t` starts with;
/// of `buf_page_t` (instance 0x17, `freed_page_clock` 0x70, `access_time` 0x78, `old` 0x82); and of
/// `buf_pool_t` (`freed_page_clock` 0x23d0, length of the LRU list 0x2480, `LRU_old_len` 0x2490) in
/// MySQL 9.7.
pub(crate) const PROBES: &[Probe] = &[
    Probe {
        name: "get",
        what: What::Get,
        function: "_Z16buf_page_get_genRK9page_id_tRK11page_size_tmP11buf_block_t10Page_fetch\
                   N2ut8LocationEP5mtr_tb",
        fetch: "s=+0(%di):u32 p=+4(%di):u32 m=%r8:u32",
        fetch_return: None,
    },
    Probe {
        name: "zip",
        what: What::GetZip,
        function: "_Z16buf_page_get_zipRK9page_id_tRK11page_size_t",
        fetch: "s=+0(%di):u32 p=+4(%di):u32",
        fetch_return: None,
    },
    Probe {
        name: "try",
        what: What::TryGet,
        function: "_Z16buf_page_try_getRK9page_id_tN2ut8LocationEP5mtr_t",
        fetch: "s=+0(%di):u32 p=+4(%di):u32",
        fetch_return: Some("v=$retval:u64"),
    },
    Probe {
        name: "opt",
        what: What::OptimisticGet,
        function: "_Z23buf_page_optimistic_getmP11buf_block_tm10Page_fetchPKcmP5mtr_t",
        fetch: "s=+0(%si):u32 p=+4(%si):u32 m=%cx:u32",
        fetch_return: Some("v=$retval:u8"),
    },
    Probe {
        name: "known",
        what: What::KnownGet,
        function: "_Z25buf_page_get_known_nowaitmP11buf_block_t10Cache_hintPKcmP5mtr_t",
        fetch: "s=+0(%si):u32 p=+4(%si):u32 h=%dx:u32",
        fetch_return: Some("v=$retval:u8"),
    },
    Probe {
        name: "read",
        what: What::Read,
        function: "_Z17buf_read_page_lowP7dberr_tbmmRK9page_id_tRK11page_size_tb",
        fetch: "s=+0(%r8):u32 p=+4(%r8):u32 y=%si:u8",
        fetch_return: Some("v=$retval:u64"),
    },
    Probe {
        name: "create",
        what: What::Create,
        function: "_Z15buf_page_createRK9page_id_tRK11page_size_t14rw_lock_type_tP5mtr_t",
        fetch: "s=+0(%di):u32 p=+4(%di):u32",
        fetch_return: None,
    },
    Probe {
        name: "linear",
        what: What::LinearCheck,
        function: "_Z21buf_read_ahead_linearRK9page_id_tRK11page_size_tb",
        fetch: "s=+0(%di):u32 p=+4(%di):u32",
        fetch_return: None,
    },
    Probe {
        name: "random",
        what: What::RandomCheck,
        function: "_Z21buf_read_ahead_randomRK9page_id_tRK11page_size_tb",
        fetch: "s=+0(%di):u32 p=+4(%di):u32",
        fetch_return: None,
    },
    Probe {
        name: "add",
        what: What::Add,
        function: "_Z17buf_LRU_add_blockP10buf_page_tb",
        fetch: "s=+0(%di):u32 p=+4(%di):u32 o=%si:u8 i=+0x17(%di):u8",
        fetch_return: None,
    },
    Probe {
        name: "young",
        what: What::Young,
        function: "_Z24buf_LRU_make_block_youngP10buf_page_t",
        fetch: "s=+0(%di):u32 p=+4(%di):u32",
        fetch_return: None,
    },
    Probe {
        name: "old",
        what: What::Old,
        function: "_Z22buf_LRU_make_block_oldP10buf_page_t",
        fetch: "s=+0(%di):u32 p=+4(%di):u32",
        fetch_return: None,
    },
    Probe {
        name: "unlink",
        what: What::Unlink,
        function: "_Z17buf_LRU_adjust_hpP10buf_pool_tPK10buf_page_t",
        fetch: "s=+0(%si):u32 p=+4(%si):u32 i=+0x17(%si):u8 o=+0x82(%si):u8 c=+0x70(%si):u32 \
                a=+0x78(%si):u64 n=+0x2480(%di):u64 on=+0x2490(%di):u64 pc=+0x23d0(%di):u64",
        fetch_return: None,
    },
    Probe {
        name: "ready",
        what: What::Candidate,
        function: "_Z27buf_flush_ready_for_replacePK10buf_page_t",
        fetch: "s=+0(%di):u32 p=+4(%di):u32",
        fetch_return: Some("v=$retval:u8"),
    },
    Probe {
        name: "pct",
        what: What::OldRatio,
        function: "_Z24buf_LRU_old_ratio_updatejb",
        fetch: "v=%di:u32",
        fetch_return: None,
    },
];

/// The most values that a line has.
pub(crate) const VALUES_MAX: usize = 9;

/// Returns the probe of an event's name, and whether it is the event of its return.
pub(crate) fn by_event(event: &str) -> Option<(&'static Probe, bool)> {
    let entry = PROBES.iter().find(|probe| probe.name == event).map(|probe| (probe, false));
    entry.or_else(|| {
        let name = event.strip_suffix('r')?;
        let is_it = |probe: &&Probe| probe.name == name && probe.fetch_return.is_some();
        PROBES.iter().find(is_it).map(|probe| (probe, true))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_has_one_name_and_no_more_values_than_there_is_room_for() {
        for probe in PROBES {
            let is_of_a_page = probe.fetch.starts_with("s=");
            assert_eq!(is_of_a_page, probe.what != What::OldRatio, "{}", probe.name);
            assert!(probe.fetch.split_whitespace().count() <= VALUES_MAX, "{}", probe.name);
            let (found, is_return) = by_event(probe.name).unwrap();
            assert_eq!((found.what, is_return), (probe.what, false));
            let of_return = by_event(&format!("{}r", probe.name));
            let found = of_return.map(|(found, is_return)| (found.what, is_return));
            assert_eq!(found, probe.fetch_return.map(|_| (probe.what, true)));
        }
        assert!(by_event("nothing").is_none());
    }
}

//! Making events of hits: entries find their returns, and unlinkings their reason.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Context, Result, bail};

use super::event::{
    FetchMode, Kind, ListState, OldBlocksPct, PageEvent, PageId, PageState, Recording,
};
use super::probes::What;
use super::trace_text::Hit;

/// `Cache_hint::MAKE_YOUNG`.
const HINT_MAKE_YOUNG: u64 = 0x33;

/// Puts the hits of one recording together.
///
/// An event stands where its function was entered, except that a move stands where the page was
/// unlinked.
///
/// # Errors
///
/// When hits do not fit together, and none was lost that could explain it.
pub(crate) fn recording(
    mut hits: Vec<Hit>,
    lost: u64,
    threads: BTreeMap<u32, String>,
) -> Result<Recording> {
    // The kernel merges the buffers of its processors while they are being filled.
    hits.sort_by_key(|hit| hit.time_us);
    let mut assembly = Assembly::default();
    for hit in &hits {
        assembly.take(hit)?;
    }
    let old_blocks_pct = std::mem::take(&mut assembly.old_blocks_pct);
    let recording = Recording { events: assembly.finish(), old_blocks_pct, lost, threads };
    if lost == 0 {
        recording.check()?;
    }
    Ok(recording)
}

#[derive(Default)]
struct Assembly {
    /// The events; `None` takes the place of one whose function has not returned yet.
    events: Vec<Option<PageEvent>>,
    old_blocks_pct: Vec<OldBlocksPct>,
    /// The entries that wait for their return, by thread and function; the innermost is the last.
    /// (A read that completes may merge buffered changes, and read another page for that.)
    open: HashMap<(u32, What), Vec<(usize, Hit)>>,
    /// What a thread has begun to move within the list.
    moving: HashMap<u32, (What, PageId)>,
}

impl Assembly {
    fn take(&mut self, hit: &Hit) -> Result<()> {
        let what = hit.probe.what;
        if hit.is_return {
            // A return without an entry was entered before the recording.
            let open = self.open.entry((hit.thread, what)).or_default();
            if let Some((index, entry)) = open.pop() {
                self.events[index] = Some(event(&entry, returned(&entry, hit.values[0])?)?);
            }
            return Ok(());
        }
        if hit.probe.fetch_return.is_some() {
            let open = self.open.entry((hit.thread, what)).or_default();
            open.push((self.events.len(), *hit));
            self.events.push(None);
            return Ok(());
        }
        let kind = match what {
            What::Young | What::Old => {
                self.moving.insert(hit.thread, (what, page_id(hit)?));
                return Ok(());
            }
            What::OldRatio => {
                let percent = narrow(hit.values[0])?;
                self.old_blocks_pct.push(OldBlocksPct { time_us: hit.time_us, percent });
                return Ok(());
            }
            What::Unlink => self.unlinked(hit)?,
            _ => entered(hit)?,
        };
        self.events.push(Some(event(hit, kind)?));
        Ok(())
    }

    fn unlinked(&mut self, hit: &Hit) -> Result<Kind> {
        let [_, _, instance, old, page_clock, access_time_ns, pages, old_pages, clock] = hit.values;
        let page = PageState {
            is_old: old != 0,
            // The upper bit of the word is something else.
            freed_page_clock: narrow(page_clock & 0x7fff_ffff)?,
            access_time_ns,
        };
        let instance = u8::try_from(instance).context("an instance beyond 255")?;
        let list = ListState { instance, pages, old_pages, freed_page_clock: clock };
        Ok(match self.moving.remove(&hit.thread) {
            Some((What::Young, id)) if id == page_id(hit)? => Kind::MakeYoung { page, list },
            Some((What::Old, id)) if id == page_id(hit)? => Kind::MakeOld { page, list },
            Some((_, id)) => {
                bail!("page {id} began to move, and {} was unlinked", page_id(hit)?)
            }
            None => Kind::Remove { page, list },
        })
    }

    /// Returns the events, without those whose function did not return.
    fn finish(self) -> Vec<PageEvent> {
        self.events.into_iter().flatten().collect()
    }
}

fn event(hit: &Hit, kind: Kind) -> Result<PageEvent> {
    Ok(PageEvent { time_us: hit.time_us, thread: hit.thread, kind, page: page_id(hit)? })
}

fn page_id(hit: &Hit) -> Result<PageId> {
    Ok(PageId { space: narrow(hit.values[0])?, page_no: narrow(hit.values[1])? })
}

fn narrow(value: u64) -> Result<u32> {
    u32::try_from(value).with_context(|| format!("{value} in a field of 32 bits"))
}

/// Returns what an entry is that has no return.
fn entered(hit: &Hit) -> Result<Kind> {
    Ok(match hit.probe.what {
        What::Get => Kind::Get { mode: FetchMode::from_number(narrow(hit.values[2])?) },
        What::GetZip => Kind::GetZip,
        What::Create => Kind::Create,
        What::LinearCheck => Kind::LinearCheck,
        What::RandomCheck => Kind::RandomCheck,
        What::Add => Kind::Add {
            is_old: hit.values[2] != 0,
            instance: u8::try_from(hit.values[3]).context("an instance beyond 255")?,
        },
        other => bail!("an entry of {other:?} without its return"),
    })
}

/// Returns what an entry is whose function has returned `value`.
fn returned(entry: &Hit, value: u64) -> Result<Kind> {
    let succeeded = value != 0;
    Ok(match entry.probe.what {
        What::TryGet => Kind::TryGet { succeeded },
        What::OptimisticGet => {
            let mode = FetchMode::from_number(narrow(entry.values[2])?);
            Kind::OptimisticGet { mode, succeeded }
        }
        What::KnownGet => {
            Kind::KnownGet { may_make_young: entry.values[2] == HINT_MAKE_YOUNG, succeeded }
        }
        What::Read => Kind::Read { is_sync: entry.values[2] != 0, was_posted: succeeded },
        What::Candidate => Kind::Candidate { is_replaceable: succeeded },
        other => bail!("a return of {other:?}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page_events::trace_text;

    fn of(lines: &[&str]) -> Result<Recording> {
        let hits = lines.iter().map(|line| {
            let line = format!("t-1 [000] D 1.{line}");
            trace_text::hit(&line).unwrap().unwrap().0
        });
        recording(hits.collect(), 0, BTreeMap::new())
    }

    fn kinds(recording: &Recording) -> Vec<Kind> {
        recording.events.iter().map(|event| event.kind).collect()
    }

    #[test]
    fn an_entry_gets_its_answer_from_its_return() {
        let recording = of(&[
            "000003: optr: (0x1 <- 0x2) v=1",
            "000001: optr: (0x1 <- 0x2) v=1",
            "000002: opt: (0x1) s=3 p=4 m=1",
            "000004: read: (0x1) s=3 p=5 y=0",
            "000005: read: (0x1) s=3 p=6 y=1",
            "000006: readr: (0x1 <- 0x2) v=1",
            "000007: readr: (0x1 <- 0x2) v=0",
            "000008: ready: (0x1) s=3 p=5",
            "000009: pct: (0x1) v=20",
        ])
        .unwrap();
        assert_eq!(
            kinds(&recording),
            [
                Kind::OptimisticGet { mode: FetchMode::Scan, succeeded: true },
                Kind::Read { is_sync: false, was_posted: false },
                Kind::Read { is_sync: true, was_posted: true },
            ]
        );
        assert_eq!(recording.events[0].page, PageId { space: 3, page_no: 4 });
        assert_eq!(recording.events[0].time_us, 1_000_002);
        assert_eq!(recording.counted_gets(), 1);
        assert_eq!(recording.old_blocks_pct, [OldBlocksPct { time_us: 1_000_009, percent: 20 }]);
    }

    #[test]
    fn an_unlinking_is_a_move_or_a_removal() {
        let recording = of(&[
            "000001: young: (0x1) s=3 p=4",
            "000002: unlink: (0x1) s=3 p=4 i=0 o=1 c=2147483655 a=900 n=600 on=220 pc=9",
            "000003: unlink: (0x1) s=3 p=6 i=0 o=0 c=0 a=0 n=600 on=220 pc=9",
            "000004: add: (0x1) s=3 p=8 o=1 i=0",
            "000005: unlink: (0x1) s=3 p=7 i=0 o=0 c=0 a=0 n=600 on=219 pc=10",
        ])
        .unwrap();
        let list = ListState { instance: 0, pages: 600, old_pages: 220, freed_page_clock: 9 };
        let page = PageState { is_old: true, freed_page_clock: 7, access_time_ns: 900 };
        assert_eq!(kinds(&recording)[0], Kind::MakeYoung { page, list });
        assert!(matches!(kinds(&recording)[1], Kind::Remove { .. }));
    }

    #[test]
    fn a_list_that_does_not_follow_from_the_one_before_is_refused() {
        let first = "000001: unlink: (0x1) s=3 p=4 i=0 o=1 c=0 a=900 n=600 on=220 pc=9";
        let cases = [
            "000002: unlink: (0x1) s=3 p=5 i=0 o=1 c=0 a=900 n=600 on=220 pc=10",
            "000002: unlink: (0x1) s=3 p=5 i=0 o=1 c=0 a=900 n=599 on=220 pc=9",
            "000002: unlink: (0x1) s=3 p=5 i=0 o=1 c=0 a=900 n=599 on=700 pc=10",
            "000002: unlink: (0x1) s=3 p=5 i=0 o=1 c=0 a=1002000000 n=599 on=220 pc=10",
        ];
        for second in cases {
            let error = of(&[first, second]).unwrap_err().to_string();
            assert!(error.contains("layout"), "{error}");
        }
        let last = "000001: unlink: (0x1) s=3 p=4 i=0 o=0 c=0 a=900 n=1 on=0 pc=5";
        let anew = "000003: unlink: (0x1) s=3 p=5 i=0 o=0 c=0 a=900 n=1 on=0 pc=0";
        of(&[last, "000002: add: (0x1) s=3 p=5 o=1 i=0", anew]).unwrap();
        of(&[last, anew]).unwrap_err();
        let elsewhere = "000002: unlink: (0x1) s=3 p=5 i=1 o=1 c=0 a=900 n=9 on=0 pc=1";
        of(&[first, elsewhere]).unwrap();
    }
}

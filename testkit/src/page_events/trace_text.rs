//! One line of the kernel's trace.
//!
//! ```text
//!       connection-6434    [001] DBZff 13398.118691: create: (0x563088467540) s=2 p=284
//!       connection-6434    [001] DBZff 13398.118951: optr: (0x5630884471a7 <- 0x563088460710) v=1
//! ```

use anyhow::{Context, Result, anyhow, bail};

use super::probes::{self, Probe, VALUES_MAX};

/// A line that was read: one hit of a probe.
#[derive(Clone, Copy)]
pub(crate) struct Hit {
    pub(crate) time_us: u64,
    pub(crate) thread: u32,
    pub(crate) probe: &'static Probe,
    pub(crate) is_return: bool,
    /// The values in the order in which the probe reads them.
    pub(crate) values: [u64; VALUES_MAX],
}

/// Reads a line: the hit, and the name of the thread; `None` for a line that is no event.
///
/// # Errors
///
/// When the line is cut off, or of a kind that is not known.
pub(crate) fn hit(line: &str) -> Result<Option<(Hit, &str)>> {
    if line.trim().is_empty() || line.starts_with('#') || line.starts_with("CPU:") {
        return Ok(None);
    }
    parse(line).map(Some).with_context(|| format!("cannot read the line {line:?} of a trace"))
}

fn parse(line: &str) -> Result<(Hit, &str)> {
    // A thread's name may hold blanks and dashes, but the processor comes first in brackets.
    let (task, rest) = line.split_once(" [").context("no processor")?;
    let (name, thread) = task.trim().rsplit_once('-').context("no thread")?;
    let mut words = rest.split_whitespace();
    words.next();
    let time = words.find(|word| word.ends_with(':')).context("no time")?;
    let event = words.next().and_then(|word| word.strip_suffix(':')).context("no event")?;
    let (probe, is_return) =
        probes::by_event(event).ok_or_else(|| anyhow!("an event {event} that is not known"))?;
    let fetched = if is_return { probe.fetch_return.unwrap_or_default() } else { probe.fetch };
    let mut values = [0; VALUES_MAX];
    let mut found = words.filter(|word| word.contains('='));
    for (value, wanted) in values.iter_mut().zip(fetched.split_whitespace()) {
        let (key, text) = found.next().and_then(|word| word.split_once('=')).context("too few")?;
        if wanted.split_once('=').map(|(name, _)| name) != Some(key) {
            bail!("{key} where {wanted} is expected");
        }
        *value = text.parse().with_context(|| format!("{key} is no number"))?;
    }
    let hit = Hit {
        time_us: micros(time.trim_end_matches(':')).context("not a time")?,
        thread: thread.trim().parse().context("not a thread's number")?,
        probe,
        is_return,
        values,
    };
    Ok((hit, name))
}

/// Reads seconds with six decimals.
fn micros(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.')?;
    let fraction = (fraction.len() == 6).then(|| fraction.parse::<u64>().ok())??;
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page_events::probes::What;

    #[test]
    fn lines_of_a_trace_are_read() {
        let line = "     ib_pg_flush-co-6434    [001] DBZff 13398.118691: get: (0x56) s=9 p=7 m=2";
        let (get, name) = hit(line).unwrap().unwrap();
        assert_eq!((get.probe.what, get.is_return), (What::Get, false));
        assert_eq!((get.time_us, get.thread, name), (13_398_118_691, 6434, "ib_pg_flush-co"));
        assert_eq!(get.values[..3], [9, 7, 2]);
        let line = "  connection-6434 [001] DBZff 13398.118951: optr: (0x561a7 <- 0x5710) v=1";
        let (back, _) = hit(line).unwrap().unwrap();
        assert_eq!(
            (back.probe.what, back.is_return, back.values[0]),
            (What::OptimisticGet, true, 1)
        );
    }

    #[test]
    fn other_lines_are_passed_over_or_refused() {
        assert!(hit("# tracer: nop").unwrap().is_none());
        assert!(hit("CPU:0 [LOST 12 EVENTS]").unwrap().is_none());
        assert!(hit("").unwrap().is_none());
        for broken in [
            "connection-6434 [001] DBZff 13398.118691: get: (0x56) s=9 p=7",
            "connection-6434 [001] DBZff 13398.118691: get: (0x56) s=(fault) p=7 m=2",
            "connection-6434 [001] DBZff 13398.118691: got: (0x56) s=9 p=7 m=2",
            "connection-6434 [001] DBZff 13398.1: get: (0x56) s=9 p=7 m=2",
            "connection [001]",
        ] {
            assert!(hit(broken).is_err(), "{broken}");
        }
    }
}

//! Rows 6: memory beyond the configured pool, as the kernel counts it, in a process of its own.

use std::process::Command;
use std::sync::Arc;

use innopool_buf::{Hint, NoLog, PageId, PlainPages, Pool, PoolOptions};

use crate::data::PAGE_BYTES;
use crate::made::MadeStore;
use crate::measure::Figures;
use crate::report::{Aim, Row, Section};
use crate::settings::{Failure, Settings};

const MIB: f64 = 1_048_576.0;

/// Rows 6.
pub(crate) fn beyond(settings: &Settings) -> Result<Vec<Section>, Failure> {
    let size_bytes = u64::from(settings.wide_pages) * PAGE_BYTES as u64;
    let (mut rss, mut said) = (Vec::new(), Vec::new());
    for _ in 0..settings.repeats {
        let output = Command::new(std::env::current_exe()?)
            .args(["fill", &size_bytes.to_string()])
            .output()?;
        let text = String::from_utf8(output.stdout)?;
        let numbers: Vec<f64> =
            text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let [resident, beyond] = numbers[..] else {
            return Err(format!("the child said {text:?}").into());
        };
        rss.push((resident - size_bytes as f64) / MIB);
        said.push(beyond / MIB);
    }
    let (rss, said) = (Figures::new(rss), Figures::new(said));
    let limit = (size_bytes as f64 * 0.05 / MIB + 32.0).round();
    let mut section = Section::new(
        format!("6. Memory beyond a pool of {} MiB", size_bytes >> 20),
        "a process that has touched twice as many pages as fit.  Batched promotion",
    );
    section.row(Row::new("resident, less pool's size", &rss, "MiB").aim(Aim::AtMost(limit)));
    section.row(Row::new("Pool::memory() says", &said, "MiB"));
    section.note(format!("aim: 5 % and 32 MiB, here {limit} MiB, for the whole process"));
    Ok(vec![section])
}

/// What the child does: fills a pool and says, in bytes, what is resident and what the pool says it takes.
pub(crate) fn fill(size_bytes: u64) -> Result<(), Failure> {
    let options = PoolOptions { size_bytes, ..PoolOptions::default() };
    let (store, log) = (Arc::new(MadeStore), Arc::new(NoLog::new()));
    let pool = Pool::new(options, store, log, Arc::new(PlainPages))?;
    let pages = u32::try_from(2 * size_bytes / PAGE_BYTES as u64)?;
    for page_no in 0..pages {
        pool.get_shared(PageId::new(1, page_no), Hint::Normal)?;
    }
    println!("{} {}", resident_bytes()?, pool.memory().beyond_frames_bytes());
    Ok(())
}

fn resident_bytes() -> Result<u64, Failure> {
    let text = std::fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = text.split_whitespace().nth(1).ok_or("statm has no second field")?.parse()?;
    Ok(pages * rustix::param::page_size() as u64)
}

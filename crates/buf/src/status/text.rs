//! The BUFFER POOL AND MEMORY section, in the layout of MySQL 5.7 to 9.x.
//!
//! Programs parse this text by the beginnings of its lines, so wording and order are the server's to the byte. What this pool
//! does not have is printed as the server prints it when it is not used: no single-page writes (threads in need of a frame never
//! write one, see `docs/buffer-pool.md`) and no compressed pages (`unzip`).

use std::fmt;

use super::{Block, Status};

const RULE: &str = "----------------------";

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{RULE}\nBUFFER POOL AND MEMORY\n{RULE}")?;
        let allocated_bytes = self.memory.frames_bytes + self.memory.beyond_frames_bytes();
        writeln!(f, "Total large memory allocated {allocated_bytes}")?;
        writeln!(f, "Dictionary memory allocated {}", self.dictionary_bytes)?;
        write_block(f, &self.total)?;
        if self.instances.len() > 1 {
            writeln!(f, "{RULE}\nINDIVIDUAL BUFFER POOL INFO\n{RULE}")?;
            for (number, block) in self.instances.iter().enumerate() {
                writeln!(f, "---BUFFER POOL {number}")?;
                write_block(f, block)?;
            }
        }
        Ok(())
    }
}

fn write_block(f: &mut fmt::Formatter<'_>, block: &Block) -> fmt::Result {
    let stats = &block.stats;
    writeln!(f, "Buffer pool size   {}", stats.size_pages)?;
    writeln!(f, "Free buffers       {}", stats.free_pages)?;
    writeln!(f, "Database pages     {}", stats.data_pages)?;
    writeln!(f, "Old database pages {}", stats.old_pages)?;
    writeln!(f, "Modified db pages  {}", stats.dirty_pages)?;
    writeln!(f, "Pending reads      {}", stats.pending_reads)?;
    writeln!(
        f,
        "Pending writes: LRU {}, flush list {}, single page 0",
        stats.pending_lru_writes, stats.pending_list_writes
    )?;
    write_traffic(f, block)?;
    writeln!(f, "LRU len: {}, unzip_LRU len: 0", stats.data_pages)?;
    writeln!(
        f,
        "I/O sum[{}]:cur[{}], unzip sum[0]:cur[0]",
        stats.io_recent_pages, stats.io_current_pages
    )
}

fn write_traffic(f: &mut fmt::Formatter<'_>, block: &Block) -> fmt::Result {
    let Block { stats, rates } = block;
    writeln!(f, "Pages made young {}, not young {}", stats.made_young, stats.not_made_young)?;
    writeln!(
        f,
        "{:.2} youngs/s, {:.2} non-youngs/s",
        rates.youngs_per_second, rates.non_youngs_per_second
    )?;
    writeln!(
        f,
        "Pages read {}, created {}, written {}",
        stats.pages_read, stats.pages_created, stats.pages_written
    )?;
    writeln!(
        f,
        "{:.2} reads/s, {:.2} creates/s, {:.2} writes/s",
        rates.reads_per_second, rates.creates_per_second, rates.writes_per_second
    )?;
    match rates.hits_per_mille {
        Some(hits) => writeln!(
            f,
            "Buffer pool hit rate {hits} / 1000, young-making rate {} / 1000 not {} / 1000",
            rates.youngs_per_mille, rates.non_youngs_per_mille
        )?,
        None => writeln!(f, "No buffer pool page gets since the last printout")?,
    }
    writeln!(
        f,
        "Pages read ahead {:.2}/s, evicted without access {:.2}/s, Random read ahead {:.2}/s",
        rates.read_ahead_per_second,
        rates.read_ahead_evicted_per_second,
        rates.read_ahead_random_per_second
    )
}

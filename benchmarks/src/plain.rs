//! What the device gives to a program that does nothing but read: the comparator of everything that does I/O.
//!
//! One thread, one io_uring, `O_DIRECT`, and a new read as soon as one has ended, so that there are always as many under
//! way as asked for. `fio` does the same and is asked too, where it is installed.

#![allow(unsafe_code, reason = "the kernel is handed the addresses of buffers")]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use io_uring::{IoUring, opcode, types};

use crate::data::PAGE_BYTES;
use crate::huge;
use crate::made::number;
use crate::settings::Failure;

/// What `O_DIRECT` asks of a buffer's address, on any device.
const ALIGN: usize = 4096;

#[repr(align(4096))]
#[derive(Clone, Copy)]
struct Block([u8; ALIGN]);

impl Default for Block {
    fn default() -> Block {
        Block([0; ALIGN])
    }
}

/// Reads `bytes` at each of `offsets`, `depth` at a time, and returns how many bytes came in a second.
pub(crate) fn read(
    path: &Path,
    offsets: &[u64],
    bytes: usize,
    depth: usize,
) -> Result<f64, Failure> {
    let direct = rustix::fs::OFlags::DIRECT.bits();
    let direct = i32::try_from(direct)?;
    let file = OpenOptions::new().read(true).custom_flags(direct).open(path)?;
    let mut reader = Reader::new(file, bytes, depth)?;
    let start = Instant::now();
    let mut left = offsets.iter();
    for slot in 0..depth {
        if let Some(&offset) = left.next() {
            reader.start(slot, offset)?;
        }
    }
    for _ in 0..offsets.len() {
        let slot = reader.finish()?;
        if let Some(&offset) = left.next() {
            reader.start(slot, offset)?;
        }
    }
    Ok((offsets.len() * bytes) as f64 / start.elapsed().as_secs_f64())
}

/// A ring with a buffer for each read under way.
struct Reader {
    // Before the buffers, so that it goes first: the kernel writes to them until the ring is gone.
    ring: IoUring,
    file: File,
    /// A stretch of blocks for each slot.
    buffers: Vec<Block>,
    offsets: Vec<u64>,
    bytes: usize,
}

impl Reader {
    fn new(file: File, bytes: usize, depth: usize) -> Result<Reader, Failure> {
        let entries = u32::try_from(depth)?;
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .build(entries)
            .or_else(|_| IoUring::new(entries))?;
        let buffers = huge::zeroed(depth * bytes.div_ceil(ALIGN));
        Ok(Reader { ring, file, buffers, offsets: vec![0; depth], bytes })
    }

    fn buffer(&mut self, slot: usize) -> &mut [Block] {
        let blocks = self.bytes.div_ceil(ALIGN);
        &mut self.buffers[slot * blocks..][..blocks]
    }

    /// Queues a read into buffer `slot`, which has none under way.
    fn start(&mut self, slot: usize, offset: u64) -> Result<(), Failure> {
        self.offsets[slot] = offset;
        let buffer = self.buffer(slot).as_mut_ptr().cast();
        let length = u32::try_from(self.bytes)?;
        let entry = opcode::Read::new(types::Fd(self.file.as_raw_fd()), buffer, length)
            .offset(offset)
            .build()
            .user_data(slot as u64);
        // SAFETY: the buffer is `bytes` long, is used by nobody until `finish` has returned its slot, and neither it nor
        // the file goes before the ring does.
        unsafe { self.ring.submission().push(&entry) }?;
        Ok(())
    }

    /// Waits for a read, checks that it is what was asked for, and returns its slot.
    fn finish(&mut self) -> Result<usize, Failure> {
        loop {
            let reaped = self.ring.completion().next();
            let Some(entry) = reaped else {
                self.ring.submit_and_wait(1)?;
                continue;
            };
            let slot = usize::try_from(entry.user_data())?;
            let came = usize::try_from(entry.result())
                .map_err(|_| io::Error::from_raw_os_error(-entry.result()))?;
            let page = number(&self.buffer(slot)[0].0);
            let wanted = self.offsets[slot] / PAGE_BYTES as u64;
            if came != self.bytes || page != wanted {
                return Err(format!("{came} bytes of page {page} came for page {wanted}").into());
            }
            return Ok(slot);
        }
    }
}

/// Random reads of a page at a time by `fio`, in bytes a second; `None` where there is no fio.
pub(crate) fn fio(path: &Path, depth: usize, seconds: u32) -> Result<Option<f64>, Failure> {
    let mut command = Command::new("fio");
    command.args(["--name=random", "--rw=randread", "--direct=1", "--ioengine=io_uring"]);
    command.args(["--time_based", "--readonly", "--output-format=terse", "--terse-version=3"]);
    command.arg(format!("--filename={}", path.display()));
    command.arg(format!("--bs={PAGE_BYTES}"));
    command.arg(format!("--iodepth={depth}"));
    command.arg(format!("--runtime={seconds}"));
    let output = match command.output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        output => output?,
    };
    let text = String::from_utf8_lossy(&output.stdout);
    // The eighth field of the terse form is reads a second.
    const READS_PER_SECOND: usize = 7;
    let rate = text
        .lines()
        .find(|line| line.starts_with("3;"))
        .and_then(|line| line.split(';').nth(READS_PER_SECOND)?.parse::<f64>().ok())
        .ok_or_else(|| format!("fio: {}", String::from_utf8_lossy(&output.stderr)))?;
    Ok(Some(rate * PAGE_BYTES as f64))
}

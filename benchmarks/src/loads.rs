//! Rows 3: the reload of a dump, dense and sparse, against plain reads of the same pages.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::Arc;
use std::time::Instant;

use innopool_buf::dump::{LoadControl, LoadOptions, format};
use innopool_buf::{NoLog, PageId, PlainPages, Pool, PoolOptions};

use crate::data::{DataFile, PAGE_BYTES, SPACE, mib};
use crate::measure::Figures;
use crate::plain;
use crate::random::Random;
use crate::report::{Aim, Row, Section};
use crate::settings::{Failure, Settings};

const MIB: f64 = 1_048_576.0;
/// Requests of the file store at the device, its default.
const STORE_DEPTH: u32 = 64;
/// Frames beyond the dump's pages: a load leaves the page cleaner its reserve.
const SPARE_PAGES: u64 = 2048;
/// Of a sparse dump, every how many pages of the file are in it.
const SPARSE: usize = 8;
const RUN_BYTES: usize = 1 << 20;
const RUN_DEPTH: usize = 16;
const SPARSE_DEPTH: usize = 32;

/// Rows 3, over `data`.
pub(crate) fn both(settings: &Settings, data: &DataFile) -> Result<Vec<Section>, Failure> {
    // A dump has the hottest page first, which is in no order to the disk.
    let shuffled = |mut pages: Vec<u32>| {
        Random::new(3).shuffle(&mut pages);
        pages
    };
    let dense: Vec<u32> = (0..data.pages() / 2).collect();
    let offset = |page_no: u32| u64::from(page_no) * PAGE_BYTES as u64;
    let runs: Vec<u64> = (0..offset(data.pages() / 2)).step_by(RUN_BYTES).collect();
    let sparse: Vec<u32> = (0..data.pages()).step_by(SPARSE).collect();
    let places: Vec<u64> = sparse.iter().map(|&page_no| offset(page_no)).collect();
    let (dense, sparse) = (shuffled(dense), shuffled(sparse));
    let mut figures = [const { Vec::new() }; 4];
    for _ in 0..settings.repeats {
        figures[0].push(plain::read(data.path(), &runs, RUN_BYTES, RUN_DEPTH)? / MIB);
        figures[1].push(load(data, settings, &dense)? / MIB);
        figures[2].push(plain::read(data.path(), &places, PAGE_BYTES, SPARSE_DEPTH)? / MIB);
        figures[3].push(load(data, settings, &sparse)? / MIB);
    }
    let [plain_runs, load_dense, plain_places, load_sparse] = figures.map(Figures::new);
    let mode = "into an empty pool, from opening the dump file to the last page, O_DIRECT";
    let aim = Aim::AtLeast(0.9);
    let size = |pages: usize| mib(pages as u64);
    let mut first =
        Section::new(format!("3. Load of a dense dump, {} MiB", size(dense.len())), mode);
    first.row(Row::new("plain, 1 MiB, 16 at once", &plain_runs, "MiB/s"));
    first.row(Row::new("Pool::load", &load_dense, "MiB/s"));
    first.row(Row::ratio("load / plain", &load_dense, &plain_runs).aim(aim));
    let title = format!("3. Load of a sparse dump, every 8th page, {} MiB", size(sparse.len()));
    let mut second = Section::new(title, mode);
    second.row(Row::new("plain, 32 at once", &plain_places, "MiB/s"));
    second.row(Row::new("Pool::load", &load_sparse, "MiB/s"));
    second.row(Row::ratio("load / plain", &load_sparse, &plain_places).aim(aim));
    Ok(vec![first, second])
}

/// Bytes a second that a load of a dump of `pages` brings into a pool just made.
fn load(data: &DataFile, settings: &Settings, pages: &[u32]) -> Result<f64, Failure> {
    let dump = settings.directory.join("pages.dump");
    let mut file = BufWriter::new(File::create(&dump)?);
    format::write(&mut file, pages.iter().map(|&page_no| PageId::new(SPACE, page_no)))?;
    file.flush()?;
    let size_bytes = (pages.len() as u64 + SPARE_PAGES) * PAGE_BYTES as u64;
    let options = PoolOptions { size_bytes, ..PoolOptions::default() };
    let store = data.store(STORE_DEPTH)?;
    let pool = Pool::new(options, store, Arc::new(NoLog::new()), Arc::new(PlainPages))?;
    let start = Instant::now();
    let report = pool.load(&dump, &LoadOptions::default(), &LoadControl::new())?;
    let took = start.elapsed().as_secs_f64();
    std::fs::remove_file(&dump)?;
    if report.loaded_pages != pages.len() as u64 {
        return Err(format!("{} of {} pages loaded", report.loaded_pages, pages.len()).into());
    }
    Ok(pages.len() as f64 * PAGE_BYTES as f64 / took)
}

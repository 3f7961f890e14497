//! Requests for pages: the order in which a request counts, reads, stamps, judges and reads ahead
//! (`buf_page_get_gen` and its kin).

use super::instance::Instance;
use super::outcome::{Found, GetOutcome, NoFreeFrame, StartedReadAhead};
use super::slots::mark;
use super::{BufferPool, PoolConfig};
use crate::blocks::BlockNo;
use crate::fetch::Fetch;
use crate::list::Enter;
use crate::page::PageId;
use crate::promotion;
use crate::read_ahead::{self, Area, AreaPage, Links, ReadAheadContext};
use crate::time::Time;

impl BufferPool {
    /// Asks for `page` at `now`, in the way of `fetch`; reads it when it is not there and the way says
    /// so.
    ///
    /// # Errors
    ///
    /// When the page has to be read and no frame can be had.
    pub fn get(
        &mut self,
        page: PageId,
        fetch: Fetch,
        now: Time,
    ) -> Result<GetOutcome, NoFreeFrame> {
        self.get_linked(page, fetch, Links::sequential(page), now)
    }

    /// As [`get`](BufferPool::get), of a page whose links to its siblings are known: linear read-ahead
    /// follows them.
    ///
    /// # Errors
    ///
    /// When the page has to be read and no frame can be had.
    pub fn get_linked(
        &mut self,
        page: PageId,
        fetch: Fetch,
        links: Links,
        now: Time,
    ) -> Result<GetOutcome, NoFreeFrame> {
        let effects = fetch.effects(self.config.rules.scan);
        let number = self.instance_of(page);
        self.instances[number].stats.read_requests += 1;
        if let Some(block) = self.instances[number].table.get(page) {
            let links = effects.linear_read_ahead.then_some(links);
            return Ok(self.access(number, block, effects.promotes, links, now));
        }
        if !effects.reads {
            return Ok(GetOutcome::ABSENT);
        }
        let block = self.read_on_demand(number, page)?;
        let random = if effects.random_read_ahead && self.config.read_ahead.random {
            self.random_read_ahead(number, block)
        } else {
            None
        };
        let links = effects.linear_read_ahead.then_some(links);
        let outcome = self.access(number, block, effects.promotes, links, now);
        Ok(GetOutcome { found: Found::Read, random, ..outcome })
    }

    /// Asks again for a page whose block the caller remembers (`buf_page_optimistic_get`): as a get that
    /// hits. `None`, and nothing counted, when the page is gone.
    pub fn optimistic_get(&mut self, page: PageId, now: Time) -> Option<GetOutcome> {
        let number = self.instance_of(page);
        let block = self.instances[number].table.get(page)?;
        self.instances[number].stats.read_requests += 1;
        Some(self.access(number, block, true, Some(Links::sequential(page)), now))
    }

    /// A page found by the adaptive hash index (`buf_page_get_known_nowait`): judged, but starts no
    /// read-ahead. `None`, and nothing counted, when the page is gone.
    pub fn hashed_get(&mut self, page: PageId, now: Time) -> Option<GetOutcome> {
        let number = self.instance_of(page);
        let block = self.instances[number].table.get(page)?;
        self.instances[number].stats.read_requests += 1;
        Some(self.access(number, block, true, None, now))
    }

    /// Looks at `page` if it is there (`buf_page_try_get`): counted, but neither stamped nor judged.
    pub fn try_get(&mut self, page: PageId) -> bool {
        let instance = self.instance_mut(page);
        let found = instance.table.get(page).is_some();
        instance.stats.read_requests += u64::from(found);
        found
    }

    /// Creates `page` (`buf_page_create`): it enters young, and is accessed at once. A page that is in
    /// the pool already is taken as it is, and nothing is counted. Returns whether it was created.
    ///
    /// # Errors
    ///
    /// When no frame can be had.
    pub fn create(&mut self, page: PageId, now: Time) -> Result<bool, NoFreeFrame> {
        let number = self.instance_of(page);
        if self.instances[number].table.get(page).is_some() {
            return Ok(false);
        }
        let block = self.bring_in(page, Enter::Young)?;
        let instance = &mut self.instances[number];
        instance.slots.touch(block, now);
        instance.stats.pages_created += 1;
        Ok(true)
    }

    /// Reads `page` in the background, as a load of a dump does: it enters old and not accessed.
    /// Returns whether it was read; a page that is there stays as it is.
    ///
    /// # Errors
    ///
    /// When no frame can be had.
    pub fn load(&mut self, page: PageId) -> Result<bool, NoFreeFrame> {
        if self.contains(page) {
            return Ok(false);
        }
        self.bring_in(page, Enter::Old)?;
        let stats = &mut self.instance_mut(page).stats;
        stats.pages_read += 1;
        stats.load_reads += 1;
        Ok(true)
    }

    /// Reads ahead what `pages` are not in the pool, counted as a linear read-ahead, each page where it
    /// belongs. Returns how many were read.
    ///
    /// # Errors
    ///
    /// When no frame can be had; what was read before stays.
    pub fn read_ahead(
        &mut self,
        pages: impl IntoIterator<Item = PageId>,
    ) -> Result<u64, NoFreeFrame> {
        let mut read = 0;
        for page in pages {
            if !self.contains(page) {
                self.bring_in(page, Enter::Old)?;
                let stats = &mut self.instance_mut(page).stats;
                stats.pages_read += 1;
                stats.read_ahead += 1;
                read += 1;
            }
        }
        Ok(read)
    }

    fn read_on_demand(&mut self, number: usize, page: PageId) -> Result<BlockNo, NoFreeFrame> {
        let block = self.bring_in(page, Enter::Old)?;
        let instance = &mut self.instances[number];
        instance.stats.pages_read += 1;
        instance.stats.demand_reads += 1;
        instance.slots.set(block, mark::READ_EXPECTED, true);
        Ok(block)
    }

    /// An access to a page that is there: stamps it, judges it, and may start a linear read-ahead.
    fn access(
        &mut self,
        number: usize,
        block: BlockNo,
        promotes: bool,
        links: Option<Links>,
        now: Time,
    ) -> GetOutcome {
        let instance = &mut self.instances[number];
        let first_access = instance.slots.touch(block, now);
        let verdict = promotes.then(|| instance.judge(block, now));
        let linear = match links {
            Some(links) if first_access => self.linear_read_ahead(number, block, links),
            Some(_) | None => None,
        };
        GetOutcome { found: Found::Hit, first_access, verdict, linear, random: None }
    }

    fn linear_read_ahead(
        &mut self,
        number: usize,
        block: BlockNo,
        links: Links,
    ) -> Option<StartedReadAhead> {
        let instance = &self.instances[number];
        let page = instance.slots.page(block);
        let context = context(&self.config, instance, || self.files.get(&page.space).copied());
        // An area belongs to one instance, so the view needs no other.
        let area = read_ahead::linear(&context, page, links, |page| instance.view(page))?;
        let pages = self.read_area(number, block, area);
        self.instances[number].stats.read_ahead += u64::from(pages);
        Some(StartedReadAhead { area, pages })
    }

    fn random_read_ahead(&mut self, number: usize, block: BlockNo) -> Option<StartedReadAhead> {
        let instance = &self.instances[number];
        let page = instance.slots.page(block);
        let context = context(&self.config, instance, || self.files.get(&page.space).copied());
        let area = read_ahead::random(&context, page, |page| instance.view(page))?;
        let pages = self.read_area(number, block, area);
        self.instances[number].stats.read_ahead_rnd += u64::from(pages);
        Some(StartedReadAhead { area, pages })
    }

    /// Reads the absent pages of `area`, as far as frames can be had, while the page in `block` of
    /// instance `number`, whose access started it, stays pinned; returns how many.
    fn read_area(&mut self, number: usize, block: BlockNo, area: Area) -> u32 {
        let pins = self.instances[number].slots.pins(block);
        self.instances[number].slots.set_pins(block, pins.saturating_add(1));
        let pages = self.read_absent(area);
        self.instances[number].slots.set_pins(block, pins);
        pages
    }

    fn read_absent(&mut self, area: Area) -> u32 {
        // The reads are posted together, and a page cannot be evicted while it is being read: not even by the next of the
        // same read-ahead, which in a short old sublist would find it at the tail.
        let mut reading = Vec::new();
        for page in area.pages() {
            if self.contains(page) {
                continue;
            }
            let Ok(block) = self.bring_in(page, Enter::Old) else { break };
            let instance = self.instance_mut(page);
            instance.stats.pages_read += 1;
            instance.slots.set_pins(block, 1);
            reading.push((page, block));
        }
        for &(page, block) in &reading {
            self.instance_mut(page).slots.set_pins(block, 0);
        }
        // An area has at most 64 pages.
        u32::try_from(reading.len()).unwrap_or(u32::MAX)
    }
}

fn context(
    config: &PoolConfig,
    instance: &Instance,
    file_pages: impl FnOnce() -> Option<u32>,
) -> ReadAheadContext {
    ReadAheadContext {
        settings: config.read_ahead,
        target: config.rules.linear_target,
        resolution: config.rules.list.time_resolution,
        size_pages: instance.size_pages,
        // Reads are done at once.
        pending_reads: 0,
        file_pages: file_pages(),
        page_size_bytes: config.page_size_bytes,
    }
}

impl Instance {
    fn view(&self, page: PageId) -> Option<AreaPage> {
        let block = self.table.get(page)?;
        let clock = self.slots.freed_page_clock(block);
        let young = promotion::is_young_enough(self.list.rules(), clock, self.clock());
        Some(self.slots.area_page(block, young))
    }
}

//! The pool: instances with a list and free frames each, and what the servers do with them.
//!
//! Everything happens at once: a read or a write is over when the call returns, and between two calls
//! nothing is going on.

use super::lru::{Cursor, Lru, Page};
use super::young::{self, Verdict};
use super::{Constants, Id, Server, mapping, ratio_of_pct, read_ahead};

#[derive(Clone, Debug)]
pub struct Settings {
    pub server: Server,
    pub constants: Constants,
    /// Pages each instance has room for; its length is the number of instances.
    pub frames: Vec<usize>,
    pub old_blocks_pct: usize,
    pub old_blocks_time_ms: u64,
    pub scan_depth: usize,
    /// 0 turns linear read-ahead off.
    pub read_ahead_threshold: u32,
    pub random_read_ahead: bool,
    /// Pages in every file.
    pub file_pages: u32,
    /// Rounds after which a search for a frame gives up; a server would go on for ever.
    pub rounds: u64,
    /// The page cleaner writes the dirty pages it meets; else it leaves them.
    pub cleaner_writes: bool,
    /// The page cleaner passes whenever a frame was taken; else only when told to.
    pub cleaner_after_each: bool,
    pub page_size: u32,
}

/// How a page is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Normal,
    Scan,
    IfInPool,
    PeekIfInPool,
    NoReadAhead,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub read_requests: u64,
    pub reads: u64,
    pub pages_read: u64,
    pub read_ahead: u64,
    pub read_ahead_rnd: u64,
    pub read_ahead_evicted: u64,
    pub wait_free: u64,
    pub pages_created: u64,
    pub pages_written: u64,
    pub pages_flushed: u64,
    pub write_requests: u64,
    pub made_young: u64,
    pub not_made_young: u64,
    pub evicted: u64,
    pub dropped: u64,
}

/// What one call did, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Read(Id),
    ReadAhead(Id),
    ReadAheadRandom(Id),
    Evicted(Id),
    /// Written by an eviction.
    Written(Id),
    MovedToHead(Id),
    /// No frame was to be had.
    NoFrame(Id),
}

#[derive(Clone, Debug)]
pub struct Instance {
    pub lru: Lru,
    pub frames: usize,
    pub free: usize,
    /// Frames that a shrink has yet to take away.
    pub withdraw: usize,
    pub try_lru_scan: bool,
    pub counters: Counters,
}

#[derive(Clone, Debug)]
pub struct Pool {
    pub settings: Settings,
    pub instances: Vec<Instance>,
    pub events: Vec<Event>,
}

impl Pool {
    pub fn new(settings: Settings) -> Pool {
        let ratio = ratio_of_pct(settings.old_blocks_pct);
        let mut instances = Vec::new();
        for frames in &settings.frames {
            instances.push(Instance {
                lru: Lru::new(settings.constants, ratio),
                frames: *frames,
                free: *frames,
                withdraw: 0,
                try_lru_scan: true,
                counters: Counters::default(),
            });
        }
        Pool { settings, instances, events: Vec::new() }
    }

    pub fn instance_of(&self, id: Id) -> usize {
        mapping::instance(self.settings.server, id, self.instances.len())
    }

    fn of(&mut self, id: Id) -> &mut Instance {
        let i = self.instance_of(id);
        &mut self.instances[i]
    }

    pub fn page(&self, id: Id) -> Option<&Page> {
        self.instances[self.instance_of(id)].lru.page(id)
    }

    pub fn page_mut(&mut self, id: Id) -> Option<&mut Page> {
        self.of(id).lru.page_mut(id)
    }

    fn state(&self, i: usize) -> young::Instance {
        young::Instance {
            clock: self.instances[i].lru.clock,
            curr_size: self.instances[i].frames as u64,
            ratio: self.instances[i].lru.ratio as u64,
            old_blocks_time_ms: self.settings.old_blocks_time_ms,
        }
    }

    // ------------------------------------------------------------------------------------ the get

    /// Asks for a page. True when it is in the pool afterwards.
    pub fn get(&mut self, id: Id, mode: Mode, now: u64) -> bool {
        let scan = mode == Mode::Scan && self.settings.server.knows_scans();
        self.of(id).counters.read_requests += 1;
        if self.page(id).is_none() {
            if mode == Mode::IfInPool || mode == Mode::PeekIfInPool {
                return false;
            }
            if !self.read(id) {
                return false;
            }
            if !scan && mode != Mode::NoReadAhead {
                self.fixed(id, |pool| pool.random_read_ahead(id));
            }
        }
        let first_access = self.stamp(id, now);
        if mode != Mode::PeekIfInPool && !scan {
            self.make_young_if_needed(id, now);
        }
        if first_access && mode != Mode::PeekIfInPool && mode != Mode::NoReadAhead {
            self.fixed(id, |pool| pool.linear_read_ahead(id));
        }
        true
    }

    /// Does something while a page is fixed, so that it is not evicted by it. (A server does not fix the
    /// page for the moment of a random read-ahead, but would read it again if it were gone.)
    fn fixed(&mut self, id: Id, action: impl FnOnce(&mut Pool)) {
        self.page_mut(id).expect("in the pool").fixes += 1;
        action(self);
        self.page_mut(id).expect("fixed").fixes -= 1;
    }

    /// Notes the first access. True when this is it.
    fn stamp(&mut self, id: Id, now: u64) -> bool {
        let stamp = self.settings.server.kept_time(now);
        let page = self.page_mut(id).expect("in the pool");
        let first_access = page.access.is_none();
        if first_access {
            page.access = Some(stamp);
        }
        first_access
    }

    /// A get through a remembered block: counts only if the page is still there.
    pub fn optimistic_get(&mut self, id: Id, now: u64) -> bool {
        self.page(id).is_some() && self.get(id, Mode::Normal, now)
    }

    /// A get through the adaptive hash index.
    pub fn hashed_get(&mut self, id: Id, now: u64) -> bool {
        self.page(id).is_some() && self.get(id, Mode::NoReadAhead, now)
    }

    /// A look at a page that is there, which moves nothing.
    pub fn try_get(&mut self, id: Id) -> bool {
        if self.page(id).is_none() {
            return false;
        }
        self.of(id).counters.read_requests += 1;
        true
    }

    fn read(&mut self, id: Id) -> bool {
        if !self.take_frame(id) {
            return false;
        }
        self.events.push(Event::Read(id));
        let instance = self.of(id);
        instance.counters.reads += 1;
        instance.counters.pages_read += 1;
        self.place(Page::new(id), true);
        true
    }

    fn make_young_if_needed(&mut self, id: Id, now: u64) {
        let i = self.instance_of(id);
        let page = self.page(id).expect("in the pool");
        match young::judge(self.settings.server, page, &self.state(i), now) {
            Verdict::Move => self.make_young(id),
            Verdict::TooRecent => self.instances[i].counters.not_made_young += 1,
            Verdict::Stay => {}
        }
    }

    pub fn make_young(&mut self, id: Id) {
        let every = self.settings.server.counts_every_make_young();
        let instance = self.of(id);
        let was_old = instance.lru.make_young(id);
        if was_old || every {
            instance.counters.made_young += 1;
        }
        self.events.push(Event::MovedToHead(id));
    }

    // ------------------------------------------------------------------------------- other entries

    /// Makes a new page. A page that is in the pool already stays as it is.
    pub fn create(&mut self, id: Id, now: u64) -> bool {
        if self.page(id).is_some() {
            return false;
        }
        if !self.take_frame(id) {
            return false;
        }
        let mut page = Page::new(id);
        page.access = Some(self.settings.server.kept_time(now));
        let instance = self.of(id);
        instance.counters.pages_created += 1;
        self.place(page, false);
        true
    }

    /// Reads a page for the load of a dump.
    pub fn load(&mut self, id: Id) -> bool {
        self.page(id).is_none() && self.read(id)
    }

    /// Takes a page out because its table is gone. Dirt does not matter.
    pub fn drop_page(&mut self, id: Id) -> bool {
        if self.page(id).is_none_or(|page| page.fixes > 0) {
            return false;
        }
        let instance = self.of(id);
        instance.lru.evict(id);
        instance.counters.dropped += 1;
        let i = self.instance_of(id);
        self.free_frame(i);
        true
    }

    /// A mini-transaction has changed a page.
    pub fn dirty(&mut self, id: Id) {
        if let Some(page) = self.page_mut(id) {
            page.dirty = true;
            self.of(id).counters.write_requests += 1;
        }
    }

    /// The flush list's write of a page is done. It stays where it is.
    pub fn clean(&mut self, id: Id) {
        if self.page(id).is_some_and(|page| page.dirty) {
            let i = self.instance_of(id);
            self.write(i, id);
            self.instances[i].counters.pages_flushed += 1;
        }
    }

    // ---------------------------------------------------------------------------------- read-ahead

    fn linear_read_ahead(&mut self, id: Id) {
        if read_ahead::never_starts(id, self.settings.page_size) {
            return;
        }
        let (space, page_no) = id;
        let area = read_ahead::area(self.instances[self.instance_of(id)].frames);
        let look = |no| self.page((space, no));
        let (threshold, file) = (self.settings.read_ahead_threshold, self.settings.file_pages);
        let Some(target) = read_ahead::linear(page_no, area, threshold, file, look) else {
            return;
        };
        let mut reading = Vec::new();
        for no in target..target + area {
            if self.read_ahead((space, no), &mut reading) {
                self.events.push(Event::ReadAhead((space, no)));
                self.of(id).counters.read_ahead += 1;
            }
        }
        self.end_reads(&reading);
    }

    fn random_read_ahead(&mut self, id: Id) {
        let forbidden = read_ahead::never_starts(id, self.settings.page_size);
        if !self.settings.random_read_ahead || forbidden {
            return;
        }
        let (space, page_no) = id;
        let i = self.instance_of(id);
        let area = read_ahead::area(self.instances[i].frames);
        let low = page_no / area * area;
        let high = (low + area).min(self.settings.file_pages);
        let state = self.state(i);
        let mut seen = Vec::new();
        for no in low..high {
            let page = self.page((space, no));
            seen.push(page.map(|p| (p, young::is_young(self.settings.server, p, &state))));
        }
        if !read_ahead::random(&seen, area) {
            return;
        }
        let mut reading = Vec::new();
        for no in low..high {
            if self.read_ahead((space, no), &mut reading) {
                self.events.push(Event::ReadAheadRandom((space, no)));
                let counters = &mut self.of(id).counters;
                counters.read_ahead_rnd += 1;
                counters.reads += 1;
            }
        }
        self.end_reads(&reading);
    }

    /// Begins to read one page ahead if it is absent. Nobody can evict it before the read has ended.
    fn read_ahead(&mut self, id: Id, reading: &mut Vec<Id>) -> bool {
        if self.page(id).is_some() || !self.take_frame(id) {
            return false;
        }
        let instance = self.of(id);
        instance.counters.pages_read += 1;
        self.place(Page::new(id), true);
        self.page_mut(id).expect("just placed").fixes += 1;
        reading.push(id);
        true
    }

    fn end_reads(&mut self, ids: &[Id]) {
        for &id in ids {
            self.page_mut(id).expect("it is held").fixes -= 1;
        }
    }

    // -------------------------------------------------------------------------- free frames, evictions

    /// Finds a free frame for `id`, making one if there is none.
    fn take_frame(&mut self, id: Id) -> bool {
        let i = self.instance_of(id);
        let mut n = 0;
        loop {
            if self.instances[i].free > 0 {
                self.instances[i].free -= 1;
                return true;
            }
            if n == self.settings.rounds {
                self.events.push(Event::NoFrame(id));
                return false;
            }
            if self.instances[i].try_lru_scan || n > 0 {
                if self.user_scan(i, n > 0) {
                    continue;
                }
                if n == 0 {
                    self.instances[i].try_lru_scan = false;
                }
            }
            if self.settings.server == Server::MariaDb {
                self.wait_for_cleaner(i, n > 0);
            } else {
                self.single_page_flush(i);
            }
            self.instances[i].counters.wait_free += 1;
            n += 1;
        }
    }

    /// Puts a page that has got its frame into the list.
    fn place(&mut self, page: Page, old: bool) {
        let id = page.id;
        let i = self.instance_of(id);
        self.instances[i].lru.insert(page, old);
        if self.settings.cleaner_after_each {
            self.fixed(id, |pool| pool.cleaner_pass(i));
        }
    }

    /// A frame has lost its page: it is free, unless a shrink takes it away.
    fn free_frame(&mut self, i: usize) {
        let instance = &mut self.instances[i];
        if instance.withdraw > 0 {
            instance.withdraw -= 1;
        } else {
            instance.free += 1;
        }
    }

    fn evict(&mut self, i: usize, id: Id) -> Page {
        let page = self.instances[i].lru.evict(id);
        self.free_frame(i);
        self.instances[i].counters.evicted += 1;
        self.events.push(Event::Evicted(id));
        page
    }

    /// A user thread looks for a page to evict: 100 pages from where it stopped, or the whole list.
    fn user_scan(&mut self, i: usize, whole: bool) -> bool {
        let mut looked_at = 0;
        let mut next = self.instances[i].lru.start(Cursor::UserScan);
        while let Some(id) = next {
            if !whole && looked_at == self.settings.constants.user_scan {
                return false;
            }
            looked_at += 1;
            let lru = &mut self.instances[i].lru;
            let hotter = lru.hotter(id);
            lru.set_cursor(Cursor::UserScan, hotter);
            if lru.page(id).expect("in the list").replaceable() {
                let page = self.evict(i, id);
                if page.access.is_none() {
                    self.instances[i].counters.read_ahead_evicted += 1;
                }
                return true;
            }
            next = self.instances[i].lru.cursor(Cursor::UserScan);
        }
        false
    }

    /// A user thread evicts the coldest page it can, writing it first if it must.
    fn single_page_flush(&mut self, i: usize) -> bool {
        let mut next = self.instances[i].lru.start(Cursor::SinglePage);
        while let Some(id) = next {
            let lru = &mut self.instances[i].lru;
            let hotter = lru.hotter(id);
            lru.set_cursor(Cursor::SinglePage, hotter);
            let page = lru.page(id).expect("in the list");
            if page.replaceable() {
                self.evict(i, id);
                return true;
            }
            if page.flushable() {
                self.write(i, id);
                self.evict(i, id);
                return true;
            }
            next = self.instances[i].lru.cursor(Cursor::SinglePage);
        }
        false
    }

    fn write(&mut self, i: usize, id: Id) {
        self.instances[i].counters.pages_written += 1;
        self.instances[i].lru.page_mut(id).expect("in the list").dirty = false;
        self.events.push(Event::Written(id));
    }

    /// One pass of the page cleaner over the list of instance `i`.
    pub fn cleaner_pass(&mut self, i: usize) {
        let depth = self.settings.scan_depth;
        let min_len = self.settings.constants.cleaner_min_len;
        if wants_pass(self.settings.server, &self.instances[i], depth, min_len) {
            self.cleaner_batch(i, self.settings.cleaner_writes);
        } else {
            self.instances[i].try_lru_scan = true;
        }
    }

    /// A MariaDB thread wakes the page cleaner and waits. What comes is a batch from the tail; and if
    /// that frees nothing though the thread has seen that no page is clean, the flush list's batch
    /// cleans one, of which the coldest is taken here.
    fn wait_for_cleaner(&mut self, i: usize, none_is_clean: bool) {
        let freed = self.cleaner_batch(i, true);
        if freed == 0 && none_is_clean {
            self.single_page_flush(i);
        }
    }

    /// Evicts from the tail, and writes dirty pages first or leaves them. Returns how many were freed.
    fn cleaner_batch(&mut self, i: usize, writes: bool) -> usize {
        let depth = self.settings.scan_depth;
        let min_len = self.settings.constants.cleaner_min_len;
        let instance = &self.instances[i];
        let max = instance.lru.pages.len().min(depth.max(instance.withdraw));
        let mut done = 0;
        let mut next = self.instances[i].lru.tail();
        while let Some(id) = next {
            let instance = &mut self.instances[i];
            let wanted = depth + instance.withdraw;
            if done >= max || instance.free >= wanted || instance.lru.pages.len() <= min_len {
                break;
            }
            let hotter = instance.lru.hotter(id);
            instance.lru.set_cursor(Cursor::Cleaner, hotter);
            let page = instance.lru.page(id).expect("in the list");
            if page.replaceable() {
                self.evict(i, id);
                done += 1;
            } else if page.flushable() && writes {
                self.write(i, id);
                self.instances[i].counters.pages_flushed += 1;
                self.evict(i, id);
                done += 1;
            }
            next = self.instances[i].lru.cursor(Cursor::Cleaner);
        }
        self.instances[i].lru.set_cursor(Cursor::Cleaner, None);
        self.instances[i].try_lru_scan = true;
        done
    }

    // -------------------------------------------------------------------------------------- resize

    /// Gives instance `i` `frames` frames. Growth adds free ones. A shrink takes away free ones, then
    /// evicts from the tail; what cannot be had now goes when it is freed.
    pub fn resize(&mut self, i: usize, frames: usize) {
        let writes = self.settings.cleaner_writes;
        let instance = &mut self.instances[i];
        let (before, now) = (instance.frames, frames);
        instance.frames = frames;
        for _ in before..now {
            if instance.withdraw > 0 {
                instance.withdraw -= 1;
            } else {
                instance.free += 1;
            }
        }
        for _ in now..before {
            instance.withdraw += 1;
            if instance.free > 0 {
                instance.free -= 1;
                instance.withdraw -= 1;
            }
        }
        let mut next = self.instances[i].lru.tail();
        while let Some(id) = next {
            if self.instances[i].withdraw == 0 {
                break;
            }
            next = self.instances[i].lru.hotter(id);
            let page = self.instances[i].lru.page(id).expect("in the list");
            if page.flushable() && writes {
                self.write(i, id);
                self.instances[i].counters.pages_flushed += 1;
                self.evict(i, id);
            } else if page.replaceable() {
                self.evict(i, id);
            }
        }
    }

    // ---------------------------------------------------------------------------------------- dump

    /// The pages of a dump in its order: instance by instance, each from its hottest page on.
    pub fn dump(&self, pct: usize) -> Vec<Id> {
        let mut dumped = Vec::new();
        for instance in &self.instances {
            let pages = &instance.lru.pages;
            let share = dumped_len(self.settings.server, pct, pages.len(), instance.frames);
            for page in pages.iter().take(share) {
                dumped.push(page.id);
            }
        }
        dumped
    }
}

/// Whether the page cleaner has anything to do at the tail.
pub fn wants_pass(server: Server, instance: &Instance, depth: usize, min_len: usize) -> bool {
    match server {
        Server::MariaDb => {
            instance.withdraw > 0
                || !instance.try_lru_scan
                || (instance.lru.pages.len() > min_len && instance.free < depth / 2)
        }
        _ => instance.free < depth + instance.withdraw,
    }
}

/// How many pages of a list of `len` are dumped, at `pct` percent, in a pool of `frames`.
pub fn dumped_len(server: Server, pct: usize, len: usize, frames: usize) -> usize {
    let share = match server {
        Server::MariaDb => frames * pct / 100,
        _ => len * pct / 100,
    };
    share.max(1).min(len)
}

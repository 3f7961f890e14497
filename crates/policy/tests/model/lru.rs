//! The list of one instance: hot pages at index 0, cold ones at the end, an old part at the tail.
//!
//! `lru_old` names the hottest page whose old flag is set; it exists exactly when the list has at
//! least 512 pages.

use super::{Constants, Id};

/// One page in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub id: Id,
    pub old: bool,
    /// 31 bits of the instance's eviction clock when the page was last put at the head; 0 = never.
    pub clock: u64,
    /// Moment of the first access, in microseconds.
    pub access: Option<u64>,
    pub dirty: bool,
    pub fixes: u32,
}

impl Page {
    pub fn new(id: Id) -> Page {
        Page { id, old: false, clock: 0, access: None, dirty: false, fixes: 0 }
    }

    /// Clean and used by nobody.
    pub fn replaceable(&self) -> bool {
        !self.dirty && self.fixes == 0
    }

    /// Dirty, and an eviction may write it.
    pub fn flushable(&self) -> bool {
        self.dirty && self.fixes == 0
    }
}

/// The three saved positions that follow the list when their page leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cursor {
    /// The page cleaner's batch.
    Cleaner = 0,
    /// A user thread looking for a page to evict.
    UserScan = 1,
    /// A user thread looking for one page to write.
    SinglePage = 2,
}

pub const CURSORS: [Cursor; 3] = [Cursor::Cleaner, Cursor::UserScan, Cursor::SinglePage];

#[derive(Clone, Debug)]
pub struct Lru {
    pub constants: Constants,
    /// The wanted old part, in 1024ths of the list.
    pub ratio: usize,
    pub pages: Vec<Page>,
    pub lru_old: Option<Id>,
    pub old_len: usize,
    /// Pages that have left for good: one tick for each eviction or drop.
    pub clock: u64,
    pub cursors: [Option<Id>; 3],
}

impl Lru {
    pub fn new(constants: Constants, ratio: usize) -> Lru {
        Lru {
            constants,
            ratio,
            pages: Vec::new(),
            lru_old: None,
            old_len: 0,
            clock: 0,
            cursors: [None; 3],
        }
    }

    pub fn position(&self, id: Id) -> Option<usize> {
        let mut i = 0;
        while i < self.pages.len() {
            if self.pages[i].id == id {
                return Some(i);
            }
            i += 1;
        }
        None
    }

    pub fn page(&self, id: Id) -> Option<&Page> {
        self.position(id).map(|i| &self.pages[i])
    }

    pub fn page_mut(&mut self, id: Id) -> Option<&mut Page> {
        self.position(id).map(|i| &mut self.pages[i])
    }

    fn old_position(&self) -> usize {
        let id = self.lru_old.expect("only asked of a list that has an old part");
        self.position(id).expect("the first old page is in the list")
    }

    /// How long the old part should be.
    pub fn desired_old(&self) -> usize {
        let len = self.pages.len();
        let at_most = len.saturating_sub(self.constants.tolerance + self.constants.non_old_min_len);
        (len * self.ratio / 1024).min(at_most)
    }

    /// Moves the midpoint until the old part is within the tolerance of what is wanted.
    fn adjust(&mut self) {
        let desired = self.desired_old();
        loop {
            if self.old_len + self.constants.tolerance < desired {
                let hotter = self.old_position() - 1;
                self.pages[hotter].old = true;
                self.lru_old = Some(self.pages[hotter].id);
                self.old_len += 1;
            } else if self.old_len > desired + self.constants.tolerance {
                let here = self.old_position();
                if here + 1 == self.pages.len() {
                    // One page stays old. Servers, whose tolerance is 20, never come here.
                    return;
                }
                self.pages[here].old = false;
                self.lru_old = Some(self.pages[here + 1].id);
                self.old_len -= 1;
            } else {
                return;
            }
        }
    }

    /// Gives a list that has just become long enough its old part.
    fn init_old(&mut self) {
        for page in &mut self.pages {
            page.old = true;
        }
        self.lru_old = Some(self.pages[0].id);
        self.old_len = self.pages.len();
        self.adjust();
    }

    /// Puts a page that is not in the list into it.
    pub fn insert(&mut self, mut page: Page, old: bool) {
        assert!(self.position(page.id).is_none(), "{:?} is in the list already", page.id);
        if !old || self.pages.len() < self.constants.old_min_len {
            page.clock = self.clock % (1 << 31);
            self.pages.insert(0, page.clone());
        } else {
            let second_of_old = self.old_position() + 1;
            self.pages.insert(second_of_old, page.clone());
            self.old_len += 1;
        }
        let here = self.position(page.id).expect("just put in");
        self.pages[here].old = false;
        if self.pages.len() > self.constants.old_min_len {
            self.pages[here].old = old;
            self.adjust();
        } else if self.pages.len() == self.constants.old_min_len {
            self.init_old();
        }
    }

    /// Takes a page out of the list, whether to evict it or to put it elsewhere.
    pub fn remove(&mut self, id: Id) -> Page {
        let here = self.position(id).expect("the page is in the list");
        let hotter = if here == 0 { None } else { Some(self.pages[here - 1].id) };
        for cursor in &mut self.cursors {
            if *cursor == Some(id) {
                *cursor = hotter;
            }
        }
        if self.lru_old == Some(id) {
            self.pages[here - 1].old = true;
            self.lru_old = hotter;
            self.old_len += 1;
        }
        let page = self.pages.remove(here);
        if self.pages.len() < self.constants.old_min_len {
            for page in &mut self.pages {
                page.old = false;
            }
            self.lru_old = None;
            self.old_len = 0;
        } else {
            if page.old {
                self.old_len -= 1;
            }
            self.adjust();
        }
        page
    }

    /// Takes a page out for good, which is what the clock counts.
    pub fn evict(&mut self, id: Id) -> Page {
        let page = self.remove(id);
        self.clock += 1;
        page
    }

    /// Moves a page to the head. True when it was old.
    pub fn make_young(&mut self, id: Id) -> bool {
        let page = self.remove(id);
        let was_old = page.old;
        self.insert(page, false);
        was_old
    }

    /// Changes the wanted share of old pages, and follows it at once if there is an old part.
    pub fn set_ratio(&mut self, ratio: usize) {
        self.ratio = ratio;
        if self.pages.len() >= self.constants.old_min_len {
            self.adjust();
        }
    }

    pub fn tail(&self) -> Option<Id> {
        self.pages.last().map(|page| page.id)
    }

    /// The page next to `id` on the way to the head.
    pub fn hotter(&self, id: Id) -> Option<Id> {
        let here = self.position(id)?;
        if here == 0 { None } else { Some(self.pages[here - 1].id) }
    }

    pub fn cursor(&self, cursor: Cursor) -> Option<Id> {
        self.cursors[cursor as usize]
    }

    pub fn set_cursor(&mut self, cursor: Cursor, to: Option<Id>) {
        self.cursors[cursor as usize] = to;
    }

    /// Where a walk that remembers its place begins: there, but at the tail if there is no place or
    /// the page in it is old.
    pub fn start(&mut self, cursor: Cursor) -> Option<Id> {
        let begin_anew = match self.cursor(cursor) {
            None => true,
            Some(id) => self.page(id).expect("cursors follow the list").old,
        };
        if begin_anew {
            self.set_cursor(cursor, self.tail());
        }
        self.cursor(cursor)
    }

    /// Asserts what holds of every list between two operations.
    pub fn check(&self) {
        let len = self.pages.len();
        let flagged = self.pages.iter().filter(|page| page.old).count();
        assert_eq!(flagged, self.old_len, "old_len counts the flags");
        let at_tail = self.pages.iter().rev().take_while(|page| page.old).count();
        assert_eq!(at_tail, self.old_len, "the old pages are the tail");
        assert_eq!(self.lru_old.is_some(), len >= self.constants.old_min_len);
        if len >= self.constants.old_min_len {
            assert_eq!(self.old_position(), len - self.old_len);
            let (old, desired) = (self.old_len, self.desired_old());
            assert!(old + self.constants.tolerance >= desired, "{old} old, {desired} wanted");
            let most = (desired + self.constants.tolerance).max(1);
            assert!(old <= most, "{old} old, {desired} wanted");
        } else {
            assert_eq!(self.old_len, 0);
        }
        for cursor in self.cursors.iter().flatten() {
            assert!(self.position(*cursor).is_some(), "a cursor stands on a page that has left");
        }
    }
}

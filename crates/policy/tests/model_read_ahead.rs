//! Holds the read-ahead triggers against the model, over random views of an area.
//!
//! Views are made nearly right (all pages accessed, in order) and then spoiled about as much as the
//! threshold allows, since a view made at random never starts a read-ahead.

#![allow(clippy::cast_possible_truncation, reason = "the numbers of a test are small")]

mod model;

use innopool_policy::read_ahead::{
    self, AreaPage, Links, ReadAheadContext, ReadAheadSettings, area_pages,
};
use innopool_policy::rules::TimeResolution;
use innopool_policy::variant::Variant;
use innopool_policy::{PageId, Time};
use model::lru::Page;
use proptest::prelude::*;

/// One page of an area: when it was accessed, in microseconds, and whether it is young enough.
type Seen = Option<(Option<u64>, bool)>;

#[derive(Clone, Debug)]
struct Case {
    size_pages: u64,
    threshold: u32,
    native_time: bool,
    page: PageId,
    file_pages: Option<u32>,
    pending_reads: u64,
    view: Vec<Seen>,
}

/// What is done to a page of a perfect view.
#[derive(Clone, Copy, Debug)]
enum Spoil {
    Absent,
    NeverAccessed,
    At(u64),
    NotYoung,
}

fn spoils() -> impl Strategy<Value = Vec<(usize, Spoil)>> {
    let spoil = prop_oneof![
        Just(Spoil::Absent),
        Just(Spoil::NeverAccessed),
        (0..70_000u64).prop_map(Spoil::At),
        Just(Spoil::NotYoung),
    ];
    prop::collection::vec((0..64usize, spoil), 0..18)
}

/// Mostly border pages of the area, of the first areas of a file.
fn places(area: u32) -> impl Strategy<Value = u32> {
    (0..4u32, prop_oneof![3 => Just(0), 3 => Just(area - 1), 1 => 0..area])
        .prop_map(move |(which, offset)| which * area + offset)
}

fn cases() -> impl Strategy<Value = Case> {
    let sizes = prop_oneof![Just(8192u64), Just(1024), Just(1025), 0..3000u64];
    sizes.prop_flat_map(|size_pages| {
        let area = area_pages(size_pages);
        // The accessed page is in its file, which may end shortly after it.
        let file = prop::option::of(0..3 * area);
        (
            places(area),
            (0..=64u32, any::<bool>(), file, any::<bool>(), 0..3u32),
            prop_oneof![8 => Just(0u64), 1 => 0..size_pages + 2],
            (prop_oneof![Just(1u64), Just(10), Just(400), Just(1000)], spoils()),
        )
            .prop_map(move |(page_no, rest, pending_reads, (gap, spoils))| {
                let (threshold, native_time, beyond, descending, space) = rest;
                let file_pages = beyond.map(|pages| page_no + 1 + pages);
                let mut view: Vec<Seen> = Vec::new();
                for i in 0..u64::from(area) {
                    let rank = if descending { u64::from(area) - i } else { i + 1 };
                    view.push(Some((Some(1000 + rank * gap), true)));
                }
                for (i, spoil) in spoils {
                    let i = i % view.len();
                    view[i] = match spoil {
                        Spoil::Absent => None,
                        Spoil::NeverAccessed => Some((None, true)),
                        Spoil::At(at) => Some((Some(1000 + at), true)),
                        Spoil::NotYoung => view[i].map(|(at, _)| (at, false)),
                    };
                }
                let page = PageId::new(space, page_no);
                Case { size_pages, threshold, native_time, page, file_pages, pending_reads, view }
            })
    })
}

impl Case {
    fn area(&self) -> u32 {
        model::read_ahead::area(self.size_pages as usize)
    }

    fn seen(&self, page_no: u32) -> Seen {
        self.view[(page_no % self.area()) as usize]
    }

    fn context(&self, random: bool) -> ReadAheadContext {
        let rules = Variant::Mysql84.rules();
        let native = TimeResolution::Native;
        ReadAheadContext {
            settings: ReadAheadSettings { threshold: self.threshold, random },
            target: rules.linear_target,
            resolution: if self.native_time { native } else { TimeResolution::Millis },
            size_pages: self.size_pages,
            pending_reads: self.pending_reads,
            file_pages: self.file_pages,
            page_size_bytes: 16_384,
        }
    }

    /// The production code's view of the area. It never looks outside it.
    fn view(&self, page: PageId) -> Option<AreaPage> {
        assert_eq!(page.space, self.page.space);
        assert_eq!(page.page_no / self.area(), self.page.page_no / self.area());
        let (access, young_enough) = self.seen(page.page_no)?;
        Some(AreaPage { first_access: access.map(Time::from_micros), young_enough })
    }

    /// The model's pages of the area, with access times as the server keeps them.
    fn model_pages(&self) -> Vec<Option<(Page, bool)>> {
        let kept = |at: u64| if self.native_time { at } else { at / 1000 };
        self.view
            .iter()
            .map(|seen| {
                seen.map(|(access, young)| {
                    let mut page = Page::new((0, 0));
                    page.access = access.map(kept);
                    (page, young)
                })
            })
            .collect()
    }

    /// Reads beyond half of the instance stop read-ahead, and so do two kinds of page.
    fn stopped(&self) -> bool {
        self.pending_reads > self.size_pages / 2
            || model::read_ahead::never_starts((self.page.space, self.page.page_no), 16_384)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn linear_starts_where_the_model_does(case in cases()) {
        let links = Links::sequential(case.page);
        let ours = read_ahead::linear(&case.context(false), case.page, links, |p| case.view(p));
        let pages = case.model_pages();
        let area = case.area();
        let look = |no: u32| pages[(no % area) as usize].as_ref().map(|(page, _)| page);
        let file = case.file_pages.unwrap_or(u32::MAX);
        let no = case.page.page_no;
        let expected = if case.stopped() {
            None
        } else {
            model::read_ahead::linear(no, area, case.threshold, file, look)
        };
        prop_assert_eq!(ours.map(|a| a.first), expected);
        if let Some(ours) = ours {
            prop_assert_eq!((ours.space, ours.len_pages()), (case.page.space, area));
        }
    }

    #[test]
    fn random_starts_where_the_model_does(case in cases()) {
        // Enough to see both answers: the border is at 13 of 64.
        let mut case = case;
        for i in 0..case.view.len() {
            if i % 4 != 0 && i > 2 {
                case.view[i] = None;
            }
        }
        let ours = read_ahead::random(&case.context(true), case.page, |p| case.view(p));
        let pages = case.model_pages();
        let (area, no) = (case.area(), case.page.page_no);
        let low = no / area * area;
        let high = (low + area).min(case.file_pages.unwrap_or(u32::MAX));
        let in_file = (high - low) as usize;
        let seen: Vec<Option<(&Page, bool)>> =
            pages.iter().take(in_file).map(|p| p.as_ref().map(|(page, young)| (page, *young))).collect();
        let starts = !case.stopped() && model::read_ahead::random(&seen, area);
        prop_assert_eq!(ours.map(|a| (a.first, a.end)), starts.then_some((low, high)));
        prop_assert_eq!(read_ahead::random(&case.context(false), case.page, |p| case.view(p)), None);
    }

    #[test]
    fn an_area_is_the_models(size in prop_oneof![0..3000u64, 0..1_000_000u64]) {
        prop_assert_eq!(area_pages(size), model::read_ahead::area(size as usize));
    }
}

/// The generator above reaches both answers, in both directions; the test would else prove nothing.
#[test]
fn a_perfect_scan_goes_on_in_both_directions() {
    for (page_no, rising, expected) in [(127, true, Some(128)), (64, false, Some(0))] {
        let view = |page: PageId| {
            let at = if rising { page.page_no } else { 1000 - page.page_no };
            let first_access = Some(Time::from_millis(u64::from(at)));
            Some(AreaPage { first_access, young_enough: true })
        };
        let context = ReadAheadContext {
            settings: ReadAheadSettings::default(),
            target: Variant::Mysql84.rules().linear_target,
            resolution: TimeResolution::Millis,
            size_pages: 8192,
            pending_reads: 0,
            file_pages: Some(192),
            page_size_bytes: 16_384,
        };
        let page = PageId::new(1, page_no);
        let area = read_ahead::linear(&context, page, Links::sequential(page), view);
        assert_eq!(area.map(|a| a.first), expected);
    }
}

//! Repeats, and what is said of them: the median, the extremes, and ratios between things measured side by side.

use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Figures of one thing, one for each repeat.
#[derive(Clone, Debug)]
pub(crate) struct Figures(Vec<f64>);

impl Figures {
    /// Takes at least one figure.
    pub(crate) fn new(figures: Vec<f64>) -> Figures {
        assert!(!figures.is_empty(), "something was measured");
        Figures(figures)
    }

    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        if sorted.len() % 2 == 1 {
            sorted[middle]
        } else {
            f64::midpoint(sorted[middle - 1], sorted[middle])
        }
    }

    pub(crate) fn least(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub(crate) fn most(&self) -> f64 {
        self.0.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// The ratio to `other`, repeat by repeat: what slows the whole machine for a while slows both.
    pub(crate) fn ratio_to(&self, other: &Figures) -> Figures {
        Figures::new(self.0.iter().zip(&other.0).map(|(ours, theirs)| ours / theirs).collect())
    }

    /// The difference to `other`, repeat by repeat.
    pub(crate) fn minus(&self, other: &Figures) -> Figures {
        Figures::new(self.0.iter().zip(&other.0).map(|(ours, theirs)| ours - theirs).collect())
    }

    /// The figures turned into something else.
    pub(crate) fn map(&self, turn: impl Fn(f64) -> f64) -> Figures {
        Figures(self.0.iter().copied().map(turn).collect())
    }
}

/// Measures things in turn, A B A B, so that each repeat of one has a repeat of the other within seconds.
pub(crate) fn in_turn<const N: usize>(
    repeats: usize,
    mut things: [&mut dyn FnMut() -> f64; N],
) -> [Figures; N] {
    let mut figures = [const { Vec::new() }; N];
    for _ in 0..repeats {
        for (thing, figures) in things.iter_mut().zip(&mut figures) {
            figures.push(thing());
        }
    }
    figures.map(Figures::new)
}

/// Returns how much of the processor `work` took: what other programs take meanwhile does not count.
pub(crate) fn processor_time(work: impl FnOnce()) -> Duration {
    let start = thread_clock();
    work();
    thread_clock().saturating_sub(start)
}

fn thread_clock() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    // A thread's time counts from its start: neither part is negative.
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// Runs `work` in `threads` threads that start together, and returns how long it took until the last had ended.
/// Each is told its number.
pub(crate) fn together(threads: usize, work: impl Fn(usize) + Sync) -> Duration {
    let barrier = Barrier::new(threads);
    let spans: Vec<(Instant, Instant)> = std::thread::scope(|scope| {
        let run = |number| {
            barrier.wait();
            let start = Instant::now();
            work(number);
            (start, Instant::now())
        };
        let handles: Vec<_> = (0..threads).map(|number| scope.spawn(move || run(number))).collect();
        handles.into_iter().filter_map(|handle| handle.join().ok()).collect()
    });
    assert_eq!(spans.len(), threads, "no thread has panicked");
    let first = spans.iter().map(|span| span.0).min();
    let last = spans.iter().map(|span| span.1).max();
    first.zip(last).map_or(Duration::ZERO, |(first, last)| last - first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_the_middle_and_a_ratio_goes_by_repeats() {
        let ours = Figures::new(vec![1.0, 30.0, 4.0]);
        let theirs = Figures::new(vec![2.0, 60.0, 4.0]);
        assert_eq!((ours.median(), ours.least(), ours.most()), (4.0, 1.0, 30.0));
        assert_eq!(ours.ratio_to(&theirs).median(), 0.5);
        assert_eq!(Figures::new(vec![4.0, 1.0]).median(), 2.5);
    }

    #[test]
    fn things_are_measured_in_turn() {
        let order = std::cell::RefCell::new(String::new());
        let push = |name, figure| {
            order.borrow_mut().push(name);
            figure
        };
        let figures = in_turn(2, [&mut || push('a', 1.0), &mut || push('b', 2.0)]);
        assert_eq!(*order.borrow(), "abab");
        assert_eq!(figures.map(|figures| figures.median()), [1.0, 2.0]);
    }
}

//! One watched stretch of time, gathered from its records.

use innopool_policy::{PageId, Time};
use innopool_recording::{Batch, CounterSample, Counters, Event, Record, WindowStart};

/// A window in memory.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// Microseconds since 1970.
    pub(crate) unix_us: u64,
    /// The counters at its start.
    pub(crate) first: Counters,
    /// The counters at its end, or the last that were seen.
    pub(crate) last: Counters,
    /// Everything between.
    pub(crate) samples: Vec<CounterSample>,
    /// How long it was watched.
    pub(crate) duration: Time,
    /// By instance, hottest first.
    pub(crate) residents: Vec<Vec<PageId>>,
    /// In order of time.
    pub(crate) events: Vec<Event>,
    /// Events that were missed.
    pub(crate) lost_events: u64,
    /// Whether its end is in the recording.
    pub(crate) complete: bool,
}

impl Window {
    pub(crate) fn begin(start: WindowStart) -> Window {
        Window {
            unix_us: start.unix_us,
            last: start.counters.clone(),
            first: start.counters,
            samples: Vec::new(),
            duration: Time::from_micros(0),
            residents: Vec::new(),
            events: Vec::new(),
            lost_events: 0,
            complete: false,
        }
    }

    /// A stretch of time between two moments, in microseconds since 1970, with nothing in it.
    pub(crate) fn begin_at(from_unix_us: u64, to_unix_us: u64) -> Window {
        let nothing = WindowStart {
            unix_us: from_unix_us,
            counters: Counters::default(),
            has_residents: false,
        };
        let duration = Time::from_micros(to_unix_us.saturating_sub(from_unix_us));
        Window { duration, ..Window::begin(nothing) }
    }

    /// The window as it is, but for its pages and events.
    pub(crate) fn clone_without_pages(&self) -> Window {
        Window {
            unix_us: self.unix_us,
            first: self.first.clone(),
            last: self.last.clone(),
            samples: self.samples.clone(),
            duration: self.duration,
            residents: Vec::new(),
            events: Vec::new(),
            lost_events: self.lost_events,
            complete: self.complete,
        }
    }

    /// Adds what belongs to the window; its start does not.
    pub(crate) fn add(&mut self, batch: Batch<'_>) {
        match batch {
            Batch::Events(events) => {
                self.events.extend_from_slice(events);
                self.lasts(events.last().map_or(self.duration, |event| event.time));
            }
            Batch::Record(record) => self.add_record(record),
        }
    }

    fn add_record(&mut self, record: Record) {
        match record {
            Record::WindowStart(_) => {}
            Record::Resident { instance, pages } => {
                let instance = instance as usize;
                if self.residents.len() <= instance {
                    self.residents.resize_with(instance + 1, Vec::new);
                }
                self.residents[instance].extend(pages);
            }
            Record::Event(event) => {
                self.lasts(event.time);
                self.events.push(event);
            }
            Record::Sample(sample) => {
                self.lasts(sample.time());
                self.last = sample.counters.clone();
                self.samples.push(sample);
            }
            Record::WindowEnd(end) => {
                self.lasts(Time::from_micros(end.time_us));
                self.last = end.counters;
                self.lost_events = end.lost_events;
                self.complete = true;
            }
        }
    }

    fn lasts(&mut self, until: Time) {
        self.duration = self.duration.max(until);
    }

    pub(crate) fn seconds(&self) -> f64 {
        seconds(self.duration)
    }

    /// How much a counter rose; `None` where it was not told or the server was started anew.
    pub(crate) fn rise(&self, counter: impl Fn(&Counters) -> Option<u64>) -> Option<u64> {
        counter(&self.last)?.checked_sub(counter(&self.first)?)
    }

    /// The mean of a gauge over all looks at it.
    pub(crate) fn mean(&self, gauge: impl Fn(&Counters) -> Option<u64>) -> Option<f64> {
        let looks = || {
            let between = self.samples.iter().map(|sample| &sample.counters);
            std::iter::once(&self.first)
                .chain(between)
                .chain(std::iter::once(&self.last))
                .filter_map(&gauge)
        };
        let number = looks().count();
        (number > 0).then(|| looks().map(|value| value as f64).sum::<f64>() / number as f64)
    }

    pub(crate) fn resident_pages(&self) -> u64 {
        self.residents.iter().map(|list| list.len() as u64).sum()
    }
}

pub(crate) fn seconds(time: Time) -> f64 {
    time.micros() as f64 / 1e6
}

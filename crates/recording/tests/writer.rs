//! What the writer refuses, what it mends, and when it writes.

#![allow(clippy::unwrap_used, reason = "a test may end by panicking")]

mod common;

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

use common::{event, provenance, read, small};
use innopool_policy::page::PageId;
use innopool_recording::{
    Ending, EventKind, Existing, OnDamage, ReadFault, Record, RecordReader, RecordWriter,
    WindowStart, WriteError, create, open,
};

/// A disk with room for so many bytes, shared so that it outlives its writer.
#[derive(Clone, Default)]
struct Disk {
    bytes: Rc<RefCell<Vec<u8>>>,
    room: usize,
}

impl Disk {
    fn of(room: usize) -> Disk {
        Disk { room, ..Disk::default() }
    }
}

impl Write for Disk {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let mut bytes = self.bytes.borrow_mut();
        let count = buffer.len().min(self.room - bytes.len());
        if count == 0 && !buffer.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        bytes.extend_from_slice(&buffer[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn start() -> WindowStart {
    WindowStart { unix_us: 0, counters: Default::default(), has_residents: false }
}

fn begun() -> RecordWriter<Vec<u8>> {
    let mut writer = RecordWriter::new(Vec::new(), &provenance()).unwrap();
    writer.window_start(&start()).unwrap();
    writer
}

#[test]
fn what_was_written_before_the_disk_was_full_can_be_read() {
    let disk = Disk::of(100_000);
    let mut writer = RecordWriter::new(disk.clone(), &provenance()).unwrap();
    writer.window_start(&start()).unwrap();
    let error = (0..1_000_000)
        .find_map(|n| writer.event(&event(n.into(), 1, n, EventKind::DemandRead)).err())
        .unwrap();
    let WriteError::Io { events, at_byte, .. } = &error else { panic!("{error}") };
    assert!(error.to_string().contains("cannot write to the recording at byte"), "{error}");
    let (events, at_byte) = (*events, *at_byte);
    assert!(events > 10_000, "{events}");
    // Nothing more is written, which would follow half a block.
    let again = writer.flush().and_then(|()| writer.sample(&sample())).unwrap_err();
    assert!(matches!(again, WriteError::Failed { .. }), "{again}");
    assert_eq!(disk.bytes.borrow().len(), 100_000);
    let read = read(&disk.bytes.borrow(), OnDamage::Refuse).unwrap();
    assert_eq!(read.records.len() as u64, 1 + events);
    assert_eq!(read.ending, Some(Ending::CutOff { at_byte }));
}

fn sample() -> innopool_recording::CounterSample {
    innopool_recording::CounterSample { time_us: 0, counters: Default::default() }
}

#[test]
fn a_tick_writes_what_has_waited_for_a_second() {
    let disk = Disk::of(usize::MAX);
    let mut writer = RecordWriter::new(disk.clone(), &provenance()).unwrap();
    writer.window_start(&start()).unwrap();
    let events =
        |disk: &Disk| read(&disk.bytes.borrow(), OnDamage::Refuse).unwrap().records.len() - 1;
    let begin = Instant::now();
    writer.tick(begin).unwrap();
    writer.event(&event(1, 1, 1, EventKind::DemandRead)).unwrap();
    writer.tick(begin + Duration::from_millis(999)).unwrap();
    assert_eq!(events(&disk), 0);
    writer.tick(begin + Duration::from_millis(1000)).unwrap();
    assert_eq!(events(&disk), 1);
    writer.event(&event(2, 1, 1, EventKind::DemandRead)).unwrap();
    writer.tick(begin + Duration::from_millis(1999)).unwrap();
    assert_eq!(events(&disk), 1);
    writer.tick(begin + Duration::from_millis(2000)).unwrap();
    assert_eq!(events(&disk), 2);
    // A window without its end, and a file without its: what a killed recorder leaves.
    let read = read(&disk.bytes.borrow(), OnDamage::Refuse).unwrap();
    assert!(matches!(read.ending, Some(Ending::CutOff { .. })));
}

#[test]
fn times_that_run_back_a_little_are_held_and_counted() {
    let mut writer = begun();
    for time in [5_000_000, 4_000_000, 4_999_999, 5_000_001] {
        writer.event(&event(time, 1, 1, EventKind::MadeYoung)).unwrap();
    }
    assert_eq!(writer.clamped_times(), 2);
    let error = writer.event(&event(4_000_000, 1, 1, EventKind::MadeYoung)).unwrap_err();
    assert!(matches!(error, WriteError::Backwards { time_us: 4_000_000, last_us: 5_000_001 }));
    writer.window_end(&end()).unwrap();
    // A window's time begins anew.
    writer.window_start(&start()).unwrap();
    writer.event(&event(0, 1, 1, EventKind::MadeYoung)).unwrap();
    writer.window_end(&end()).unwrap();
    let records = read(&writer.finish().unwrap(), OnDamage::Refuse).unwrap().records;
    let times: Vec<u64> = records
        .iter()
        .filter_map(|record| match record {
            Record::Event(event) => Some(event.time.micros()),
            _ => None,
        })
        .collect();
    assert_eq!(times, [5_000_000, 5_000_000, 5_000_000, 5_000_001, 0]);
}

fn end() -> innopool_recording::WindowEnd {
    let Some(Record::WindowEnd(end)) = small().pop() else { panic!("no end") };
    end
}

#[test]
fn records_out_of_place_are_refused_and_change_nothing() {
    let mut writer = RecordWriter::new(Vec::new(), &provenance()).unwrap();
    let read_event = event(1, 1, 1, EventKind::DemandRead);
    let pages = [PageId::new(1, 1)];
    assert!(writer.event(&read_event).is_err(), "an event outside a window");
    assert!(writer.sample(&sample()).is_err());
    assert!(writer.lost(1).is_err());
    assert!(writer.resident(0, &pages).is_err());
    assert!(writer.window_end(&end()).is_err());
    writer.window_start(&start()).unwrap();
    assert!(writer.window_start(&start()).is_err());
    writer.resident(0, &pages).unwrap();
    writer.event(&read_event).unwrap();
    let error = writer.resident(0, &pages).unwrap_err();
    assert!(error.to_string().contains("resident pages anywhere but"), "{error}");
    writer.window_end(&end()).unwrap();
    assert!(writer.event(&read_event).is_err());
    let records = read(&writer.finish().unwrap(), OnDamage::Refuse).unwrap().records;
    assert_eq!(records.len(), 4);
    assert!(begun().finish().is_err(), "the window has not ended");
}

#[test]
fn lost_events_are_known_without_the_end_of_the_window() {
    let mut writer = begun();
    writer.event(&event(1, 1, 1, EventKind::DemandRead)).unwrap();
    writer.flush().unwrap();
    writer.lost(40).unwrap();
    writer.lost(2).unwrap();
    writer.event(&event(2, 1, 1, EventKind::DemandRead)).unwrap();
    writer.window_end(&end()).unwrap();
    let bytes = writer.finish().unwrap();
    let mut reader = RecordReader::new(&bytes[..]).unwrap();
    let mut lost = Vec::new();
    while reader.next().unwrap().is_some() {
        lost.push(reader.lost_events());
    }
    assert_eq!(lost, [0, 0, 42, 42]);
}

#[test]
fn a_provenance_that_cannot_be_is_refused() {
    for rate in [0.0, -0.5, 1.5, f64::NAN] {
        let mut wrong = provenance();
        wrong.sampling.rate = rate;
        assert!(RecordWriter::new(Vec::new(), &wrong).is_err(), "{rate}");
    }
    let mut wrong = provenance();
    wrong.pool.old_blocks_pct = f64::INFINITY;
    assert!(RecordWriter::new(Vec::new(), &wrong).is_err());
}

#[test]
fn a_new_file_is_its_owners_and_an_old_one_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("today.ipr");
    create(&path, Existing::Keep, &provenance()).unwrap().finish().unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let old = std::fs::read(&path).unwrap();
    let error = create(&path, Existing::Keep, &provenance()).err().unwrap();
    assert!(matches!(error, WriteError::Exists { .. }), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), old);
    let mut writer = create(&path, Existing::Replace, &provenance()).unwrap();
    writer.window_start(&start()).unwrap();
    writer.window_end(&end()).unwrap();
    writer.finish().unwrap();
    let mut reader = open(&path).unwrap();
    assert_eq!(reader.next().unwrap(), Some(Record::WindowStart(start())));
    let error = create(directory.path(), Existing::Replace, &provenance()).err().unwrap();
    assert!(error.to_string().contains("no regular file"), "{error}");
}

#[test]
fn what_is_no_recording_is_said_to_be_none() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.txt");
    let error = open(&path).err().unwrap();
    assert!(matches!(error.fault, ReadFault::Open { .. }), "{error}");
    std::fs::write(&path, "0,1\n0,2\n0,3\n0,4\n0,5\n").unwrap();
    let error = open(&path).err().unwrap();
    assert!(error.to_string().ends_with("notes.txt: not a recording of innopool"), "{error}");
}

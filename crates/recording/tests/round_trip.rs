//! What is written comes back.

#![allow(clippy::unwrap_used, reason = "a test may end by panicking")]

mod common;

use common::{event, provenance, push, read, recording, small, write};
use innopool_recording::{
    Batch, Ending, EventKind, OnDamage, Record, RecordReader, RecordWriter, WindowStart,
};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn any_recording_comes_back(records in recording()) {
        let bytes = write(&records);
        let read = read(&bytes, OnDamage::Refuse).map_err(|(_, error)| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(read.records, records);
        prop_assert_eq!(read.ending, Some(Ending::Complete));
    }

    #[test]
    fn batches_have_what_single_records_have(records in recording()) {
        let bytes = write(&records);
        let mut reader = RecordReader::new(&bytes[..]).unwrap();
        let mut read = Vec::new();
        while let Some(batch) = reader.next_batch().unwrap() {
            match batch {
                Batch::Events(events) => {
                    prop_assert!(!events.is_empty());
                    read.extend(events.iter().copied().map(Record::Event));
                }
                Batch::Record(record) => push(&mut read, record),
            }
        }
        prop_assert_eq!(read, records);
    }
}

#[test]
fn the_two_ways_of_reading_may_be_mixed() {
    let records = small();
    let bytes = write(&records);
    let mut reader = RecordReader::new(&bytes[..]).unwrap();
    for record in &records[..3] {
        assert_eq!(reader.next().unwrap().as_ref(), Some(record));
    }
    let expected = event(10, 5, 300, EventKind::MadeYoung);
    assert_eq!(reader.next_batch().unwrap(), Some(Batch::Events(&[expected])));
    assert_eq!(reader.next().unwrap().as_ref(), Some(&records[4]));
}

#[test]
fn the_provenance_comes_back() {
    let bytes = write(&[]);
    assert_eq!(*RecordReader::new(&bytes[..]).unwrap().provenance(), provenance());
}

#[test]
fn a_recording_of_nothing_is_complete() {
    let read = read(&write(&[]), OnDamage::Refuse).unwrap();
    assert_eq!((read.records, read.ending), (vec![], Some(Ending::Complete)));
}

#[test]
fn more_tablespaces_than_a_dictionary_has_come_back() {
    let mut records = vec![Record::WindowStart(WindowStart {
        unix_us: 0,
        counters: Default::default(),
        has_residents: false,
    })];
    // Each is left and found again, once while the dictionary knows it and once when it was pushed out.
    for round in 0..3 {
        for space in 0..700 {
            records.push(Record::Event(event(round, space, 9, EventKind::Created)));
            records.push(Record::Event(event(round, space / 2, space, EventKind::MadeYoung)));
        }
    }
    let mut writer = RecordWriter::new(Vec::new(), &provenance()).unwrap();
    records.iter().for_each(|record| writer.record(record).unwrap());
    writer.flush().unwrap();
    assert_eq!(writer.events(), 4200);
    let bytes = writer.written_bytes();
    drop(writer);
    assert!(bytes < 4200 * 8, "{bytes}");
    let mut writer = RecordWriter::new(Vec::new(), &provenance()).unwrap();
    records.iter().for_each(|record| writer.record(record).unwrap());
    records.push(small().pop().unwrap());
    writer.record(records.last().unwrap()).unwrap();
    let bytes = writer.finish().unwrap();
    assert_eq!(read(&bytes, OnDamage::Refuse).unwrap().records, records);
}

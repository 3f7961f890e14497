//! Files that were cut off, damaged, or written by somebody else.

#![allow(clippy::unwrap_used, reason = "a test may end by panicking")]

mod common;

use common::{read, small, write};
use innopool_recording::{Ending, OnDamage, ReadFault, Record};

/// The whole blocks of a file, by where they end, with how many records had been read there.
fn ends(bytes: &[u8], records: &[Record]) -> Vec<(usize, usize)> {
    let mut ends = Vec::new();
    let mut at = 16;
    while at < bytes.len() {
        let length = u32::from_le_bytes(bytes[at + 8..at + 12].try_into().unwrap());
        at += 32 + length as usize;
        let so_far = match read(&bytes[..at], OnDamage::Refuse) {
            Ok(read) => read.records,
            Err((_, error)) => panic!("{error}"),
        };
        assert_eq!(so_far, records[..so_far.len()]);
        ends.push((at, so_far.len()));
    }
    ends
}

#[test]
fn a_file_cut_at_any_byte_gives_all_whole_blocks() {
    let records = small();
    let bytes = write(&records);
    let ends = ends(&bytes, &records);
    assert_eq!(ends.len(), 8, "provenance, start, residents, events, sample, events, end, end");
    assert_eq!(ends.last().unwrap().1, records.len());
    for length in 0..bytes.len() {
        let whole = ends.iter().rev().find(|(end, _)| *end <= length);
        for on_damage in [OnDamage::Refuse, OnDamage::Skip] {
            let read = read(&bytes[..length], on_damage);
            let Some(&(end, count)) = whole else {
                let (_, error) = read.unwrap_err();
                match error.fault {
                    ReadFault::Empty { bytes } => assert_eq!(bytes, length as u64),
                    ReadFault::NotARecording => assert_eq!(length, 0),
                    fault => panic!("{length}: {fault}"),
                }
                continue;
            };
            let read = read.unwrap();
            assert_eq!(read.records, records[..count], "cut at {length}");
            assert_eq!(read.ending, Some(Ending::CutOff { at_byte: end as u64 }));
            assert_eq!(read.skipped.bytes, 0);
        }
    }
}

#[test]
fn any_flipped_bit_is_found_and_named() {
    let records = small();
    let bytes = write(&records);
    let ends = ends(&bytes, &records);
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let (before, error) = read(&damaged, OnDamage::Refuse).unwrap_err();
        let block = ends.iter().take_while(|(end, _)| *end <= bit / 8).last();
        let (start, count) = block.copied().unwrap_or((16, 0));
        match error.fault {
            ReadFault::HeaderDamaged => assert!(bit < 128),
            ReadFault::Damaged { at_byte, .. } => assert_eq!(at_byte, start as u64, "bit {bit}"),
            fault => panic!("bit {bit}: {fault}"),
        }
        assert_eq!(before, records[..count], "bit {bit}");
    }
}

#[test]
fn a_flipped_bit_can_be_skipped() {
    let records = small();
    let bytes = write(&records);
    let ends = ends(&bytes, &records);
    let (first, last) = (ends[0].0, bytes.len());
    for bit in first * 8..last * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let read = read(&damaged, OnDamage::Skip).unwrap();
        let block = ends.iter().position(|(end, _)| *end > bit / 8).unwrap();
        let expected: Vec<Record> = match block {
            // Without its start, nothing of the window can be used.
            1 => vec![],
            _ => {
                let mut expected = records.clone();
                expected.drain(ends[block - 1].1..ends[block].1);
                expected
            }
        };
        assert_eq!(read.records, expected, "bit {bit}");
        let events = |records: &[Record]| {
            records.iter().filter(|record| matches!(record, Record::Event(_))).count() as u64
        };
        assert_eq!(read.skipped.events, events(&records) - events(&expected), "bit {bit}");
        assert!(read.skipped.bytes >= (ends[block].0 - ends[block - 1].0) as u64);
        let is_last = block == ends.len() - 1;
        let cut = Ending::CutOff { at_byte: ends[block - 1].0 as u64 };
        assert_eq!(read.ending, Some(if is_last { cut } else { Ending::Complete }), "bit {bit}");
    }
}

#[test]
fn a_missing_block_is_found() {
    let records = small();
    let bytes = write(&records);
    let ends = ends(&bytes, &records);
    let mut shorter = bytes.clone();
    shorter.drain(ends[2].0..ends[3].0);
    let (_, error) = read(&shorter, OnDamage::Refuse).unwrap_err();
    assert!(error.to_string().contains("events are missing before it"), "{error}");
    let mut longer = bytes.clone();
    longer.splice(ends[3].0..ends[3].0, bytes[ends[2].0..ends[3].0].iter().copied());
    let (_, error) = read(&longer, OnDamage::Refuse).unwrap_err();
    assert!(error.to_string().contains("events are missing before it"), "{error}");
}

//! The benchmarks of `innopool-buf`: `cargo xtask bench pool` builds this program and runs it.
//!
//! ```text
//! innopool-bench pool DIRECTORY [--short] [ROWS...]    the table; ROWS of hot wide misses loads scan instances memory
//! innopool-bench hits COUNT                            so many hits, for a tool that counts instructions
//! innopool-bench fill BYTES                            fills a pool and says what is resident, for the memory rows
//! ```

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

mod contention;
mod data;
mod hits;
mod huge;
mod loads;
mod machine;
mod made;
mod measure;
mod memory;
mod misses;
mod plain;
mod random;
mod report;
mod scan;
mod settings;

use data::DataFile;
use report::Section;
use settings::{Failure, Settings};

const ROWS: [&str; 7] = ["hot", "wide", "misses", "loads", "scan", "instances", "memory"];

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["hits", count] => hits::count_instructions(count.parse()?),
        ["fill", bytes] => memory::fill(bytes.parse()?),
        ["pool", directory, ref rest @ ..] => {
            let (flags, rows): (Vec<&str>, Vec<&str>) =
                rest.iter().partition(|argument| argument.starts_with("--"));
            let known = flags.iter().all(|&flag| flag == "--short")
                && rows.iter().all(|row| ROWS.contains(row));
            if !known {
                return Err(format!("the rows are: {}; the flag is --short", ROWS.join(" ")).into());
            }
            pool(&Settings::new(!flags.is_empty(), directory.into()), &rows)
        }
        _ => Err("usage: innopool-bench pool DIRECTORY [--short] [ROWS...]".into()),
    }
}

/// Measures the wanted rows, or all, and prints each section when it is done.
fn pool(settings: &Settings, wanted: &[&str]) -> Result<(), Failure> {
    std::fs::create_dir_all(&settings.directory)?;
    println!("Benchmarks of the buffer pool\n\n{}", machine::describe(settings));
    for remark in &settings.remarks {
        println!("  {remark}\n");
    }
    let is_wanted = |row: &&str| wanted.is_empty() || wanted.contains(row);
    let mut made = None;
    for row in ROWS.iter().copied().filter(is_wanted) {
        let sections = match row {
            "hot" => hits::hot(settings),
            "wide" => hits::wide(settings),
            "misses" => misses::random(settings, data(&mut made, settings)?),
            "loads" => loads::both(settings, data(&mut made, settings)?),
            "scan" => scan::resistance(settings),
            "instances" => contention::instances(settings),
            _ => memory::beyond(settings),
        }?;
        sections.iter().map(Section::text).for_each(|text| println!("{text}"));
        println!("  (load {} after these)\n", machine::load());
    }
    Ok(())
}

/// The data file, made for the first rows that want it.
fn data<'a>(made: &'a mut Option<DataFile>, settings: &Settings) -> Result<&'a DataFile, Failure> {
    let data = match made.take() {
        Some(data) => data,
        None => DataFile::create(settings)?,
    };
    Ok(made.insert(data))
}

//! Where exported functions are in a program: just enough of ELF for that.
//!
//! A uprobe is placed at an offset in the *file*, while a symbol has an address in memory; the
//! segments of the program header translate the one into the other.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};

const PT_LOAD: u32 = 1;
const SHT_DYNSYM: u32 = 11;

/// The bytes of a 64-bit little-endian program.
struct Elf(Vec<u8>);

/// A part of the file that is mapped to an address.
struct Segment {
    offset: u64,
    address: u64,
    bytes: u64,
}

/// Returns the offset in the file of each exported function, in the order of `names`.
///
/// # Errors
///
/// When the file is no 64-bit little-endian ELF program, or lacks one of the functions.
pub(crate) fn function_offsets(program: &Path, names: &[&str]) -> Result<Vec<u64>> {
    let bytes = fs::read(program).with_context(|| format!("cannot read {}", program.display()))?;
    offsets_in(Elf(bytes), names).with_context(|| format!("in the program {}", program.display()))
}

fn offsets_in(elf: Elf, names: &[&str]) -> Result<Vec<u64>> {
    if elf.0.get(..6) != Some(b"\x7fELF\x02\x01") {
        bail!("not a 64-bit little-endian ELF file");
    }
    let segments = elf.segments()?;
    let addresses = elf.exported(names)?;
    let missing: Vec<&str> =
        names.iter().filter(|name| !addresses.contains_key(**name)).copied().collect();
    if !missing.is_empty() {
        bail!("it does not export {}", missing.join(", "));
    }
    names
        .iter()
        .map(|name| {
            let address = addresses[name];
            segments
                .iter()
                .find(|segment| {
                    address >= segment.address && address - segment.address < segment.bytes
                })
                .map(|segment| address - segment.address + segment.offset)
                .ok_or_else(|| anyhow!("no segment holds {name} at {address:#x}"))
        })
        .collect()
}

impl Elf {
    fn array<const N: usize>(&self, at: u64) -> Result<[u8; N]> {
        usize::try_from(at)
            .ok()
            .and_then(|at| self.0.get(at..at.checked_add(N)?)?.try_into().ok())
            .ok_or_else(|| anyhow!("the file ends before offset {at:#x}"))
    }

    fn u16(&self, at: u64) -> Result<u64> {
        Ok(u16::from_le_bytes(self.array(at)?).into())
    }

    fn u32(&self, at: u64) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(at)?))
    }

    fn u64(&self, at: u64) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array(at)?))
    }

    /// Returns the offsets of a table's entries, from the header fields that describe the table.
    fn table(&self, start_at: u64, size_at: u64, count_at: u64) -> Result<Vec<u64>> {
        let (start, size) = (self.u64(start_at)?, self.u16(size_at)?);
        let count = self.u16(count_at)?;
        Ok((0..count).map(|index| start.saturating_add(index * size)).collect())
    }

    fn segments(&self) -> Result<Vec<Segment>> {
        let mut segments = Vec::new();
        for at in self.table(0x20, 0x36, 0x38)? {
            if self.u32(at)? == PT_LOAD {
                segments.push(Segment {
                    offset: self.u64(at + 0x08)?,
                    address: self.u64(at + 0x10)?,
                    bytes: self.u64(at + 0x20)?,
                });
            }
        }
        Ok(segments)
    }

    /// Returns the addresses of those names that the table of dynamic symbols defines.
    fn exported<'a>(&self, names: &[&'a str]) -> Result<HashMap<&'a str, u64>> {
        let sections = self.table(0x28, 0x3a, 0x3c)?;
        let mut found = HashMap::new();
        for &at in &sections {
            if self.u32(at + 0x04)? != SHT_DYNSYM {
                continue;
            }
            let (start, bytes, entry_bytes) =
                (self.u64(at + 0x18)?, self.u64(at + 0x20)?, self.u64(at + 0x38)?);
            let strings = usize::try_from(self.u32(at + 0x28)?)
                .ok()
                .and_then(|link| sections.get(link))
                .context("a symbol table without names")?;
            let strings = self.u64(strings + 0x18)?;
            if entry_bytes == 0 {
                bail!("a symbol table with entries of no size");
            }
            for symbol in (0..bytes / entry_bytes).map(|index| start + index * entry_bytes) {
                let is_defined = self.u16(symbol + 6)? != 0;
                let name_at = strings.saturating_add(self.u32(symbol)?.into());
                if let Some(name) = names.iter().find(|name| self.name_is(name_at, name))
                    && is_defined
                {
                    found.insert(*name, self.u64(symbol + 8)?);
                }
            }
        }
        Ok(found)
    }

    fn name_is(&self, at: u64, name: &str) -> bool {
        let here = usize::try_from(at).ok().and_then(|at| self.0.get(at..));
        here.and_then(|bytes| bytes.strip_prefix(name.as_bytes()))
            .is_some_and(|rest| rest.first() == Some(&0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_of_this_systems_c_library_is_found_where_it_is_mapped() {
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let library = maps.lines().find_map(|line| {
            let path = line.split_whitespace().nth(5)?;
            path.contains("/libc.so").then(|| path.to_owned())
        });
        let Some(library) = library else { return };
        let offsets = function_offsets(Path::new(&library), &["malloc", "free"]).unwrap();
        // The mapping that may be executed must hold both.
        for offset in offsets {
            let held = maps.lines().filter(|line| line.contains(&library)).any(|line| {
                let words: Vec<&str> = line.split_whitespace().collect();
                let hex = |text: &str| u64::from_str_radix(text, 16).unwrap();
                let (from, to) = words[0].split_once('-').unwrap();
                let start = hex(words[2]);
                words[1].contains('x') && (start..start + hex(to) - hex(from)).contains(&offset)
            });
            assert!(held, "{offset:#x}");
        }
    }

    #[test]
    fn a_missing_function_is_named_and_other_files_are_refused() {
        let myself = std::env::current_exe().unwrap();
        let error = function_offsets(&myself, &["no_such_function"]).unwrap_err();
        assert!(format!("{error:#}").contains("no_such_function"), "{error:#}");
        for bytes in [&b""[..], b"#!/bin/sh\n", b"\x7fELF\x02\x01", b"\x7fELF\x01\x01\x01"] {
            assert!(offsets_in(Elf(bytes.to_vec()), &["f"]).is_err());
        }
    }
}

//! Whole pages by positioned reads and writes, whatever the kernel hands over at a time.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::unix::fs::FileExt;

use super::super::{Fault, Kind};
use super::run::Run;
use super::space::SpaceFile;

/// Reads page `page_no` into `frame`, which [`SpaceFile::check`] has let pass.
pub(super) fn read_page(space: &SpaceFile, page_no: u32, frame: &mut [u8]) -> Result<(), Fault> {
    let offset = space.page_size().offset_bytes(page_no);
    let alignment = space.mode().offset_alignment_bytes;
    let page_bytes = frame.len();
    let mut done = 0;
    while done < page_bytes {
        match space.file().read_at(&mut frame[done..], offset + done as u64) {
            Ok(bytes) => {
                done += bytes;
                // A direct read that stops within a sector has met the end of the file.
                if bytes == 0 || !done.is_multiple_of(alignment) {
                    return Err(Fault::ShortRead { read_bytes: done, page_bytes });
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Writes page `page_no` from `frame`, which [`SpaceFile::check`] has let pass.
pub(super) fn write_page(space: &SpaceFile, page_no: u32, frame: &[u8]) -> Result<(), Fault> {
    let offset = space.page_size().offset_bytes(page_no);
    let alignment = space.mode().offset_alignment_bytes;
    write_all(space.file(), frame, offset, alignment).map_err(Fault::from)
}

fn write_all(file: &File, bytes: &[u8], offset: u64, alignment: usize) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match file.write_at(&bytes[done..], offset + done as u64) {
            Ok(written) => match aligned_down(done + written, alignment) {
                next if next > done => done = next,
                _ => return Err(io::ErrorKind::WriteZero.into()),
            },
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// `bytes`, less what is beyond the last multiple of `alignment`.
pub(super) fn aligned_down(bytes: usize, alignment: usize) -> usize {
    bytes - bytes % alignment
}

/// Fills `bytes` bytes of `file` from `offset` on with zeroes, both multiples of 4096, for file systems without
/// `fallocate`.
pub(super) fn write_zeroes(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    const PIECE_BYTES: usize = 1 << 20;
    const ALIGNMENT_BYTES: usize = 1 << 16;
    let memory = vec![0; PIECE_BYTES + ALIGNMENT_BYTES];
    let start = memory.as_ptr().addr().next_multiple_of(ALIGNMENT_BYTES) - memory.as_ptr().addr();
    let zeroes = &memory[start..start + PIECE_BYTES];
    let mut done = 0;
    while done < bytes {
        let piece = usize::try_from(bytes - done).unwrap_or(usize::MAX).min(PIECE_BYTES);
        write_all(file, &zeroes[..piece], offset + done, 4096)?;
        done += piece as u64;
    }
    Ok(())
}

/// Transfers what the kernel takes of the rest of `run` in one call, and returns how many bytes that was.
pub(super) fn transfer(run: &mut Run) -> io::Result<usize> {
    let offset = run.offset_bytes();
    let skip = run.done_bytes();
    let (space, operations) = run.parts();
    match operations.first().map(|operation| operation.kind()) {
        None => Ok(0),
        Some(Kind::Read) => {
            let mut frames: Vec<IoSliceMut<'_>> = operations
                .iter_mut()
                .filter_map(|operation| operation.buffer_mut().map(IoSliceMut::new))
                .collect();
            let mut rest = &mut frames[..];
            IoSliceMut::advance_slices(&mut rest, skip);
            Ok(rustix::io::preadv(space.file(), rest, offset)?)
        }
        Some(Kind::Write) => {
            let mut frames: Vec<IoSlice<'_>> =
                operations.iter().map(|operation| IoSlice::new(operation.buffer())).collect();
            let mut rest = &mut frames[..];
            IoSlice::advance_slices(&mut rest, skip);
            Ok(rustix::io::pwritev(space.file(), rest, offset)?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeroes_replace_what_was_there_and_lengthen_the_file() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&[7; 8192], 0).unwrap();
        write_zeroes(&file, 4096, (1 << 20) + 4096).unwrap();
        assert_eq!(file.metadata().unwrap().len(), (1 << 20) + 8192);
        let mut bytes = vec![1; (1 << 20) + 8192];
        file.read_exact_at(&mut bytes, 0).unwrap();
        assert!(bytes[..4096].iter().all(|&byte| byte == 7));
        assert!(bytes[4096..].iter().all(|&byte| byte == 0));
    }
}

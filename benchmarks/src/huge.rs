//! Vectors in huge pages, which the pool has too: a comparator must not lose by how its memory is mapped.

#![allow(unsafe_code, reason = "advises the kernel on memory")]

/// An empty vector with room for `len` items.
pub(crate) fn with_capacity<T>(len: usize) -> Vec<T> {
    let vector: Vec<T> = Vec::with_capacity(len);
    advise(vector.as_ptr().cast(), vector.capacity() * size_of::<T>());
    vector
}

/// A vector of `len` zeroes, all of it touched.
pub(crate) fn zeroed<T: Copy + Default>(len: usize) -> Vec<T> {
    let mut vector = with_capacity(len);
    vector.resize(len, T::default());
    vector
}

/// A kernel that has no huge pages to give says no, and the figures are then those of small pages.
fn advise(start: *const u8, len_bytes: usize) {
    let page = rustix::param::page_size();
    let skip = start.align_offset(page).min(len_bytes);
    let start = start.wrapping_add(skip).cast_mut().cast();
    let advice = rustix::mm::Advice::LinuxHugepage;
    // SAFETY: the advice changes how the memory is mapped, never what it holds.
    let _ = unsafe { rustix::mm::madvise(start, (len_bytes - skip) / page * page, advice) };
}

//! The pool a server makes of a size somebody wrote. Sizes are rounded up to whole units of chunk
//! times instances, and how many instances and how large chunks are depends on flavour, version
//! and the size itself.

use crate::version::{Flavor, Server, Version};

const MIB: u64 = 1024 * 1024;
const GIB: u64 = 1024 * MIB;

/// Chunk size where none is set.
const DEFAULT_CHUNK_BYTES: u64 = 128 * MIB;

/// Instances of a pool of 1 GB or more, from MySQL 5.6 to 8.3, where none are set.
const DEFAULT_INSTANCES: u64 = 8;

/// Most instances of any server.
const INSTANCES_MAX: u64 = 64;

/// The first releases of each MariaDB series that sizes the pool in steps of 1 MB (MDEV-29445).
pub const MARIADB_WITHOUT_CHUNKS: [Version; 3] = [
    Version::new(10, 11, 12),
    Version::new(11, 4, 6),
    Version::new(11, 8, 2),
];

/// What a start with a given size gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EffectiveSize {
    /// Bytes of the pool.
    pub size_bytes: u64,
    /// Instances it has.
    pub instances: u64,
    /// Bytes of a chunk; where there are no chunks, of the smallest step.
    pub chunk_bytes: u64,
    /// Bytes the size is rounded up to.
    pub unit_bytes: u64,
}

/// The pool a start with `requested_bytes` gives, with the instances and chunk size that are set,
/// if they are.
///
/// An unknown server is taken for MySQL 5.7 to 8.0, whose rounding is the coarsest. `cpus` matters
/// from MySQL 8.4 on only; where unknown, one instance is assumed there.
/// Source: MySQL manual, "Configuring InnoDB buffer pool size"; MariaDB, `innodb_buffer_pool_size`.
pub fn effective_pool_size(
    requested_bytes: u64,
    instances: Option<u64>,
    chunk_bytes: Option<u64>,
    cpus: Option<u64>,
    server: &Server,
) -> EffectiveSize {
    let step = match scheme(server) {
        Scheme::Exact => {
            return exact(
                requested_bytes,
                instances_without_chunks(requested_bytes, instances, server),
            );
        }
        Scheme::Megabytes => return whole_units(requested_bytes, 1, MIB),
        Scheme::Chunks => DEFAULT_CHUNK_BYTES,
        Scheme::AutomaticChunks => (requested_bytes / 64).next_multiple_of(MIB).max(MIB),
    };
    let chunk = chunk_bytes
        .filter(|bytes| *bytes >= MIB)
        .unwrap_or(step)
        .min(1 << 50);
    let instances = instances_with_chunks(requested_bytes, instances, chunk, cpus, server);
    // A chunk never makes the pool larger than asked for by itself: it shrinks to fit.
    let chunk = if chunk.saturating_mul(instances) > requested_bytes {
        requested_bytes
            .div_ceil(instances)
            .max(1)
            .next_multiple_of(MIB)
    } else {
        chunk
    };
    whole_units(requested_bytes, instances, chunk)
}

/// How a server rounds.
enum Scheme {
    Exact,
    Chunks,
    AutomaticChunks,
    Megabytes,
}

fn scheme(server: &Server) -> Scheme {
    match server.flavor {
        Flavor::Mariadb if server.mariadb_has(&MARIADB_WITHOUT_CHUNKS) => Scheme::Megabytes,
        Flavor::Mariadb if server.at_least(10, 8, 0) => Scheme::AutomaticChunks,
        Flavor::Mariadb if server.below(10, 2, 2) => Scheme::Exact,
        Flavor::Mysql | Flavor::Percona if server.below(5, 7, 5) => Scheme::Exact,
        _ => Scheme::Chunks,
    }
}

fn exact(size_bytes: u64, instances: u64) -> EffectiveSize {
    EffectiveSize {
        size_bytes,
        instances,
        chunk_bytes: 1,
        unit_bytes: 1,
    }
}

fn whole_units(requested_bytes: u64, instances: u64, chunk_bytes: u64) -> EffectiveSize {
    let unit_bytes = chunk_bytes.saturating_mul(instances).max(1);
    let size_bytes = requested_bytes
        .max(1)
        .div_ceil(unit_bytes)
        .saturating_mul(unit_bytes);
    EffectiveSize {
        size_bytes,
        instances,
        chunk_bytes,
        unit_bytes,
    }
}

fn instances_without_chunks(requested_bytes: u64, set: Option<u64>, server: &Server) -> u64 {
    // 5.5 took what was set whatever the size; 5.6 wants 1 GB.
    let any_size = server.flavor.is_mysql_like() && server.below(5, 6, 0);
    match set {
        Some(set) if any_size || requested_bytes >= GIB => set.clamp(1, INSTANCES_MAX),
        None if !any_size && requested_bytes >= GIB => DEFAULT_INSTANCES,
        _ => 1,
    }
}

fn instances_with_chunks(
    requested_bytes: u64,
    set: Option<u64>,
    chunk_bytes: u64,
    cpus: Option<u64>,
    server: &Server,
) -> u64 {
    let one_pool = server.flavor == Flavor::Mariadb && server.at_least(10, 5, 0);
    if one_pool || requested_bytes < GIB {
        return 1;
    }
    if let Some(set) = set.filter(|set| *set > 0) {
        return set.min(INSTANCES_MAX);
    }
    if server.flavor.is_mysql_like() && server.at_least(8, 4, 0) {
        if requested_bytes <= GIB {
            return 1;
        }
        let by_size = requested_bytes / chunk_bytes.saturating_mul(2).max(1);
        return by_size.min(cpus.unwrap_or(0) / 4).clamp(1, INSTANCES_MAX);
    }
    DEFAULT_INSTANCES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effective(server: (&str, &str), size: u64, instances: Option<u64>) -> EffectiveSize {
        effective_pool_size(
            size,
            instances,
            None,
            Some(16),
            &Server::detect(server.0, server.1),
        )
    }

    const MYSQL57: (&str, &str) = ("5.7.21", "MySQL Community Server");

    #[test]
    fn sizes_above_a_gigabyte_jump_to_whole_units_of_eight_chunks() {
        let size = effective(MYSQL57, 1228 * MIB, None);
        assert_eq!(
            (size.size_bytes, size.instances, size.unit_bytes),
            (2 * GIB, 8, GIB)
        );
        assert_eq!(effective(MYSQL57, GIB, None).size_bytes, GIB);
        assert_eq!(effective(MYSQL57, GIB + 1, None).size_bytes, 2 * GIB);
        assert_eq!(
            effective(MYSQL57, 1228 * MIB, Some(1)).size_bytes,
            1280 * MIB
        );
    }

    #[test]
    fn many_instances_make_coarse_units() {
        assert_eq!(effective(MYSQL57, 3 * GIB, Some(16)).size_bytes, 4 * GIB);
        assert_eq!(
            effective(MYSQL57, 64 * GIB, Some(12)).size_bytes,
            64 * GIB + GIB / 2
        );
        // Chunks that would not fit shrink instead.
        let small = effective(MYSQL57, GIB, Some(16));
        assert_eq!((small.size_bytes, small.chunk_bytes), (GIB, 64 * MIB));
    }

    #[test]
    fn below_a_gigabyte_there_is_one_instance_and_the_chunk_shrinks_to_the_pool() {
        let size = effective(MYSQL57, 16 * MIB, Some(8));
        assert_eq!(
            (size.size_bytes, size.instances, size.chunk_bytes),
            (16 * MIB, 1, 16 * MIB)
        );
    }

    #[test]
    fn servers_without_chunks_take_the_size_as_written() {
        let size = effective(("5.6.51", "MySQL"), 64 * GIB, Some(12));
        assert_eq!((size.size_bytes, size.instances), (64 * GIB, 12));
        let size = effective(("10.11.19-MariaDB", ""), 1228 * MIB + 5, None);
        assert_eq!((size.size_bytes, size.instances), (1229 * MIB, 1));
    }

    #[test]
    fn mysql_84_counts_processors() {
        let size = effective(("8.4.3", "MySQL"), 8 * GIB, None);
        assert_eq!(size.instances, 4);
        assert_eq!(effective(("9.7.0", "MySQL"), GIB, None).instances, 1);
    }

    #[test]
    fn extremes_neither_overflow_nor_divide_by_zero() {
        for version in [
            "5.5.1",
            "5.7.5",
            "8.4.0",
            "10.4.1-MariaDB",
            "10.8.2-MariaDB",
            "11.8.3-MariaDB",
        ] {
            for size in [0, 1, u64::MAX] {
                let server = Server::detect(version, "");
                let size = effective_pool_size(size, Some(0), Some(u64::MAX), None, &server);
                assert!(size.unit_bytes > 0 && size.instances > 0);
            }
        }
    }
}

//! The pool a server makes of the size it is given. Servers round: to whole chunks in every
//! instance, or to a megabyte, depending on flavour and version. A size that is rounded up may be
//! more than the machine has, so it is worked out before it is proposed.

use crate::version::{Flavor, Server, Version};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Chunks are this large unless told otherwise, where they have a fixed size.
const DEFAULT_CHUNK_BYTES: u64 = 128 * MIB;

/// More instances than this no server makes.
const INSTANCES_MAX: u64 = 64;

/// The first releases of each MariaDB series whose pool has no chunks and is sized to the megabyte.
pub const MARIADB_WITHOUT_CHUNKS: [Version; 3] =
    [Version::new(10, 11, 12), Version::new(11, 4, 6), Version::new(11, 8, 2)];

/// What a server makes of the size it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EffectiveSize {
    /// The pool's size, bytes.
    pub size_bytes: u64,
    /// Its instances.
    pub instances: u64,
    /// Bytes of a chunk; where there are no chunks, of the smallest step.
    pub chunk_bytes: u64,
    /// The pool's size is a multiple of this many bytes.
    pub unit_bytes: u64,
}

/// Works out the pool that `server` makes of `requested_bytes`.
///
/// `instances` and `chunk_bytes` are as set; `None` or 0 leaves them to the server. `cpus` is the
/// number of logical processors, which the default number of instances depends on from MySQL 8.4 on;
/// where it is not known, one instance is assumed there. An unknown server is taken for MySQL 5.7
/// to 8.0, whose rounding is the coarsest.
///
/// A size that is no whole megabyte is first cut to its megabytes by MySQL 8.4 and later and by
/// MariaDB without chunks (seen on MySQL 9.7.4 and MariaDB 10.11.19). Older versions are taken to
/// round it up to the next unit, as their `SET` does.
pub fn effective_pool_size(
    requested_bytes: u64,
    instances: Option<u64>,
    chunk_bytes: Option<u64>,
    cpus: Option<u64>,
    server: &Server,
) -> EffectiveSize {
    let layout = layout(server);
    let size_bytes = if layout.whole_megabytes {
        (requested_bytes / MIB * MIB).max(MIB)
    } else {
        requested_bytes.max(MIB)
    };
    let set_chunk = given(chunk_bytes).map(|bytes| round_up(bytes, MIB));
    let chunk = match layout.chunks {
        Chunks::None => {
            let step = if layout.whole_megabytes { MIB } else { 1 };
            return EffectiveSize {
                size_bytes,
                instances: count_instances(&layout, size_bytes, step, given(instances), cpus),
                chunk_bytes: step,
                unit_bytes: step,
            };
        }
        Chunks::Fixed => set_chunk.unwrap_or(DEFAULT_CHUNK_BYTES),
        Chunks::ShareOfPool => set_chunk.unwrap_or(round_up(size_bytes.div_ceil(64), MIB)),
    };
    let instances = count_instances(&layout, size_bytes, chunk, given(instances), cpus);
    // A pool smaller than one chunk in each instance gets smaller chunks, not more memory.
    let chunk_bytes = if chunk.saturating_mul(instances) > size_bytes {
        round_up(size_bytes.div_ceil(instances), MIB)
    } else {
        chunk
    };
    let unit_bytes = chunk_bytes.saturating_mul(instances);
    EffectiveSize {
        size_bytes: round_up(size_bytes, unit_bytes),
        instances,
        chunk_bytes,
        unit_bytes,
    }
}

/// How a server version divides its pool.
#[derive(Clone, Copy)]
struct Layout {
    chunks: Chunks,
    instances: Instances,
    /// The requested size is first cut to whole megabytes.
    whole_megabytes: bool,
}

#[derive(Clone, Copy)]
enum Chunks {
    None,
    /// 128 MiB by default.
    Fixed,
    /// A 64th of the pool by default.
    ShareOfPool,
}

/// The number of instances when nobody says.
#[derive(Clone, Copy)]
enum Instances {
    /// Always one, whatever is said.
    One,
    /// One by default.
    OneByDefault,
    /// Eight by default.
    EightByDefault,
    /// By default as many as a quarter of the processors and half of the chunks.
    ByProcessors,
}

fn layout(server: &Server) -> Layout {
    match server.flavor {
        Flavor::Mariadb => layout_of_mariadb(server),
        Flavor::Mysql | Flavor::Percona => layout_of_mysql(server),
        Flavor::Unknown => layout_of_mysql(&Server::default()),
    }
}

/// Without a version: the layout of 5.7 to 8.0.
fn layout_of_mysql(server: &Server) -> Layout {
    let chunks = if server.below(5, 7, 5) { Chunks::None } else { Chunks::Fixed };
    let instances = if server.below(5, 5, 4) {
        Instances::One
    } else if server.below(5, 6, 6) {
        Instances::OneByDefault
    } else if server.at_least(8, 4, 0) {
        Instances::ByProcessors
    } else {
        Instances::EightByDefault
    };
    Layout { chunks, instances, whole_megabytes: server.at_least(8, 4, 0) }
}

/// Without a version: the layout of 10.2 to 10.4.
fn layout_of_mariadb(server: &Server) -> Layout {
    let without_chunks = server.mariadb_has(&MARIADB_WITHOUT_CHUNKS);
    let chunks = if server.below(10, 2, 2) || without_chunks {
        Chunks::None
    } else if server.at_least(10, 8, 1) {
        Chunks::ShareOfPool
    } else {
        Chunks::Fixed
    };
    let instances = if server.at_least(10, 5, 1) {
        Instances::One
    } else if server.below(10, 0, 4) {
        Instances::OneByDefault
    } else {
        Instances::EightByDefault
    };
    Layout { chunks, instances, whole_megabytes: without_chunks }
}

/// The number of instances. A pool below 1 GiB has one, whatever is set.
fn count_instances(
    layout: &Layout,
    size_bytes: u64,
    chunk_bytes: u64,
    set: Option<u64>,
    cpus: Option<u64>,
) -> u64 {
    if size_bytes < GIB || matches!(layout.instances, Instances::One) {
        return 1;
    }
    if let Some(set) = set {
        return set.min(INSTANCES_MAX);
    }
    match layout.instances {
        Instances::One | Instances::OneByDefault => 1,
        Instances::EightByDefault => 8,
        // The default of exactly 1 GiB is 1 by the manual.
        Instances::ByProcessors if size_bytes == GIB => 1,
        Instances::ByProcessors => {
            let half_of_chunks = size_bytes / chunk_bytes.saturating_mul(2);
            let by_processors = cpus.unwrap_or(0) / 4;
            half_of_chunks.min(by_processors).clamp(1, INSTANCES_MAX)
        }
    }
}

/// 0 means "as you like" for both variables.
fn given(value: Option<u64>) -> Option<u64> {
    value.filter(|value| *value > 0)
}

/// Rounds up to a multiple of `unit`, which is not 0; at the end of the range, down.
fn round_up(bytes: u64, unit: u64) -> u64 {
    bytes.checked_next_multiple_of(unit).unwrap_or(bytes / unit * unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The pool of a server with 16 processors.
    fn effective(version: &str, size_bytes: u64, instances: Option<u64>) -> EffectiveSize {
        let server = Server::detect(version, "");
        effective_pool_size(size_bytes, instances, None, Some(16), &server)
    }

    #[test]
    fn rounds_up_to_a_chunk_in_every_instance() {
        let expected = EffectiveSize {
            size_bytes: 2048 * MIB,
            instances: 8,
            chunk_bytes: 128 * MIB,
            unit_bytes: GIB,
        };
        for version in ["5.7.21", "8.0.36", "8.0.36-28-percona", "10.4.30-MariaDB"] {
            assert_eq!(effective(version, 1228 * MIB, None), expected, "{version}");
            assert_eq!(effective(version, GIB, None).size_bytes, GIB);
            assert_eq!(effective(version, GIB + 1, None).size_bytes, 2 * GIB);
            let coarse = effective(version, 3 * GIB, Some(16));
            assert_eq!(coarse.size_bytes, 4 * GIB);
        }
        for version in ["5.7.5", "10.2.2-MariaDB"] {
            let size = effective(version, 64 * GIB, Some(12));
            assert_eq!(size.size_bytes, 64 * GIB + GIB / 2, "{version}");
        }
        let server = Server::detect("8.0.36", "");
        let size = effective_pool_size(1228 * MIB, None, Some(4 * MIB), None, &server);
        assert_eq!(size.size_bytes, 1248 * MIB);
    }

    #[test]
    fn servers_without_chunks_take_the_size_as_it_is() {
        let size = effective("5.6.30", 64 * GIB, Some(12));
        assert_eq!((size.size_bytes, size.instances), (64 * GIB, 12));
        assert_eq!((size.chunk_bytes, size.unit_bytes), (1, 1));
        assert_eq!(effective("5.1.73", 2 * GIB, Some(4)).instances, 1);
        assert_eq!(effective("5.5.30", 2 * GIB, None).instances, 1);
        assert_eq!(effective("5.5.30", 2 * GIB, Some(4)).instances, 4);
        assert_eq!(effective("5.6.30", 2 * GIB, None).instances, 8);
        assert_eq!(effective("10.1.48-MariaDB", 2 * GIB, None).unit_bytes, 1);
    }

    #[test]
    fn a_pool_below_a_gigabyte_has_one_instance() {
        for version in ["5.5.30", "5.6.30", "5.7.44", "8.0.36", "8.4.3", "9.7.4"] {
            let size = effective(version, GIB - MIB, Some(8));
            assert_eq!(size.instances, 1, "{version}");
        }
        assert_eq!(effective("8.0.36", 200 * MIB, None).size_bytes, 256 * MIB);
        let size = effective("8.0.36", 16 * MIB, None);
        assert_eq!((size.size_bytes, size.chunk_bytes), (16 * MIB, 16 * MIB));
    }

    #[test]
    fn mysql_84_counts_processors() {
        let instances = |size_bytes, cpus| {
            let server = Server::detect("8.4.3", "");
            effective_pool_size(size_bytes, None, None, cpus, &server).instances
        };
        // Half of the 16 chunks, against a quarter of the processors.
        assert_eq!(instances(2 * GIB, Some(64)), 8);
        assert_eq!(instances(2 * GIB, Some(16)), 4);
        assert_eq!(instances(2 * GIB, Some(2)), 1);
        assert_eq!(instances(2 * GIB, None), 1);
        assert_eq!(instances(GIB, Some(64)), 1);
        assert_eq!(instances(1 << 40, Some(1024)), 64);
    }

    /// What MySQL 9.7.4 made of these settings on a machine with two processors.
    #[test]
    fn agrees_with_mysql_97() {
        let server = Server::detect("9.7.4", "");
        for (size_bytes, instances, chunk_bytes, expected) in [
            (GIB + 1, Some(8), None, (GIB, 8, 128 * MIB)),
            (GIB, Some(12), None, (1_082_130_432, 12, 90_177_536)),
            (1228 * MIB, None, None, (1280 * MIB, 1, 128 * MIB)),
            (100 * MIB, Some(12), None, (100 * MIB, 1, 100 * MIB)),
            (5 * GIB, Some(100), None, (5 * GIB, 64, 80 * MIB)),
        ] {
            let size = effective_pool_size(size_bytes, instances, chunk_bytes, Some(2), &server);
            let found = (size.size_bytes, size.instances, size.chunk_bytes);
            assert_eq!(found, expected, "{size_bytes}");
        }
    }

    #[test]
    fn mariadb_has_one_instance_and_later_no_chunks() {
        let asked = GIB + MIB;
        assert_eq!(effective("10.4.30-MariaDB", asked, Some(8)).size_bytes, 2 * GIB);
        let size = effective("10.6.12-MariaDB", asked, Some(8));
        assert_eq!((size.instances, size.size_bytes), (1, GIB + 128 * MIB));
        // A 64th of the pool, in whole megabytes.
        let size = effective("10.11.6-MariaDB", asked, Some(8));
        assert_eq!((size.chunk_bytes, size.size_bytes), (17 * MIB, 1037 * MIB));
        for version in ["10.11.12", "10.11.19", "11.4.6", "11.8.2", "12.1.1"] {
            let size = effective(&format!("{version}-MariaDB"), asked + 1, None);
            assert_eq!((size.size_bytes, size.unit_bytes), (asked, MIB), "{version}");
        }
        for version in ["10.11.11", "11.4.5", "11.8.1"] {
            let size = effective(&format!("{version}-MariaDB"), asked, None);
            assert!(size.unit_bytes > MIB, "{version}");
        }
    }

    #[test]
    fn an_unknown_server_is_taken_for_the_coarsest() {
        let size = effective_pool_size(1228 * MIB, None, None, None, &Server::default());
        assert_eq!(size.size_bytes, 2 * GIB);
    }

    proptest! {
        #[test]
        fn the_pool_is_whole_units_and_less_than_one_more_than_asked(
            asked in any::<u64>(),
            instances in prop::option::of(any::<u64>()),
            chunk in prop::option::of(any::<u64>()),
            version in prop::sample::select(vec![
                "5.5.30", "5.6.30", "5.7.44", "8.0.36", "8.4.3", "9.7.4",
                "10.1.48-MariaDB", "10.4.1-MariaDB", "10.6.1-MariaDB", "10.11.3-MariaDB",
                "10.11.14-MariaDB", "unknown",
            ]),
        ) {
            let server = Server::detect(version, "");
            let found = effective_pool_size(asked, instances, chunk, Some(16), &server);
            prop_assert!((1..=64).contains(&found.instances));
            prop_assert_eq!(found.size_bytes % found.unit_bytes, 0);
            prop_assert!(found.chunk_bytes <= found.unit_bytes);
            let limit = asked.max(MIB).saturating_add(found.unit_bytes);
            prop_assert!(found.size_bytes < limit || limit == u64::MAX);
        }
    }
}

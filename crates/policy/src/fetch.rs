//! The ways to ask for a page, as the server's callers do.
//!
//! Most requests want the page whatever it costs. Some only look whether it is there; a parallel scan
//! wants it without disturbing what others keep warm. What each way does is a row of data, so that the
//! pool and the replay cannot read it differently.

/// How a page is asked for (`Page_fetch` of `buf_page_get_gen`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fetch {
    /// Give me the page, from disk if need be.
    Normal,
    /// As `Normal`, for a large scan (MySQL 8.0 on): the access moves nothing in the list.
    Scan,
    /// As `Normal`, without a latch.
    NoLatch,
    /// Only if it is in the pool.
    IfInPool,
    /// Only if it is in the pool; else the caller is told when it comes in.
    IfInPoolOrWatch,
    /// Only if it is in the pool, and as if nobody had asked.
    PeekIfInPool,
    /// As `Normal`, of a page that may have been freed in its file.
    PossiblyFreed,
    /// As `PossiblyFreed`, with no read-ahead (MySQL 8.4 on).
    PossiblyFreedNoReadAhead,
}

/// What a way of asking does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FetchEffects {
    /// Reads the page when it is not in the pool.
    pub reads: bool,
    /// Is judged, and may make the page young.
    pub promotes: bool,
    /// A first access may start a linear read-ahead.
    pub linear_read_ahead: bool,
    /// A miss may start a random read-ahead.
    pub random_read_ahead: bool,
}

/// What [`Fetch::Scan`] does in a variant of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScanMode {
    /// The server knows no scan mode: a scan asks as everybody does.
    Unknown,
    /// A scan moves no page and starts no random read-ahead.
    Unmoved,
}

impl Fetch {
    /// What asking this way does.
    pub const fn effects(self, scan: ScanMode) -> FetchEffects {
        let all = FetchEffects {
            reads: true,
            promotes: true,
            linear_read_ahead: true,
            random_read_ahead: true,
        };
        match (self, scan) {
            (Fetch::Scan, ScanMode::Unmoved) => {
                FetchEffects { promotes: false, random_read_ahead: false, ..all }
            }
            (Fetch::Normal | Fetch::NoLatch | Fetch::PossiblyFreed, _)
            | (Fetch::Scan, ScanMode::Unknown) => all,
            (Fetch::IfInPool | Fetch::IfInPoolOrWatch, _) => {
                FetchEffects { reads: false, random_read_ahead: false, ..all }
            }
            (Fetch::PeekIfInPool, _) => FetchEffects {
                reads: false,
                promotes: false,
                linear_read_ahead: false,
                random_read_ahead: false,
            },
            (Fetch::PossiblyFreedNoReadAhead, _) => {
                FetchEffects { linear_read_ahead: false, random_read_ahead: false, ..all }
            }
        }
    }
}

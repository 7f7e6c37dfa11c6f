//! A stretch of consecutive rows, column by column.

/// Rows of a segment: small enough to copy when a reader holds it while the writer changes it.
pub(crate) const ROWS: usize = 1 << 14;

/// Status of a place no query has: not stored yet, or deleted.
pub(crate) const GONE: u8 = u8::MAX;

/// One query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Row {
    pub(crate) started_unix_ns: i64,
    /// NaN where there is none.
    pub(crate) wall_ms: f64,
    /// Number of its [`Origin`](super::Origin).
    pub(crate) origin: u32,
    /// Number of its [`Plan`](super::Plan).
    pub(crate) plan: u32,
    /// As the table has it, or [`GONE`].
    pub(crate) status: u8,
}

impl Row {
    const NONE: Self = Self { started_unix_ns: 0, wall_ms: f64::NAN, origin: 0, plan: 0, status: GONE };
}

/// [`ROWS`] consecutive rows.
#[derive(Debug, Clone)]
pub(crate) struct Segment {
    started_unix_ns: Vec<i64>,
    wall_ms: Vec<f64>,
    origin: Vec<u32>,
    plan: Vec<u32>,
    status: Vec<u8>,
    /// Bounds of the starts ever put in, so that a stretch of time passes over segments.
    first_unix_ns: i64,
    last_unix_ns: i64,
}

impl Segment {
    pub(crate) fn empty() -> Self {
        Self {
            started_unix_ns: vec![Row::NONE.started_unix_ns; ROWS],
            wall_ms: vec![Row::NONE.wall_ms; ROWS],
            origin: vec![Row::NONE.origin; ROWS],
            plan: vec![Row::NONE.plan; ROWS],
            status: vec![Row::NONE.status; ROWS],
            first_unix_ns: i64::MAX,
            last_unix_ns: i64::MIN,
        }
    }

    pub(crate) fn put(&mut self, at: usize, row: Row) {
        self.started_unix_ns[at] = row.started_unix_ns;
        self.wall_ms[at] = row.wall_ms;
        self.origin[at] = row.origin;
        self.plan[at] = row.plan;
        self.status[at] = row.status;
        self.first_unix_ns = self.first_unix_ns.min(row.started_unix_ns);
        self.last_unix_ns = self.last_unix_ns.max(row.started_unix_ns);
    }

    pub(crate) fn status(&self, at: usize) -> u8 {
        self.status[at]
    }

    pub(crate) fn set_status(&mut self, at: usize, status: u8) {
        self.status[at] = status;
    }

    /// Whether a query that started in this time, both ends included, may be here.
    pub(crate) fn touches(&self, since_unix_ns: i64, until_unix_ns: i64) -> bool {
        self.first_unix_ns <= until_unix_ns && self.last_unix_ns >= since_unix_ns
    }

    /// The queries, the latest stored first.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (usize, Row)> {
        let columns = self
            .started_unix_ns
            .iter()
            .zip(&self.wall_ms)
            .zip(&self.origin)
            .zip(&self.plan)
            .zip(&self.status);
        columns.enumerate().rev().filter_map(|(at, ((((started, wall), origin), plan), status))| {
            let row = Row {
                started_unix_ns: *started,
                wall_ms: *wall,
                origin: *origin,
                plan: *plan,
                status: *status,
            };
            (*status != GONE).then_some((at, row))
        })
    }
}

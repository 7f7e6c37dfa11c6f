//! The columns as the writer moves them on.

use std::collections::HashSet;
use std::sync::Arc;

use super::dictionary::{Dictionary, Origin, Plan};
use super::segment::{GONE, ROWS, Row, Segment};
use super::select::Snapshot;

/// A row of the table as it is now.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowState {
    /// Its number.
    pub(crate) row: i64,
    /// What it holds; `None` when it is deleted.
    pub(crate) query: Option<QueryState>,
}

/// What the columns keep of a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueryState {
    pub(crate) started_unix_ns: i64,
    pub(crate) wall_ms: Option<f64>,
    pub(crate) origin: Origin,
    pub(crate) plan: Plan,
    pub(crate) status: u8,
}

/// Every query, by the number of its row.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    segments: Vec<Option<Arc<Segment>>>,
    origins: Dictionary<Origin>,
    plans: Dictionary<Plan>,
    /// Rows that were deleted before they were loaded.
    deleted_early: HashSet<i64>,
    loaded: bool,
}

impl Columns {
    /// Takes over rows that a commit has changed.
    pub(crate) fn apply(&mut self, rows: impl IntoIterator<Item = RowState>) {
        for RowState { row, query } in rows {
            if let Some(query) = query {
                self.put(row, &query);
                continue;
            }
            let (segment, at) = self.place(row);
            segment.set_status(at, GONE);
            if !self.loaded {
                self.deleted_early.insert(row);
            }
        }
    }

    /// Takes in rows as they were read from the table while commits went on: what a commit has changed since is
    /// newer and stays.
    pub(crate) fn load(&mut self, rows: impl IntoIterator<Item = RowState>) {
        for RowState { row, query } in rows {
            let (segment, at) = self.place(row);
            let taken = segment.status(at) != GONE;
            if let Some(query) = query.filter(|_| !taken && !self.deleted_early.contains(&row)) {
                self.put(row, &query);
            }
        }
    }

    /// Notes that all rows are loaded.
    pub(crate) fn finish_loading(&mut self) {
        self.loaded = true;
        self.deleted_early = HashSet::new();
    }

    /// What there is now.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let segments = self.segments.iter().enumerate();
        Snapshot {
            segments: segments
                .filter_map(|(at, segment)| Some((at, Arc::clone(segment.as_ref()?))))
                .collect(),
            origins: self.origins.values(),
            plans: self.plans.values(),
        }
    }

    fn put(&mut self, row: i64, query: &QueryState) {
        let values = Row {
            started_unix_ns: query.started_unix_ns,
            wall_ms: query.wall_ms.unwrap_or(f64::NAN),
            origin: self.origins.number(query.origin),
            plan: self.plans.number(query.plan),
            status: query.status,
        };
        let (segment, at) = self.place(row);
        segment.put(at, values);
    }

    fn place(&mut self, row: i64) -> (&mut Segment, usize) {
        let row = usize::try_from(row).unwrap_or(0);
        let (segment, at) = (row / ROWS, row % ROWS);
        if segment >= self.segments.len() {
            self.segments.resize(segment + 1, None);
        }
        let segment = self.segments[segment].get_or_insert_with(|| Arc::new(Segment::empty()));
        (Arc::make_mut(segment), at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(row: i64, status: u8) -> RowState {
        let origin = Origin { project: 1, service: None, environment: None, host: 2 };
        let plan = Plan { label: Some(3), fingerprint: None, rules: None };
        RowState {
            row,
            query: Some(QueryState { started_unix_ns: row, wall_ms: None, origin, plan, status }),
        }
    }

    fn gone(row: i64) -> RowState {
        RowState { row, query: None }
    }

    /// Number and status of every row, the latest first.
    fn rows(snapshot: &Snapshot) -> Vec<(i64, u8)> {
        snapshot.rows(i64::MIN, i64::MAX).map(|(row, values)| (row, values.status)).collect()
    }

    #[test]
    fn rows_come_change_and_go() {
        let mut columns = Columns::default();
        columns.apply([put(1, 0), put(70_000, 0), put(1, 3)]);
        assert_eq!(rows(&columns.snapshot()), [(70_000, 0), (1, 3)]);
        columns.apply([gone(70_000)]);
        assert_eq!(rows(&columns.snapshot()), [(1, 3)]);
    }

    #[test]
    fn a_snapshot_stays_as_it_is() {
        let mut columns = Columns::default();
        columns.apply([put(1, 0)]);
        let snapshot = columns.snapshot();
        columns.apply([put(1, 1), put(2, 1)]);
        assert_eq!(rows(&snapshot), [(1, 0)]);
    }

    #[test]
    fn what_a_commit_changed_while_loading_stays() {
        let mut columns = Columns::default();
        columns.apply([put(1, 1), gone(2)]);
        columns.load([put(1, 0), put(2, 0), put(3, 0)]);
        columns.finish_loading();
        assert_eq!(rows(&columns.snapshot()), [(3, 0), (1, 1)]);
    }
}

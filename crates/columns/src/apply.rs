//! The columns as the writer moves them on.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use crate::copy::{SegmentCopy, Unpacked};
use crate::dictionary::{Dictionary, Origin, Plan};
use crate::figures::Figures;
use crate::segment::{ROWS, Row, Segment};
use crate::select::Snapshot;

/// A row of the table as it is now.
#[derive(Debug, Clone, PartialEq)]
pub struct RowState {
    /// Its number.
    pub row: i64,
    /// What it holds; `None` when it is deleted.
    pub query: Option<QueryState>,
}

/// What the columns keep of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryState {
    /// When it started, in Unix nanoseconds.
    pub started_unix_ns: i64,
    /// Its wall time in milliseconds, once it ended.
    pub wall_ms: Option<f64>,
    /// Its other figures, once it ended.
    pub figures: Figures,
    /// Where it ran.
    pub origin: Origin,
    /// What it ran.
    pub plan: Plan,
    /// Its state, as [`state_of`](crate::state_of) gives it.
    pub status: u8,
}

/// Segments that are left in the order of their rows: most of what changes is in the last ones.
const UNSORTED_MAX: usize = 2;

/// Every query, by the number of its row.
#[derive(Debug, Default)]
pub struct Columns {
    segments: Vec<Option<Arc<Segment>>>,
    /// Segments that are not sorted by label.
    unsorted: BTreeSet<usize>,
    /// Segments that say something else than their copy, and whether they have stayed as they are since these were
    /// last asked for.
    uncopied: BTreeMap<usize, bool>,
    /// For the next segment: where the memory of each that is sorted were given back, it would be left in pieces.
    spare: Option<Segment>,
    origins: Dictionary<Origin>,
    plans: Dictionary<Plan>,
    labels: Dictionary<Option<i64>>,
    /// Number of each plan's label.
    label_of: Arc<Vec<u32>>,
    /// Rows that were deleted before they were loaded.
    deleted_early: HashSet<i64>,
    loaded: bool,
}

impl Columns {
    /// Takes over rows that a commit has changed.
    pub fn apply(&mut self, rows: impl IntoIterator<Item = RowState>) {
        for RowState { row, query } in rows {
            if let Some(query) = query {
                self.put(row, &query);
                continue;
            }
            let (segment, at) = place(row);
            self.segment(segment).remove(at);
            self.uncopied.insert(segment, false);
            if !self.loaded {
                self.deleted_early.insert(row);
            }
        }
        self.settle();
    }

    /// Takes in rows as they were read from the table while commits went on: what a commit has changed since is
    /// newer and stays.
    pub fn load(&mut self, rows: impl IntoIterator<Item = RowState>) {
        for RowState { row, query } in rows {
            let (segment, at) = place(row);
            let taken = !self.segment(segment).is_gone(at);
            if let Some(query) = query.filter(|_| !taken && !self.deleted_early.contains(&row)) {
                self.put(row, &query);
            }
        }
    }

    /// Takes in a segment as it was copied, whole, as [`load`](Self::load) takes in rows; `false` when the copy is
    /// none of a segment.
    pub fn load_copy(&mut self, copy: &SegmentCopy) -> bool {
        let ((number, 0), Some(Unpacked { origins, plans, queries })) =
            (place(copy.first_row), copy.unpack())
        else {
            return false;
        };
        let origins: Vec<u32> = origins.into_iter().map(|origin| self.origins.number(origin)).collect();
        let plans: Vec<u32> = plans.into_iter().map(|plan| self.plan(plan)).collect();
        let label_of = Arc::clone(&self.label_of);
        let deleted_early = std::mem::take(&mut self.deleted_early);
        let segment = self.segment(number);
        for (at, values, figures) in queries {
            if segment.is_gone(at) && !deleted_early.contains(&(copy.first_row + at as i64)) {
                let (origin, plan) = (origins[values.origin as usize], plans[values.plan as usize]);
                segment.put(at, Row { origin, plan, ..values }, figures, &label_of);
            }
        }
        self.deleted_early = deleted_early;
        if !self.segment(number).is_sorted() {
            self.sort(number);
        }
        self.unsorted.remove(&number);
        true
    }

    /// Notes that all rows of the segment of this one are loaded.
    pub fn finish_segment(&mut self, row: i64) {
        let (number, _) = place(row);
        if self.unsorted.remove(&number) {
            self.sort(number);
        }
    }

    /// Notes that all rows are loaded.
    pub fn finish_loading(&mut self) {
        self.loaded = true;
        self.deleted_early = HashSet::new();
    }

    /// What there is now.
    pub fn snapshot(&self) -> Snapshot {
        let segments = self.segments.iter().enumerate();
        Snapshot {
            segments: segments
                .filter_map(|(at, segment)| Some((at, Arc::clone(segment.as_ref()?))))
                .collect(),
            origins: self.origins.values(),
            plans: self.plans.values(),
            labels: self.labels.values(),
            label_of: Arc::clone(&self.label_of),
            foreground: Arc::default(),
        }
    }

    /// The first rows of segments that are to be copied: those that are complete and say what they said when this
    /// was last asked.
    pub fn uncopied(&mut self) -> Vec<i64> {
        // The last one is still written to, also where rows came from the table alone.
        let last = self.segments.len().saturating_sub(1);
        let mut found = Vec::new();
        for (number, stayed) in &mut self.uncopied {
            if self.loaded && *number != last && !self.unsorted.contains(number) {
                if *stayed {
                    found.push((number * ROWS) as i64);
                }
                *stayed = true;
            }
        }
        found
    }

    /// Notes that the segment of a row is being copied; `false` when it has changed since it was found uncopied.
    pub fn note_copied(&mut self, row: i64) -> bool {
        let (number, _) = place(row);
        let stayed = self.uncopied.get(&number) == Some(&true);
        if stayed {
            self.uncopied.remove(&number);
        }
        stayed
    }

    fn put(&mut self, row: i64, query: &QueryState) {
        let plan = self.plan(query.plan);
        let values = Row {
            started_unix_ns: query.started_unix_ns,
            wall_ms: query.wall_ms.unwrap_or(f64::NAN),
            origin: self.origins.number(query.origin),
            plan,
            status: query.status,
        };
        let (number, at) = place(row);
        let before = self.segments.get(number).and_then(Option::as_ref).and_then(|segment| segment.get(at));
        if before.is_some_and(|(before, figures)| before.says(&values) && figures == query.figures) {
            return;
        }
        let label_of = Arc::clone(&self.label_of);
        let segment = self.segment(number);
        segment.put(at, values, query.figures, &label_of);
        if !segment.is_sorted() {
            self.unsorted.insert(number);
        }
        self.uncopied.insert(number, false);
    }

    /// The number of a plan, whose label is numbered with it.
    fn plan(&mut self, plan: Plan) -> u32 {
        let number = self.plans.number(plan);
        if number as usize == self.label_of.len() {
            Arc::make_mut(&mut self.label_of).push(self.labels.number(plan.label));
        }
        number
    }

    /// Sorts one of the segments that are written to no longer: a commit waits for one at most. While rows are
    /// being loaded, who loads them says when a segment is complete.
    fn settle(&mut self) {
        if self.loaded
            && self.unsorted.len() > UNSORTED_MAX
            && let Some(number) = self.unsorted.pop_first()
        {
            self.sort(number);
        }
    }

    fn sort(&mut self, number: usize) {
        if let Some(segment) = &mut self.segments[number] {
            let sorted = Arc::new(segment.by_label(&self.label_of));
            let before = std::mem::replace(segment, sorted);
            self.spare = Arc::into_inner(before).map(Segment::emptied);
        }
    }

    fn segment(&mut self, number: usize) -> &mut Segment {
        if number >= self.segments.len() {
            self.segments.resize(number + 1, None);
        }
        let spare = &mut self.spare;
        let segment = self.segments[number]
            .get_or_insert_with(|| Arc::new(spare.take().unwrap_or_else(Segment::empty)));
        Arc::make_mut(segment)
    }
}

/// The segment of a row, and which of its rows it is.
fn place(row: i64) -> (usize, usize) {
    let row = usize::try_from(row).unwrap_or(0);
    (row / ROWS, row % ROWS)
}

#[cfg(test)]
pub(crate) mod tests {
    use queryscope_history::Quantity;

    use super::*;

    pub(crate) fn put(row: i64, label: i64, status: u8) -> RowState {
        let origin = Origin { project: 1, service: None, environment: None, host: 2, program_version: None };
        let plan = Plan { label: Some(label), fingerprint: None, rules: None, engine_version: None };
        let cpu = Quantity::new(row.unsigned_abs());
        let bytes_read = if row % 3 == 0 { Quantity::NONE } else { Quantity::new(7 * row.unsigned_abs()) };
        let figures = Figures { cpu, bytes_read, warnings: Quantity::new(0), ..Figures::NONE };
        let query = QueryState { started_unix_ns: row, wall_ms: None, figures, origin, plan, status };
        RowState { row, query: Some(query) }
    }

    /// Columns that rows and their labels came to one after the other.
    pub(crate) fn columns_of(rows: impl IntoIterator<Item = (i64, i64)>) -> Columns {
        let mut columns = Columns::default();
        columns.finish_loading();
        for (row, label) in rows {
            columns.apply([put(row, label, 0)]);
        }
        columns
    }

    fn gone(row: i64) -> RowState {
        RowState { row, query: None }
    }

    /// Start and status of every row, by start.
    fn rows(snapshot: &Snapshot) -> Vec<(i64, u8)> {
        let mut rows = Vec::new();
        snapshot.each_place(i64::MIN, i64::MAX, |_, _, row| rows.push((row.started_unix_ns, row.status)));
        rows.sort_unstable();
        rows
    }

    #[test]
    fn rows_come_change_and_go() {
        let mut columns = Columns::default();
        columns.apply([put(1, 3, 0), put(70_000, 3, 0), put(1, 3, 3)]);
        assert_eq!(rows(&columns.snapshot()), [(1, 3), (70_000, 0)]);
        columns.apply([gone(70_000)]);
        assert_eq!(rows(&columns.snapshot()), [(1, 3)]);
    }

    #[test]
    fn rows_change_and_go_in_segments_that_are_sorted() {
        let far = 5 * ROWS as i64;
        let mut columns = columns_of([(1, 3), (2, 4), (3, 3), (far, 3), (2 * far, 3), (3 * far, 3)]);
        assert!(columns.unsorted.len() == UNSORTED_MAX && !columns.unsorted.contains(&0));
        columns.apply([gone(2), put(3, 3, 1)]);
        assert!(!columns.unsorted.contains(&0), "labels stay as they are");
        columns.apply([put(1, 4, 2)]);
        let expected = [(1, 2), (3, 1), (far, 0), (2 * far, 0), (3 * far, 0)];
        assert_eq!(rows(&columns.snapshot()), expected);
        // A number may be given anew.
        columns.apply([put(2, 4, 3)]);
        assert_eq!(rows(&columns.snapshot())[1], (2, 3));
    }

    #[test]
    fn a_snapshot_stays_as_it_is() {
        let mut columns = Columns::default();
        columns.apply([put(1, 3, 0)]);
        let snapshot = columns.snapshot();
        columns.apply([put(1, 3, 1), put(2, 3, 1)]);
        assert_eq!(rows(&snapshot), [(1, 0)]);
    }

    #[test]
    fn segments_are_sorted_when_they_are_loaded() {
        let far = 5 * ROWS as i64;
        let mut columns = Columns::default();
        columns.load([put(1, 3, 0)]);
        columns.apply([put(far, 3, 0), put(2 * far, 3, 0), put(3 * far, 3, 0)]);
        columns.load([put(2, 4, 0)]);
        columns.finish_segment(2);
        columns.finish_segment(3 * far);
        assert_eq!(columns.unsorted.iter().copied().collect::<Vec<_>>(), [5, 10]);
        assert_eq!(rows(&columns.snapshot()), [(1, 0), (2, 0), (far, 0), (2 * far, 0), (3 * far, 0)]);
    }

    #[test]
    fn what_a_commit_changed_while_loading_stays() {
        let copy = columns_of([(1, 3), (2, 3), (3, 3)]).snapshot().copy(0).expect("a segment");
        let loads: [&dyn Fn(&mut Columns); 2] =
            [&|columns| columns.load([put(1, 3, 0), put(2, 3, 0), put(3, 3, 0)]), &|columns| {
                assert!(columns.load_copy(&copy))
            }];
        for load in loads {
            let mut columns = Columns::default();
            columns.apply([put(1, 3, 1), gone(2)]);
            load(&mut columns);
            columns.finish_loading();
            assert_eq!(rows(&columns.snapshot()), [(1, 1), (3, 0)]);
        }
    }

    #[test]
    fn a_segment_is_copied_again_when_it_says_something_else() {
        let far = 5 * ROWS as i64;
        let mut columns = columns_of([(1, 3), (far, 3), (2 * far, 3), (3 * far, 3)]);
        assert_eq!(columns.uncopied(), [0; 0]);
        assert_eq!(columns.uncopied(), [0, far], "the others are written to");
        columns.apply([put(1, 3, 2)]);
        assert!(!columns.note_copied(0), "it is not what was to be copied");
        columns.uncopied();
        assert!(columns.note_copied(0));
        columns.apply([put(1, 3, 2)]);
        columns.uncopied();
        assert!(!columns.uncopied().contains(&0), "it says the same");
    }

    #[test]
    fn the_segment_that_is_written_to_is_not_copied_also_where_it_was_loaded() {
        let far = 5 * ROWS as i64;
        let mut columns = Columns::default();
        for row in [1, far] {
            columns.load([put(row, 3, 0)]);
            columns.finish_segment(row);
        }
        columns.finish_loading();
        columns.uncopied();
        assert_eq!(columns.uncopied(), [0]);
    }

    #[test]
    fn what_is_loaded_from_a_copy_is_not_copied_again_unless_it_changes() {
        let copy = columns_of([(1, 3), (2, 4)]).snapshot().copy(1).expect("a segment");
        let mut columns = Columns::default();
        assert!(columns.load_copy(&copy));
        columns.apply([put(5 * ROWS as i64, 3, 0)]);
        columns.finish_loading();
        columns.uncopied();
        assert_eq!(columns.uncopied(), [0; 0]);
        columns.apply([gone(2)]);
        columns.uncopied();
        assert_eq!(columns.uncopied(), [0]);
    }
}

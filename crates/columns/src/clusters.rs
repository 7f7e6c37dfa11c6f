//! The columns at one moment, label by label.

use std::ops::Range;
use std::sync::Arc;

use queryscope_store::YieldPoint;

use crate::segment::{Query, ROWS, Segment};
use crate::select::{Kept, Selection, Snapshot};

/// Pieces that are fetched from memory at once: most hold a few queries, and the wait for the first one is longer
/// than it takes to read them.
const FETCHED: usize = 16;

/// The queries a filter keeps, whenever they started, by the number of their label.
#[derive(Debug)]
pub(crate) struct Clusters {
    /// All sorted, by their numbers.
    segments: Vec<(usize, Arc<Segment>)>,
    /// Where each label's pieces begin; and where the last one's end.
    begins: Vec<usize>,
    /// The segment of a piece and its places in it; of a label the oldest come first.
    pieces: Vec<(u32, Range<u16>)>,
    /// Plans by their label.
    plans: Vec<Vec<u32>>,
    /// Each plan's place among those of its label.
    places: Vec<u32>,
    kept: Kept,
}

impl Clusters {
    pub(crate) fn of(snapshot: &Snapshot, selection: &Selection, turn: &YieldPoint<'_>) -> Self {
        let kept = Kept::of(snapshot, selection);
        let mut plans = vec![Vec::new(); snapshot.labels.len()];
        let mut places = vec![0; snapshot.label_of.len()];
        for (plan, label) in snapshot.label_of.iter().enumerate() {
            if kept.keeps_plan(plan) {
                let of_label = &mut plans[*label as usize];
                places[plan] = of_label.len() as u32;
                of_label.push(plan as u32);
            }
        }
        let sorted = |(number, segment): &(usize, Arc<Segment>)| {
            turn.pass();
            let segment = if segment.is_sorted() {
                Arc::clone(segment)
            } else {
                Arc::new(segment.part_by_label(&snapshot.label_of, |label| {
                    plans.get(label as usize).is_some_and(|plans| !plans.is_empty())
                }))
            };
            (*number, segment)
        };
        let segments: Vec<_> = snapshot.segments.iter().map(sorted).collect();
        let (begins, pieces) = pieces_by_label(&segments, &plans, turn);
        Self { segments, begins, pieces, plans, places, kept }
    }

    /// The labels there are, by number.
    pub(crate) fn labels(&self) -> Range<usize> {
        0..self.plans.len()
    }

    /// The plans of a label that the filter keeps.
    pub(crate) fn plans(&self, label: usize) -> &[u32] {
        &self.plans[label]
    }

    /// The place of a plan that the filter keeps among those of its label.
    pub(crate) fn place(&self, plan: u32) -> usize {
        self.places[plan as usize] as usize
    }

    /// At most so many queries of a label started in a stretch of time.
    pub(crate) fn rows_max(&self, label: usize, since_unix_ns: i64, until_unix_ns: i64) -> usize {
        let touched = self
            .pieces(label)
            .iter()
            .filter(|(segment, _)| self.segments[*segment as usize].1.touches(since_unix_ns, until_unix_ns));
        touched.map(|(_, places)| places.len()).sum()
    }

    /// The queries of some labels that started in a stretch of time, both ends included, the latest stored first, each
    /// with a number in the order they were stored.
    pub(crate) fn each(
        &self,
        labels: &[usize],
        since_unix_ns: i64,
        until_unix_ns: i64,
        turn: &YieldPoint<'_>,
        mut take: impl FnMut(Query<'_>),
    ) {
        let pieces = labels.iter().flat_map(|label| self.pieces(*label));
        let mut pieces: Vec<_> = pieces
            .filter(|(segment, _)| self.segments[*segment as usize].1.touches(since_unix_ns, until_unix_ns))
            .collect();
        pieces.sort_by_key(|(segment, _)| *segment);
        for pieces in pieces.rchunks(FETCHED) {
            turn.pass();
            for (segment, places) in pieces {
                self.segments[*segment as usize].1.fetch(usize::from(places.end) - 1);
            }
            for (segment, places) in pieces.iter().rev() {
                let first_number = segment * ROWS as u32;
                let segment = &self.segments[*segment as usize].1;
                let places = places.start.into()..places.end.into();
                let (first_unix_ns, last_unix_ns) = segment.bounds();
                let is_within = since_unix_ns <= first_unix_ns && last_unix_ns <= until_unix_ns;
                for query in segment.queries(places, first_number).rev() {
                    let is_in_time =
                        is_within || (since_unix_ns..=until_unix_ns).contains(&query.started_unix_ns());
                    if is_in_time && self.kept.keeps(|| query.origin(), query.plan(), query.status()) {
                        take(query);
                    }
                }
            }
        }
    }

    /// The number of the row that [`Self::each`] gave a number.
    pub(crate) fn row(&self, number: u32) -> i64 {
        let (segment, row) = (number as usize / ROWS, number as usize % ROWS);
        (self.segments[segment].0 * ROWS + row) as i64
    }

    fn pieces(&self, label: usize) -> &[(u32, Range<u16>)] {
        &self.pieces[self.begins[label]..self.begins[label + 1]]
    }
}

/// The pieces of the labels that have plans, and where each label's begin.
fn pieces_by_label(
    segments: &[(usize, Arc<Segment>)],
    plans: &[Vec<u32>],
    turn: &YieldPoint<'_>,
) -> (Vec<usize>, Vec<(u32, Range<u16>)>) {
    let all = || {
        segments.iter().enumerate().flat_map(|(at, (_, segment))| {
            turn.pass();
            let asked_for = segment.pieces().iter().filter(|piece| !plans[piece.label as usize].is_empty());
            asked_for.map(move |piece| (piece.label as usize, (at as u32, piece.places.clone())))
        })
    };
    let mut begins = vec![0; plans.len() + 1];
    for (label, _) in all() {
        begins[label + 1] += 1;
    }
    for label in 0..plans.len() {
        begins[label + 1] += begins[label];
    }
    let mut ends = begins.clone();
    let mut pieces = vec![(0, 0..0); begins[plans.len()]];
    for (label, piece) in all() {
        pieces[ends[label]] = piece;
        ends[label] += 1;
    }
    (begins, pieces)
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use queryscope_store::Foreground;

    use super::*;
    use crate::apply::tests::{columns_of, put};
    use crate::select::tests::ALL;

    fn turn() -> YieldPoint<'static> {
        static IDLE: LazyLock<Foreground> = LazyLock::new(Foreground::default);
        YieldPoint::new(&IDLE)
    }

    /// The rows of every label, the latest first.
    fn rows(clusters: &Clusters) -> Vec<Vec<i64>> {
        let of = |label| {
            let mut rows = Vec::new();
            clusters
                .each(&[label], i64::MIN, i64::MAX, &turn(), |query| rows.push(clusters.row(query.number())));
            rows
        };
        clusters.labels().map(of).collect()
    }

    #[test]
    fn rows_lie_by_label_over_segments_sorted_or_not() {
        let far = 5 * ROWS as i64;
        let columns =
            columns_of([(1, 7), (2, 8), (3, 7), (far, 8), (far + 1, 7), (2 * far, 7), (3 * far, 9)]);
        let clusters = Clusters::of(&columns.snapshot(), &ALL, &turn());
        assert_eq!(rows(&clusters), [vec![2 * far, far + 1, 3, 1], vec![far, 2], vec![3 * far]]);
        let of_label = Selection { label: Some(Some(8)), ..ALL };
        let clusters = Clusters::of(&columns.snapshot(), &of_label, &turn());
        assert_eq!(rows(&clusters), [vec![], vec![far, 2], vec![]]);
    }

    #[test]
    fn rows_of_several_labels_come_by_segment() {
        let far = 5 * ROWS as i64;
        let columns =
            columns_of([(1, 7), (2, 8), (3, 7), (far, 8), (far + 1, 7), (2 * far, 7), (3 * far, 9)]);
        let clusters = Clusters::of(&columns.snapshot(), &ALL, &turn());
        let mut rows = Vec::new();
        clusters.each(&[0, 1], 2, 2 * far - 1, &turn(), |query| rows.push(clusters.row(query.number())));
        assert_eq!(rows, [far, far + 1, 2, 3]);
    }

    #[test]
    fn a_row_that_changes_late_stays_with_its_label_or_moves() {
        let far = 5 * ROWS as i64;
        let all = [(1, 7), (2, 8), (far, 7), (2 * far, 7), (3 * far, 7)];
        let mut columns = columns_of(all);
        columns.apply([put(1, 7, 3), put(2, 7, 1), put(3, 8, 1)]);
        let clusters = Clusters::of(&columns.snapshot(), &ALL, &turn());
        assert_eq!(rows(&clusters), [vec![3 * far, 2 * far, far, 2, 1], vec![3]]);
    }
}

//! A stretch of consecutive rows, column by column.
//!
//! A segment that is written to holds its rows in their order. One that has settled holds them by label, and those
//! of a label in their order: what is asked of a label then lies together.

use std::hint::black_box;
use std::ops::Range;

use queryscope_history::Quantity;
use queryscope_store::NumberField;

use crate::figures::{Column, FIGURES, Figures, column_of};

/// Rows of a segment: few enough to copy when a reader holds it while the writer changes it, and to number in
/// sixteen bits. A little less than a power of two, of which the allocator makes a quarter more. In debug builds a
/// handful, so that tests with few queries see many segments.
pub const ROWS: usize = if cfg!(debug_assertions) { 8 } else { 65_000 };

/// Status of a place no query has: not stored yet, or deleted.
pub(crate) const GONE: u8 = u8::MAX;

/// No label has this number.
const NO_LABEL: u32 = u32::MAX;

/// One query, but its rounded figures, which few answers are made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Row {
    pub(crate) started_unix_ns: i64,
    /// NaN where there is none.
    pub(crate) wall_ms: f64,
    /// Number of its [`Origin`](super::Origin).
    pub(crate) origin: u32,
    /// Number of its [`Plan`](super::Plan).
    pub(crate) plan: u32,
    /// Its state, as [`state_of`](crate::state_of) gives it, or [`GONE`].
    pub(crate) status: u8,
}

impl Row {
    /// Whether both say the same.
    pub(crate) fn says(&self, other: &Self) -> bool {
        let wall_as_bits =
            |row: &Self| (row.started_unix_ns, row.wall_ms.to_bits(), row.origin, row.plan, row.status);
        wall_as_bits(self) == wall_as_bits(other)
    }

    const NONE: Self = Self { started_unix_ns: 0, wall_ms: f64::NAN, origin: 0, plan: 0, status: GONE };
}

/// A query of a segment, of which only what is asked for is read from memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Query<'s> {
    segment: &'s Segment,
    at: usize,
    first_number: u32,
}

impl Query<'_> {
    /// The number of its row.
    pub(crate) fn number(self) -> u32 {
        self.first_number + self.segment.start_at(self.at).0 as u32
    }

    pub(crate) fn started_unix_ns(self) -> i64 {
        self.segment.started_unix_ns[self.at]
    }

    /// NaN where there is none.
    pub(crate) fn wall_ms(self) -> f64 {
        self.segment.wall_ms[self.at]
    }

    pub(crate) fn origin(self) -> u32 {
        self.segment.origin.at(self.at)
    }

    pub(crate) fn plan(self) -> u32 {
        self.segment.plan.at(self.at)
    }

    pub(crate) fn status(self) -> u8 {
        self.segment.status[self.at]
    }

    /// When the last query of its segment started, or later.
    pub(crate) fn segment_last_unix_ns(self) -> i64 {
        self.segment.last_unix_ns
    }
}

/// Where the rows of one label lie.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// Number of the label.
    pub(crate) label: u32,
    pub(crate) places: Range<u16>,
}

/// How the rows of a settled segment lie.
#[derive(Debug, Clone)]
struct Sorted {
    /// The row at each place.
    rows: Vec<u16>,
    /// By label; places without a query belong to none.
    pieces: Vec<Piece>,
}

/// A number for each row, in sixteen bits until one needs more: few stores have more origins or plans than that.
#[derive(Debug, Clone)]
enum Numbers {
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

impl Numbers {
    fn none() -> Self {
        Self::Narrow(vec![0; ROWS])
    }

    #[inline]
    fn at(&self, at: usize) -> u32 {
        match self {
            Self::Narrow(numbers) => numbers[at].into(),
            Self::Wide(numbers) => numbers[at],
        }
    }

    fn put(&mut self, at: usize, number: u32) {
        match (&mut *self, u16::try_from(number)) {
            (Self::Narrow(numbers), Ok(number)) => numbers[at] = number,
            (Self::Narrow(numbers), Err(_)) => {
                let mut numbers: Vec<u32> = numbers.iter().map(|number| (*number).into()).collect();
                numbers[at] = number;
                *self = Self::Wide(numbers);
            }
            (Self::Wide(numbers), _) => numbers[at] = number,
        }
    }

    /// The numbers at some places, one after the other.
    fn picked(&self, places: impl Iterator<Item = usize>) -> Self {
        match self {
            Self::Narrow(numbers) => Self::Narrow(places.map(|at| numbers[at]).collect()),
            Self::Wide(numbers) => Self::Wide(places.map(|at| numbers[at]).collect()),
        }
    }
}

/// [`ROWS`] consecutive rows.
#[derive(Debug, Clone)]
pub(crate) struct Segment {
    started_unix_ns: Vec<i64>,
    wall_ms: Vec<f64>,
    figures: [Column; FIGURES],
    origin: Numbers,
    plan: Numbers,
    status: Vec<u8>,
    sorted: Option<Sorted>,
    /// Bounds of the starts ever put in, so that a stretch of time passes over segments.
    first_unix_ns: i64,
    last_unix_ns: i64,
}

impl Segment {
    pub(crate) fn empty() -> Self {
        Self {
            started_unix_ns: vec![Row::NONE.started_unix_ns; ROWS],
            wall_ms: vec![Row::NONE.wall_ms; ROWS],
            figures: [Column::NONE; FIGURES],
            origin: Numbers::none(),
            plan: Numbers::none(),
            status: vec![Row::NONE.status; ROWS],
            sorted: None,
            first_unix_ns: i64::MAX,
            last_unix_ns: i64::MIN,
        }
    }

    /// The memory of this segment for another one.
    pub(crate) fn emptied(mut self) -> Self {
        self.status.fill(GONE);
        Self { sorted: None, first_unix_ns: i64::MAX, last_unix_ns: i64::MIN, ..self }
    }

    /// Puts in a row. Where the segment is sorted and the row belongs elsewhere, it is no longer sorted.
    pub(crate) fn put(&mut self, row: usize, values: Row, figures: Figures, label_of: &[u32]) {
        let mut at = self.place_of(row);
        let stays =
            self.status[at] != GONE && label_of[self.plan.at(at) as usize] == label_of[values.plan as usize];
        if self.sorted.is_some() && !stays {
            *self = self.in_order();
            at = row;
        }
        self.started_unix_ns[at] = values.started_unix_ns;
        self.wall_ms[at] = values.wall_ms;
        for (column, figure) in self.figures.iter_mut().zip(figures.columns()) {
            column.put(at, figure);
        }
        self.origin.put(at, values.origin);
        self.plan.put(at, values.plan);
        self.status[at] = values.status;
        self.first_unix_ns = self.first_unix_ns.min(values.started_unix_ns);
        self.last_unix_ns = self.last_unix_ns.max(values.started_unix_ns);
    }

    /// Takes out a row.
    pub(crate) fn remove(&mut self, row: usize) {
        let at = self.place_of(row);
        self.status[at] = GONE;
    }

    pub(crate) fn is_gone(&self, row: usize) -> bool {
        self.status[self.place_of(row)] == GONE
    }

    /// What a row holds; `None` when there is no query.
    pub(crate) fn get(&self, row: usize) -> Option<(Row, Figures)> {
        let at = self.place_of(row);
        self.rows(at..at + 1).next().map(|(_, values)| (values, self.figures_at(at)))
    }

    pub(crate) fn is_sorted(&self) -> bool {
        self.sorted.is_some()
    }

    /// The rows of a segment that is not sorted, by label.
    pub(crate) fn by_label(&self, label_of: &[u32]) -> Self {
        self.arranged(self.labels(label_of).collect())
    }

    /// Of these, only the rows of the labels that are asked for: nothing can be put into it.
    pub(crate) fn part_by_label(&self, label_of: &[u32], is_asked_for: impl Fn(u32) -> bool) -> Self {
        self.arranged(self.labels(label_of).filter(|(label, _)| is_asked_for(*label)).collect())
    }

    /// The label of each row; [`NO_LABEL`] of a place without a query.
    fn labels(&self, label_of: &[u32]) -> impl Iterator<Item = (u32, u16)> {
        let label = |(at, status): (usize, &u8)| match *status {
            GONE => NO_LABEL,
            _ => label_of[self.plan.at(at) as usize],
        };
        self.status.iter().enumerate().map(label).zip(0..)
    }

    /// Rows in the order of their labels.
    fn arranged(&self, mut labels: Vec<(u32, u16)>) -> Self {
        labels.sort_unstable();
        let mut pieces = Vec::new();
        let mut begin = 0;
        for piece in labels.chunk_by(|a, b| a.0 == b.0) {
            let end = begin + piece.len() as u16;
            if piece[0].0 != NO_LABEL {
                pieces.push(Piece { label: piece[0].0, places: begin..end });
            }
            begin = end;
        }
        pieces.shrink_to_fit();
        let rows: Vec<u16> = labels.iter().map(|(_, row)| *row).collect();
        let arranged = self.picked(rows.iter().map(|row| usize::from(*row)));
        Self { sorted: Some(Sorted { rows, pieces }), ..arranged }
    }

    /// The same rows in their order.
    fn in_order(&self) -> Self {
        let Some(sorted) = &self.sorted else { return self.clone() };
        let mut places = vec![0; ROWS];
        for (at, row) in sorted.rows.iter().enumerate() {
            places[usize::from(*row)] = at;
        }
        self.picked(places.into_iter())
    }

    /// The rows at some places, one after the other.
    fn picked(&self, places: impl Iterator<Item = usize> + Clone) -> Self {
        Self {
            started_unix_ns: places.clone().map(|at| self.started_unix_ns[at]).collect(),
            wall_ms: places.clone().map(|at| self.wall_ms[at]).collect(),
            figures: self.figures.each_ref().map(|column| column.picked(places.clone())),
            origin: self.origin.picked(places.clone()),
            plan: self.plan.picked(places.clone()),
            status: places.map(|at| self.status[at]).collect(),
            sorted: None,
            first_unix_ns: self.first_unix_ns,
            last_unix_ns: self.last_unix_ns,
        }
    }

    /// Where a row lies. In a sorted segment it is searched for: only what changes late is.
    fn place_of(&self, row: usize) -> usize {
        match &self.sorted {
            None => row,
            Some(sorted) => sorted.rows.iter().position(|other| usize::from(*other) == row).unwrap_or(row),
        }
    }

    /// Whether a query that started in this time, both ends included, may be here.
    pub(crate) fn touches(&self, since_unix_ns: i64, until_unix_ns: i64) -> bool {
        self.first_unix_ns <= until_unix_ns && self.last_unix_ns >= since_unix_ns
    }

    /// No query that is here started before the first or after the last of these, in Unix nanoseconds.
    pub(crate) fn bounds(&self) -> (i64, i64) {
        (self.first_unix_ns, self.last_unix_ns)
    }

    /// The pieces of a sorted segment, by label.
    pub(crate) fn pieces(&self) -> &[Piece] {
        self.sorted.as_ref().map_or(&[], |sorted| &sorted.pieces)
    }

    /// Has the processor fetch what is always read of a place, so that several places are waited for at once.
    pub(crate) fn fetch(&self, at: usize) {
        black_box(u64::from(self.status[at]) ^ u64::from(self.plan.at(at)) ^ self.wall_ms[at].to_bits());
    }

    /// Of these places those of queries whose origin, plan and status are looked for. Nothing else of the others is
    /// read from memory.
    pub(crate) fn places_of(
        &self,
        places: Range<usize>,
        is_looked_for: impl Fn(u32, u32, u8) -> bool,
    ) -> impl Iterator<Item = usize> {
        let statuses = self.status[places.clone()].iter();
        places.zip(statuses).filter_map(move |(at, status)| {
            let found = *status != GONE && is_looked_for(self.origin.at(at), self.plan.at(at), *status);
            found.then_some(at)
        })
    }

    /// Origin, plan and status of the query at a place.
    pub(crate) fn ran_at(&self, at: usize) -> (u32, u32, u8) {
        (self.origin.at(at), self.plan.at(at), self.status[at])
    }

    /// The wall time of the query at a place; NaN where there is none.
    pub(crate) fn wall_at(&self, at: usize) -> f64 {
        self.wall_ms[at]
    }

    /// The wall times at some places.
    pub(crate) fn walls(&self, places: Range<usize>) -> &[f64] {
        &self.wall_ms[places]
    }

    /// A figure that is rounded, of the query at a place.
    pub(crate) fn figure_at(&self, field: NumberField, at: usize) -> Quantity {
        column_of(field).map_or(Quantity::NONE, |column| self.figures[column].at(at))
    }

    /// A figure that is rounded, at some places; one alone where all have the same.
    pub(crate) fn figures(&self, field: NumberField, places: Range<usize>) -> &[Quantity] {
        column_of(field).map_or(&[], |column| self.figures[column].slice(places))
    }

    /// All figures that are rounded, of the query at a place.
    pub(crate) fn figures_at(&self, at: usize) -> Figures {
        Figures::from_columns(self.figures.each_ref().map(|column| column.at(at)))
    }

    /// The row of the query at a place, and when it started.
    pub(crate) fn start_at(&self, at: usize) -> (usize, i64) {
        let row = self.sorted.as_ref().map_or(at, |sorted| usize::from(sorted.rows[at]));
        (row, self.started_unix_ns[at])
    }

    /// Queries at these places, in the order they lie. Their rows are numbered from a number on.
    pub(crate) fn queries(
        &self,
        places: Range<usize>,
        first_number: u32,
    ) -> impl DoubleEndedIterator<Item = Query<'_>> {
        let statuses = self.status[places.clone()].iter();
        let queries = places.zip(statuses).filter(|(_, status)| **status != GONE);
        queries.map(move |(at, _)| Query { segment: self, at, first_number })
    }

    /// Queries at these places, in the order they lie, each with its place.
    pub(crate) fn rows(&self, places: Range<usize>) -> impl DoubleEndedIterator<Item = (usize, Row)> {
        let begin = places.start;
        let columns = self.started_unix_ns[places.clone()]
            .iter()
            .zip(&self.wall_ms[places.clone()])
            .zip(&self.status[places])
            .enumerate();
        columns.filter_map(move |(at, ((started, wall), status))| {
            let row = Row {
                started_unix_ns: *started,
                wall_ms: *wall,
                origin: self.origin.at(begin + at),
                plan: self.plan.at(begin + at),
                status: *status,
            };
            (*status != GONE).then_some((begin + at, row))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_more_than_sixteen_bits_are_kept() {
        let label_of: Vec<u32> = (0..70_001).map(|plan| plan % 3).collect();
        let row = |origin, plan| {
            let cpu = Quantity::new(u64::from(plan));
            let figures = Figures { cpu, bytes_read: Quantity::new(u64::from(origin)), ..Figures::NONE };
            (Row { started_unix_ns: 1, wall_ms: 2.0, origin, plan, status: 3 }, figures)
        };
        let rows = [row(1, 65_535), row(65_535, 65_537), row(2, 4), row(65_536, 70_000), row(3, 5)];
        let mut segment = Segment::empty();
        for (at, (values, figures)) in rows.into_iter().enumerate() {
            segment.put(at, values, figures, &label_of);
            assert_eq!(matches!(segment.plan, Numbers::Wide(_)), at >= 1);
            assert_eq!(matches!(segment.origin, Numbers::Wide(_)), at >= 3);
        }
        let sorted = segment.by_label(&label_of);
        for (at, values) in rows.into_iter().enumerate() {
            assert_eq!(segment.get(at), Some(values));
            assert_eq!(sorted.get(at), Some(values));
        }
        // By label 0, 1 and 2.
        let plans: Vec<u32> = sorted.rows(0..ROWS).map(|(_, values)| values.plan).collect();
        assert_eq!(plans, [65_535, 4, 70_000, 65_537, 5]);
    }
}

//! Segments as they are kept beside the table they come from, so that a start reads a few arrays and not every row.

use std::collections::BTreeSet;
use std::hash::Hash;

use queryscope_history::Quantity;
use queryscope_store::Status;

use crate::apply::{Columns, QueryState, RowState};
use crate::dictionary::{Dictionary, Origin, Plan};
use crate::figures::{FIGURES, Figures};
use crate::segment::{ROWS, Row};
use crate::select::Snapshot;
use crate::state::{CANCELLED, status_number};

/// The queries of one segment, column by column, in arrays of little-endian numbers. It stands for itself: terms
/// are all it refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentCopy {
    /// The first row of the segment, which has [`ROWS`](crate::ROWS) rows.
    pub first_row: i64,
    /// Where its queries ran: project, service, environment and host of each place, 64 bits each, 0 for none.
    pub origins: Vec<u8>,
    /// Versions of the program of the origins, 64 bits each, 0 for none; empty where all are none.
    pub program_versions: Vec<u8>,
    /// What its queries ran: label, fingerprint and rules of each plan, 64 bits each, 0 for none.
    pub plans: Vec<u8>,
    /// Versions of the engine of the plans, 64 bits each, 0 for none; empty where all are none.
    pub engine_versions: Vec<u8>,
    /// Of each query its row, counted from the first, in 16 bits.
    pub row: Vec<u8>,
    /// Of each query which of the origins it has, in 16 bits.
    pub origin: Vec<u8>,
    /// Of each query which of the plans it has, in 16 bits.
    pub plan: Vec<u8>,
    /// Of each query its status.
    pub status: Vec<u8>,
    /// Which of the failed ones were cancelled: of each its place among the queries, in 16 bits.
    pub cancelled: Vec<u8>,
    /// Of each query its start, in Unix nanoseconds.
    pub started_unix_ns: Vec<u8>,
    /// Of each query its wall time in milliseconds, NaN for none.
    pub wall_ms: Vec<u8>,
    /// Of each query its figures in the order of [`Figures`], each an array of [`Quantity::code`]: one where all have
    /// the same, none where of none it is known.
    pub figures: [Vec<u8>; FIGURES],
}

impl SegmentCopy {
    /// A copy of what the rows of one segment say.
    pub fn of(first_row: i64, rows: impl IntoIterator<Item = RowState>) -> Self {
        let mut columns = Columns::default();
        columns.load(rows);
        let none = || Self::with_room(first_row, 0);
        columns.snapshot().copy(first_row).unwrap_or_else(none)
    }

    fn with_room(first_row: i64, rows: usize) -> Self {
        Self {
            first_row,
            origins: Vec::new(),
            program_versions: Vec::new(),
            plans: Vec::new(),
            engine_versions: Vec::new(),
            row: Vec::with_capacity(2 * rows),
            origin: Vec::with_capacity(2 * rows),
            plan: Vec::with_capacity(2 * rows),
            status: Vec::with_capacity(rows),
            cancelled: Vec::new(),
            started_unix_ns: Vec::with_capacity(8 * rows),
            wall_ms: Vec::with_capacity(8 * rows),
            figures: std::array::from_fn(|_| Vec::with_capacity(2 * rows)),
        }
    }

    /// Whether it says what the rows say, which are in their order.
    pub fn says(&self, rows: &[RowState]) -> bool {
        let copied = self.rows().map(|mut copied| {
            copied.sort_unstable_by_key(|row| row.row);
            copied
        });
        copied.as_deref() == Some(rows)
    }

    /// The terms it names; of arrays that do not belong together, some.
    pub fn terms(&self) -> BTreeSet<i64> {
        let terms =
            |array| numbers::<8>(array).unwrap_or_default().iter().map(|term| i64::from_le_bytes(*term));
        let names = terms(&self.origins).chain(terms(&self.plans));
        let all = names.chain(terms(&self.engine_versions)).chain(terms(&self.program_versions));
        all.filter_map(some).collect()
    }

    /// What the rows said; `None` when the arrays do not belong together.
    pub fn rows(&self) -> Option<Vec<RowState>> {
        let Unpacked { origins, plans, queries } = self.unpack()?;
        let state = |(row, values, figures): (usize, Row, Figures)| RowState {
            row: self.first_row + row as i64,
            query: Some(QueryState {
                started_unix_ns: values.started_unix_ns,
                wall_ms: (!values.wall_ms.is_nan()).then_some(values.wall_ms),
                figures,
                origin: origins[values.origin as usize],
                plan: plans[values.plan as usize],
                status: values.status,
            }),
        };
        Some(queries.map(state).collect())
    }

    /// `None` when the arrays do not belong together.
    pub(crate) fn unpack(&self) -> Option<Unpacked<impl Iterator<Item = (usize, Row, Figures)>>> {
        let origins = groups(&self.origins)?.map(|[project, service, environment, host]| Origin {
            project,
            service: some(service),
            environment: some(environment),
            host,
            program_version: None,
        });
        let plans = groups(&self.plans)?.map(|[label, fingerprint, rules]| Plan {
            label: some(label),
            fingerprint: some(fingerprint),
            rules: some(rules),
            engine_version: None,
        });
        let (mut origins, mut plans): (Vec<_>, Vec<_>) = (origins.collect(), plans.collect());
        let (engines, programs) = (numbers(&self.engine_versions)?, numbers(&self.program_versions)?);
        for (plan, version) in plans.iter_mut().zip(engines) {
            plan.engine_version = some(i64::from_le_bytes(*version));
        }
        for (origin, version) in origins.iter_mut().zip(programs) {
            origin.program_version = some(i64::from_le_bytes(*version));
        }
        let (row, origin, plan) = (numbers(&self.row)?, numbers(&self.origin)?, numbers(&self.plan)?);
        let cancelled = numbers(&self.cancelled)?;
        let (started, wall) = (numbers(&self.started_unix_ns)?, numbers(&self.wall_ms)?);
        let mut figures: [&[[u8; 2]]; FIGURES] = [&[]; FIGURES];
        for (codes, array) in figures.iter_mut().zip(&self.figures) {
            *codes = numbers(array)?;
        }
        let lengths = [origin.len(), plan.len(), self.status.len(), started.len(), wall.len()];
        let below = |numbers: &[[u8; 2]], end| numbers.iter().all(|number| sixteen(*number) < end);
        let belong = (engines.is_empty() || engines.len() == plans.len())
            && (programs.is_empty() || programs.len() == origins.len())
            && figures.iter().all(|codes| codes.len() <= 1 || codes.len() == row.len())
            && lengths.iter().all(|length| *length == row.len())
            && below(row, ROWS)
            && below(origin, origins.len())
            && below(plan, plans.len())
            && self.status.iter().all(|status| Status::of_number(*status).is_some())
            && below(cancelled, row.len());
        let mut states = self.status.clone();
        for place in cancelled.iter().filter(|_| belong) {
            states[sixteen(*place)] = CANCELLED;
        }
        let figures_at = move |at: usize| {
            let code = |codes: &[[u8; 2]]| codes.get(at).or(codes.first()).copied().unwrap_or_default();
            Figures::from_columns(figures.map(|codes| Quantity::from_code(u16::from_le_bytes(code(codes)))))
        };
        let queries = row.iter().zip(origin).zip(plan).zip(states).zip(started).zip(wall).enumerate();
        let queries = queries.map(move |(at, (((((row, origin), plan), status), started), wall))| {
            let values = Row {
                started_unix_ns: i64::from_le_bytes(*started),
                wall_ms: f64::from_le_bytes(*wall),
                origin: sixteen(*origin) as u32,
                plan: sixteen(*plan) as u32,
                status,
            };
            (sixteen(*row), values, figures_at(at))
        });
        belong.then_some(Unpacked { origins, plans, queries })
    }
}

/// A copy whose arrays belong together.
pub(crate) struct Unpacked<Queries> {
    pub(crate) origins: Vec<Origin>,
    pub(crate) plans: Vec<Plan>,
    /// Row within the segment, values and figures of each query, whose origin and plan are places in those.
    pub(crate) queries: Queries,
}

impl Snapshot {
    /// A copy of the segment of a row; `None` when there is none.
    pub fn copy(&self, row: i64) -> Option<SegmentCopy> {
        let number = usize::try_from(row).ok()? / ROWS;
        let at = self.segments.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        let segment = &self.segments[at].1;
        let (mut origins, mut plans) = (Dictionary::default(), Dictionary::default());
        let mut copy = SegmentCopy::with_room((number * ROWS) as i64, ROWS);
        for (at, values) in segment.rows(0..ROWS) {
            // Of all of these a segment has fewer than 65,536.
            copy.row.extend((segment.start_at(at).0 as u16).to_le_bytes());
            copy.origin.extend((origins.number(values.origin) as u16).to_le_bytes());
            copy.plan.extend((plans.number(values.plan) as u16).to_le_bytes());
            if values.status == CANCELLED {
                copy.cancelled.extend((copy.status.len() as u16).to_le_bytes());
            }
            copy.status.push(status_number(values.status));
            copy.started_unix_ns.extend(values.started_unix_ns.to_le_bytes());
            copy.wall_ms.extend(values.wall_ms.to_le_bytes());
            for (codes, figure) in copy.figures.iter_mut().zip(segment.figures_at(at).columns()) {
                codes.extend(figure.code().to_le_bytes());
            }
        }
        copy.figures = copy.figures.map(shortened);
        let none = |term: Option<i64>| term.unwrap_or(0);
        copy.origins = terms(&origins, |number| {
            let Origin { project, service, environment, host, .. } = self.origins[number as usize];
            [project, none(service), none(environment), host]
        });
        copy.plans = terms(&plans, |number| {
            let Plan { label, fingerprint, rules, .. } = self.plans[number as usize];
            [none(label), none(fingerprint), none(rules)]
        });
        copy.engine_versions = versions(&plans, |number| self.plans[number as usize].engine_version);
        copy.program_versions = versions(&origins, |number| self.origins[number as usize].program_version);
        Some(copy)
    }
}

/// The terms of what a segment uses, one after the other.
fn terms<T: Copy + Eq + Hash, const N: usize>(used: &Dictionary<T>, of: impl Fn(T) -> [i64; N]) -> Vec<u8> {
    used.values().iter().flat_map(|number| of(*number)).flat_map(i64::to_le_bytes).collect()
}

/// The versions of what a segment uses; nothing where all are none.
fn versions(used: &Dictionary<u32>, of: impl Fn(u32) -> Option<i64>) -> Vec<u8> {
    let some = used.values().iter().any(|number| of(*number).is_some());
    if some { terms(used, |number| [of(number).unwrap_or(0)]) } else { Vec::new() }
}

/// An array of codes where one stands for as many as are the same, and nothing for those of no figure.
fn shortened(mut codes: Vec<u8>) -> Vec<u8> {
    let (pairs, _) = codes.as_chunks::<2>();
    let first = pairs.first().copied().unwrap_or_default();
    if pairs.iter().all(|code| *code == first) {
        codes.truncate(if first == Quantity::NONE.code().to_le_bytes() { 0 } else { first.len() });
    }
    codes
}

/// An array as numbers of `N` bytes.
fn numbers<const N: usize>(bytes: &[u8]) -> Option<&[[u8; N]]> {
    let (numbers, rest) = bytes.as_chunks();
    rest.is_empty().then_some(numbers)
}

fn sixteen(number: [u8; 2]) -> usize {
    u16::from_le_bytes(number).into()
}

/// An array as groups of `N` terms.
fn groups<const N: usize>(bytes: &[u8]) -> Option<impl Iterator<Item = [i64; N]>> {
    let (groups, rest) = numbers::<8>(bytes)?.as_chunks::<N>();
    rest.is_empty().then(|| groups.iter().map(|group| group.map(i64::from_le_bytes)))
}

/// Terms are numbered from 1.
fn some(term: i64) -> Option<i64> {
    (term != 0).then_some(term)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply::tests::{columns_of, put};

    #[test]
    fn a_copy_of_rows_is_that_of_columns_which_hold_them() {
        let first = ROWS as i64;
        let rows: Vec<_> = (first..first + 5).map(|row| put(row, 10 - row % 2, 0)).collect();
        let copy = SegmentCopy::of(first, rows.clone());
        let held = columns_of(rows.iter().map(|row| (row.row, 10 - row.row % 2)));
        assert_eq!(Some(&copy), held.snapshot().copy(first).as_ref());
        assert!(copy.says(&rows) && !copy.says(&rows[1..]));
        let mut other = rows;
        other[4] = put(first + 4, 9, 1);
        assert!(!copy.says(&other));
        other[3] = put(first + 3, 10, CANCELLED);
        assert!(SegmentCopy::of(first, other.clone()).says(&other));
        // Project, host and labels.
        assert_eq!(copy.terms(), [1, 2, 9, 10].into());
        let none = SegmentCopy::of(first, []);
        assert!(none.says(&[]) && none.terms().is_empty());
    }
}

//! A page of a list.

use std::ops::Range;

use queryscope_history::Quantity;
use queryscope_store::{Amount, ListRequest, Listed, NumberField, Order, Position, SortBy, Status};

use crate::figures::{Figures, column_of};
use crate::names::Names;
use crate::rounded::{is_told_apart, turned_quantity};
use crate::segment::{ROWS, Segment};
use crate::select::{Kept, Selection, Snapshot};
use crate::sought::Sought;
use crate::words::{Words, asks_for_rounded};

/// Places that are looked for at most: they are held until the page is read.
const PLACES_MAX: usize = 100_000;

/// Places whose figures are looked through at a time: where none comes before the last one found, nothing else of
/// them is read.
const STRETCH: usize = if cfg!(debug_assertions) { 3 } else { 256 };

/// Whether the queries of a page are to be found here. An index of the store has all queries by their start, one those
/// of each label, and one those that have not finished; what is asked for by anything else lies in none. By a figure
/// no index lists them. What is searched for is in no column.
pub fn finds_page(request: &ListRequest) -> bool {
    let filter = &request.filter;
    let is_in_columns = !filter.asks_for_texts()
        // How many of those that are skipped are kept is not known.
        && (request.offset == 0 || !asks_for_rounded(&filter.expression));
    let is_indexed = filter.label.is_some() || filter.status.is_some_and(|status| status != Status::Finished);
    let one_index_serves =
        filter.values() <= usize::from(is_indexed) && filter.expression.is_empty() && request.sort.is_none();
    is_in_columns && !one_index_serves && end(request) <= PLACES_MAX
}

/// The place in a list before which a page ends.
pub(crate) fn end(request: &ListRequest) -> usize {
    skipped(request).saturating_add(request.limit)
}

pub(crate) fn skipped(request: &ListRequest) -> usize {
    usize::try_from(request.offset).unwrap_or(usize::MAX)
}

/// A place in the order of a page: what it is sorted by, start and row, each turned so that the first is the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) key: u64,
    pub(crate) started: i64,
    pub(crate) row: i64,
}

impl Place {
    /// Where the places of a key begin.
    pub(crate) fn first_of(key: u64) -> Self {
        Self { key, started: i64::MIN, row: i64::MIN }
    }
}

/// The key of a figure that is not known: it comes last.
pub(crate) const UNKNOWN: u64 = u64::MAX;

/// Places that hold the queries of a page, and where the columns hold a figure rounded, others of nearly the same.
#[derive(Debug)]
pub struct Found {
    pub(crate) order: Order,
    pub(crate) places: Vec<Place>,
    /// How many of the queries there come before the page.
    pub(crate) before: usize,
    /// Whether the list has no other queries behind the place it begins after.
    pub(crate) is_all: bool,
}

impl Found {
    /// The places, in their order. The tie of a place is the row.
    pub fn positions(&self) -> impl Iterator<Item = Position> {
        self.places.iter().map(|place| Position {
            started_unix_ns: turned(self.order, place.started),
            tie: turned(self.order, place.row),
        })
    }

    /// The page, of the queries that were read at these places. `None` where one of them is gone, or no longer says
    /// what the columns did, or where too few are left: the page is then to be read by an index.
    pub fn page(&self, request: &ListRequest, mut read: Vec<Listed>) -> Option<Vec<Listed>> {
        read.sort_unstable_by_key(|listed| place_in_columns(request, listed));
        let places = read.iter().map(|listed| place_in_columns(request, listed));
        if !places.eq(self.places.iter().copied()) {
            return None;
        }
        let rounded = request.sort.map(|sort| sort.field).filter(|field| column_of(*field).is_some());
        if let Some(field) = rounded {
            if !read.iter().all(|listed| field.of(&listed.query).is_none_or(is_told_apart)) {
                return None;
            }
            read.sort_unstable_by_key(|listed| place(request, listed));
        }
        let count = read.len();
        read.retain(|listed| request.filter.keeps(&listed.query));
        let is_each_kept = read.len() == count;
        if let Some(after) = after(request) {
            read.retain(|listed| place(request, listed) > after);
        }
        let page: Vec<Listed> = read.into_iter().skip(self.before).take(request.limit).collect();
        (is_each_kept || self.is_all || page.len() == request.limit).then_some(page)
    }
}

/// Finds the places of a page that is [found here](finds_page). `None` where too many queries have nearly the same
/// figure.
///
/// # Errors
/// When names cannot be read.
pub fn find_page<N: Names>(
    names: &N,
    snapshot: &Snapshot,
    request: &ListRequest,
) -> Result<Option<Found>, N::Error> {
    let selection = Selection::of(names, &request.filter)?;
    let words = Words::of(names, snapshot, &request.filter.expression)?;
    Ok(find(snapshot, &selection, &words, request))
}

/// The places of a page, of the queries a selection keeps: what its filter says without words.
pub fn page(snapshot: &Snapshot, selection: &Selection, request: &ListRequest) -> Option<Found> {
    find(snapshot, selection, &Words::default(), request)
}

fn turned(order: Order, number: i64) -> i64 {
    match order {
        Order::Oldest => number,
        Order::Newest => !number,
    }
}

/// What a page sorted by a figure has a run at.
fn turned_figure(order: Order, figure: Option<f64>) -> u64 {
    // Figures are at least 0, and so in the order of their bits.
    match (order, figure) {
        (_, None) => UNKNOWN,
        (Order::Oldest, Some(figure)) => (figure + 0.0).to_bits(),
        // One less, so that a figure of 0 comes before none.
        (Order::Newest, Some(figure)) => !(figure + 0.0).to_bits() - 1,
    }
}

/// The place of a query by its exact figure.
fn place(request: &ListRequest, listed: &Listed) -> Place {
    let figure = |sort: SortBy| turned_figure(request.order, sort.field.of(&listed.query).map(Amount::get));
    at(request, request.sort.map_or(0, figure), listed.position)
}

/// The place of a query as the columns have it.
fn place_in_columns(request: &ListRequest, listed: &Listed) -> Place {
    match request.sort {
        Some(SortBy { field, .. }) if column_of(field).is_some() => {
            let quantity = Figures::of(&listed.query).get(field);
            at(request, turned_quantity(request.order, quantity), listed.position)
        }
        _ => place(request, listed),
    }
}

fn at(request: &ListRequest, key: u64, position: Position) -> Place {
    let Position { started_unix_ns, tie } = position;
    Place { key, started: turned(request.order, started_unix_ns), row: turned(request.order, tie) }
}

/// After which place a page begins.
pub(crate) fn after(request: &ListRequest) -> Option<Place> {
    let figure = |sort: SortBy| turned_figure(request.order, sort.after.map(Amount::get));
    request.after.map(|after| at(request, request.sort.map_or(0, figure), after))
}

/// Segments are read in the order of their times, and no more of them than can hold a place before the last one found.
/// Where a figure sorts, all of them.
fn find(snapshot: &Snapshot, selection: &Selection, words: &Words, request: &ListRequest) -> Option<Found> {
    let order = request.order;
    let mut found = Sought::of(request)?;
    let kept = Kept::of(snapshot, selection);
    if kept.is_nothing() {
        return found.found();
    }
    let labels = kept.labels(snapshot);
    let times = selection.since_unix_ns..=selection.until_unix_ns;
    let touched =
        snapshot.segments.iter().filter(|(_, segment)| segment.touches(*times.start(), *times.end()));
    let first = |segment: &Segment| {
        let (first_unix_ns, last_unix_ns) = segment.bounds();
        turned(order, first_unix_ns).min(turned(order, last_unix_ns))
    };
    let key_at = |segment: &Segment, at: usize| match request.sort.map(|sort| sort.field) {
        None => 0,
        Some(NumberField::Wall) => {
            turned_figure(order, Some(segment.wall_at(at)).filter(|wall| !wall.is_nan()))
        }
        Some(field) => turned_quantity(order, segment.figure_at(field, at)),
    };
    let mut segments: Vec<_> = touched.map(|(number, segment)| (first(segment), *number, segment)).collect();
    segments.sort_unstable_by_key(|(first, number, _)| (*first, *number));
    for (first, number, segment) in segments {
        // None of the segment comes before this but by what the list is sorted by.
        let least = Place { started: first, ..Place::first_of(0) };
        if request.sort.is_none() && found.is_beyond(least) {
            break;
        }
        let mut read = |places: Range<usize>| {
            let key = request.sort.map(|sort| least_key(order, sort.field, segment, places.clone()));
            if key.is_some_and(|key| found.is_beyond(Place { key, ..least })) {
                return;
            }
            for at in segment.places_of(places, |origin, plan, status| kept.keeps(|| origin, plan, status)) {
                let key = key_at(segment, at);
                if found.is_beyond(Place { key, ..least }) {
                    continue;
                }
                let (row, started_unix_ns) = segment.start_at(at);
                let (started, row) =
                    (turned(order, started_unix_ns), turned(order, (number * ROWS + row) as i64));
                let place = Place { key, started, row };
                if found.takes(place) && times.contains(&started_unix_ns) && words.keeps_at(segment, at) {
                    found.add(place);
                }
            }
        };
        match &labels {
            Some(labels) if segment.is_sorted() => {
                for piece in segment.pieces().iter().filter(|piece| labels[piece.label as usize]) {
                    read(usize::from(piece.places.start)..usize::from(piece.places.end));
                }
            }
            _ => (0..ROWS).step_by(STRETCH).for_each(|begin| read(begin..ROWS.min(begin + STRETCH))),
        }
        found.finish_stretch();
    }
    found.found()
}

/// The least key of some places, also of those that hold no query.
fn least_key(order: Order, field: NumberField, segment: &Segment, places: Range<usize>) -> u64 {
    match field {
        NumberField::Wall => {
            let key = |wall: &f64| turned_figure(order, Some(*wall).filter(|wall| !wall.is_nan()));
            segment.walls(places).iter().map(key).min().unwrap_or(UNKNOWN)
        }
        field => {
            let key = |figure: &Quantity| turned_quantity(order, *figure);
            segment.figures(field, places).iter().map(key).min().unwrap_or(UNKNOWN)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use queryscope_store::{Is, QueryFilter, parse};

    use super::*;
    use crate::apply::tests::{columns_of, put};
    use crate::apply::{Columns, RowState};
    use crate::select::tests::ALL;

    fn request(order: Order, after: Option<Position>, offset: u64, limit: usize) -> ListRequest {
        ListRequest { filter: QueryFilter::default(), sort: None, order, after, offset, limit }
    }

    #[test]
    fn a_page_goes_on_after_a_place_over_segments_sorted_or_not() {
        let far = 5 * ROWS as i64;
        let rows = [(1, 7), (2, 8), (3, 7), (far, 7), (2 * far, 7), (3 * far, 8), (3 * far + 1, 7)];
        // Every query starts when its row says, so that rows stand for places.
        let snapshot = columns_of(rows).snapshot();
        let of_label = Selection { label: Some(Some(7)), ..ALL };
        let part = |selection: &Selection, order, after: Option<i64>, offset, limit| -> Vec<i64> {
            let after = after.map(|row| Position { started_unix_ns: row, tie: row });
            let request = request(order, after, offset, limit);
            page(&snapshot, selection, &request).expect("found").positions().map(|place| place.tie).collect()
        };
        let page = |selection: &Selection, order, after, limit| part(selection, order, after, 0, limit);
        let newest = [3 * far + 1, 2 * far, far, 3, 1];
        let mut oldest = newest;
        oldest.reverse();
        for count in 0..7 {
            let first = |all: &[i64]| all[..count.min(all.len())].to_vec();
            assert_eq!(page(&of_label, Order::Newest, None, count), first(&newest));
            assert_eq!(page(&of_label, Order::Oldest, None, count), first(&oldest));
            assert_eq!(page(&of_label, Order::Newest, Some(2 * far), count), first(&newest[2..]));
            assert_eq!(page(&of_label, Order::Oldest, Some(2), count), first(&oldest[1..]));
            assert_eq!(part(&of_label, Order::Newest, Some(3 * far), 2, count), first(&newest[3..]));
        }
        assert_eq!(page(&ALL, Order::Newest, None, 2), [3 * far + 1, 3 * far]);
        let of_time = Selection { since_unix_ns: 2, until_unix_ns: far, ..ALL };
        assert_eq!(page(&of_time, Order::Newest, None, 9), [far, 3, 2]);
    }

    proptest! {
        #[test]
        fn a_page_by_a_figure_is_that_of_all_sorted(
            // Two labels and few figures: stretches with none of the first, with some, and with the same in all.
            rows in prop::collection::vec(
                (7_i64..9, prop::sample::select(vec![0.0, 1.0, 2.0, f64::NAN]), 0_u64..2, 0_u8..9), 1..80),
            order in prop::sample::select(vec![Order::Newest, Order::Oldest]),
            by_wall: bool,
            of_label: bool,
            limit in 1_usize..12,
        ) {
            let mut columns = Columns::default();
            columns.finish_loading();
            for (row, (label, wall, warnings, is_gone)) in (0..).zip(&rows) {
                let mut state = put(row, *label, 0);
                let query = state.query.as_mut().expect("a query");
                query.wall_ms = Some(*wall).filter(|wall| !wall.is_nan());
                query.figures.warnings = Quantity::new(*warnings);
                columns.apply([state]);
                if *is_gone == 0 {
                    columns.apply([RowState { row, query: None }]);
                }
            }
            let mut all: Vec<(u64, i64)> = Vec::new();
            for (row, (label, wall, warnings, is_gone)) in (0..).zip(&rows) {
                let figure = if by_wall { Some(*wall).filter(|wall| !wall.is_nan()) } else { Some(*warnings as f64) };
                if *is_gone > 0 && (!of_label || *label == 7) {
                    all.push((turned_figure(order, figure), turned(order, row)));
                }
            }
            all.sort_unstable();
            let expected: Vec<i64> = all.iter().take(limit).map(|(_, row)| turned(order, *row)).collect();
            let field = if by_wall { NumberField::Wall } else { NumberField::Warnings };
            let request =
                ListRequest { sort: Some(SortBy { field, after: None }), ..request(order, None, 0, limit) };
            let selection = Selection { label: of_label.then_some(Some(7)), ..ALL };
            let found = page(&columns.snapshot(), &selection, &request).expect("found");
            prop_assert_eq!(found.positions().map(|place| place.tie).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn of_queries_that_started_together_the_row_decides() {
        let together = |row| {
            let mut state = put(row, 7, 0);
            state.query.as_mut().expect("a query").started_unix_ns = 5;
            state
        };
        let mut columns = columns_of([]);
        let far = 5 * ROWS as i64;
        columns.apply([1, 2, far, far + 1].map(together));
        let page = |order| -> Vec<Position> {
            let found = page(&columns.snapshot(), &ALL, &request(order, None, 0, 1));
            found.expect("found").positions().collect()
        };
        assert_eq!(page(Order::Newest), [Position { started_unix_ns: 5, tie: far + 1 }]);
        assert_eq!(page(Order::Oldest), [Position { started_unix_ns: 5, tie: 1 }]);
    }

    #[test]
    fn pages_that_no_index_has_and_that_begin_near_are_found_here() {
        let all = QueryFilter::default;
        let label = Some(Is::Absent);
        let several = QueryFilter { label: label.clone(), fingerprint: Some(Is::Absent), ..all() };
        let request = |filter| ListRequest { filter, ..request(Order::Newest, None, 0, 50) };
        for (filter, expected) in [
            (all(), false),
            (QueryFilter { since_unix_ns: Some(1), until_unix_ns: Some(2), ..all() }, false),
            (QueryFilter { label, since_unix_ns: Some(1), ..all() }, false),
            (QueryFilter { status: Some(Status::Failed), ..all() }, false),
            // No index holds those that finished.
            (QueryFilter { status: Some(Status::Finished), ..all() }, true),
            // Nor those of one host, service, environment, project, plan or version.
            (QueryFilter { host: Some("h".into()), ..all() }, true),
            (QueryFilter { service: Some(Is::Absent), ..all() }, true),
            (QueryFilter { environment: Some(Is::Absent), ..all() }, true),
            (QueryFilter { project: Some("p".into()), ..all() }, true),
            (QueryFilter { fingerprint: Some(Is::Absent), ..all() }, true),
            (QueryFilter { engine_version: Some(Is::Absent), ..all() }, true),
            (QueryFilter { program_version: Some(Is::Absent), ..all() }, true),
            (QueryFilter { status: Some(Status::Failed), project: Some("p".into()), ..all() }, true),
            (several.clone(), true),
            (QueryFilter { search: Some("text".into()), ..several.clone() }, false),
        ] {
            assert_eq!(finds_page(&request(filter.clone())), expected, "{filter:?}");
        }
        for (sort, words, offset, expected) in [
            (Some(NumberField::Wall), "", 9, true),
            (Some(NumberField::Cpu), "", 9, true),
            (Some(NumberField::Read), "spilled>0", 9, true),
            (Some(NumberField::Rows), "", 0, true),
            (Some(NumberField::Warnings), "warnings>2", 9, true),
            (None, "cpu>1s", 0, true),
            (None, "-read>1MB wall>1s", 0, true),
            // Of runs that are skipped it is not known whether they read more or less.
            (None, "read>1MB", 9, false),
            (None, "rows>1", 9, true),
            (None, "rows>5000", 0, true),
            (None, "rows>5000", 9, false),
            (None, "error~timeout", 0, false),
        ] {
            let expression = parse(words).expect("a filter");
            let request = ListRequest {
                sort: sort.map(|field| SortBy { field, after: None }),
                offset,
                ..request(QueryFilter { expression, ..all() })
            };
            assert_eq!(finds_page(&request), expected, "{request:?}");
        }
        for (offset, expected) in
            [(PLACES_MAX as u64 - 50, true), (PLACES_MAX as u64 - 49, false), (u64::MAX, false)]
        {
            assert_eq!(
                finds_page(&ListRequest { offset, ..request(several.clone()) }),
                expected,
                "from {offset}"
            );
        }
    }
}

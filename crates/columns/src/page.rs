//! A page of a list.

use std::collections::BinaryHeap;
use std::ops::Range;

use queryscope_store::{Amount, ListRequest, Listed, NumberField, Order, Position, Status};

use crate::names::Names;
use crate::segment::{ROWS, Segment};
use crate::select::{Kept, Selection, Snapshot};
use crate::words::{Words, are_in_columns};

/// Places that are looked for at most: they are held until the page is read.
const PLACES_MAX: usize = 100_000;

/// Whether the queries of a page are to be found here. An index of the store has all queries by their start, one those
/// of each label, and one those that have not finished; what is asked for by anything else lies in none. By wall time
/// no index lists them. What is searched for is in no column.
pub fn finds_page(request: &ListRequest) -> bool {
    let filter = &request.filter;
    let is_in_columns = filter.search.is_none()
        && are_in_columns(&filter.expression)
        && request.sort.is_none_or(|sort| sort.field == NumberField::Wall);
    let is_indexed = filter.label.is_some() || filter.status.is_some_and(|status| status != Status::Finished);
    let one_index_serves =
        filter.values() <= usize::from(is_indexed) && filter.expression.is_empty() && request.sort.is_none();
    is_in_columns && !one_index_serves && end(request) <= PLACES_MAX
}

/// The place in a list before which a page ends.
fn end(request: &ListRequest) -> usize {
    skipped(request).saturating_add(request.limit)
}

fn skipped(request: &ListRequest) -> usize {
    usize::try_from(request.offset).unwrap_or(usize::MAX)
}

/// The places of a page that is [found here](finds_page). The tie of a place is the row.
///
/// # Errors
/// When names cannot be read.
pub fn find_page<N: Names>(
    names: &N,
    snapshot: &Snapshot,
    request: &ListRequest,
) -> Result<Vec<Position>, N::Error> {
    let selection = Selection::of(names, &request.filter)?;
    let words = Words::of(names, snapshot, &request.filter.expression)?;
    Ok(places(snapshot, &selection, &words, request))
}

/// The places of a page, of the queries a selection keeps: what its filter says without words.
pub fn page(snapshot: &Snapshot, selection: &Selection, request: &ListRequest) -> Vec<Position> {
    places(snapshot, selection, &Words::default(), request)
}

/// A place in the order of a page: what it is sorted by, start and row, each turned so that the first is the least.
type Place = (u64, i64, i64);

fn turned(order: Order, number: i64) -> i64 {
    match order {
        Order::Oldest => number,
        Order::Newest => !number,
    }
}

/// What a page sorted by wall time has a run at; NaN, which is no wall time, comes last.
fn turned_wall(order: Order, wall_ms: f64) -> u64 {
    // Times are at least 0, and so in the order of their bits.
    match order {
        _ if wall_ms.is_nan() => u64::MAX,
        Order::Oldest => (wall_ms + 0.0).to_bits(),
        // One less, so that a time of 0 comes before none.
        Order::Newest => !(wall_ms + 0.0).to_bits() - 1,
    }
}

/// Where a page begins.
fn after(request: &ListRequest) -> Option<Place> {
    let order = request.order;
    let wall = request.sort.map(|sort| sort.after.map_or(f64::NAN, Amount::get));
    request.after.map(|after| {
        let key = wall.map_or(0, |wall| turned_wall(order, wall));
        (key, turned(order, after.started_unix_ns), turned(order, after.tie))
    })
}

/// Segments are read in the order of their times, and no more of them than can hold a place before the last one found.
/// Where another figure sorts, all of them.
fn places(snapshot: &Snapshot, selection: &Selection, words: &Words, request: &ListRequest) -> Vec<Position> {
    let (order, count) = (request.order, end(request));
    let kept = Kept::of(snapshot, selection);
    if kept.is_nothing() {
        return Vec::new();
    }
    let labels = kept.labels(snapshot);
    let (after, is_by_start) = (after(request), request.sort.is_none());
    let times = selection.since_unix_ns..=selection.until_unix_ns;
    let touched =
        snapshot.segments.iter().filter(|(_, segment)| segment.touches(*times.start(), *times.end()));
    let first = |segment: &Segment| {
        let (first_unix_ns, last_unix_ns) = segment.bounds();
        turned(order, first_unix_ns).min(turned(order, last_unix_ns))
    };
    let mut segments: Vec<_> = touched.map(|(number, segment)| (first(segment), *number, segment)).collect();
    segments.sort_unstable_by_key(|(first, number, _)| (*first, *number));
    // Turned, so that the last place is the largest.
    let mut found: BinaryHeap<Place> = BinaryHeap::new();
    for (first, number, segment) in segments {
        let is_behind = |last: &Place| is_by_start && last.1 < first;
        if found.len() >= count && found.peek().is_none_or(is_behind) {
            break;
        }
        let mut read = |places: Range<usize>| {
            for at in segment.places_of(places, |origin, plan, status| kept.keeps(|| origin, plan, status)) {
                let key = if is_by_start { 0 } else { turned_wall(order, segment.wall_at(at)) };
                if found.len() >= count && found.peek().is_some_and(|last| key > last.0) {
                    continue;
                }
                let (row, started_unix_ns) = segment.start_at(at);
                let place =
                    (key, turned(order, started_unix_ns), turned(order, (number * ROWS + row) as i64));
                let is_before_last = found.len() < count || found.peek().is_some_and(|last| place < *last);
                if is_before_last
                    && after.is_none_or(|after| place > after)
                    && times.contains(&started_unix_ns)
                    && words.keeps_at(segment, at)
                {
                    found.push(place);
                    if found.len() > count {
                        found.pop();
                    }
                }
            }
        };
        match &labels {
            Some(labels) if segment.is_sorted() => {
                for piece in segment.pieces().iter().filter(|piece| labels[piece.label as usize]) {
                    read(usize::from(piece.places.start)..usize::from(piece.places.end));
                }
            }
            _ => read(0..ROWS),
        }
    }
    let position =
        |(_, started, row)| Position { started_unix_ns: turned(order, started), tie: turned(order, row) };
    found.into_sorted_vec().into_iter().skip(skipped(request)).map(position).collect()
}

/// The queries that were read at the places of a page, in the order of the page. `None` where one of them is gone, or
/// no longer says what the columns did: the page is then to be read by an index.
pub fn still_there(
    request: &ListRequest,
    places: &[Position],
    mut found: Vec<Listed>,
) -> Option<Vec<Listed>> {
    let order = request.order;
    let place = |listed: &Listed| -> Place {
        let wall = request.sort.map(|sort| sort.field.of(&listed.query).map_or(f64::NAN, Amount::get));
        let key = wall.map_or(0, |wall| turned_wall(order, wall));
        let Position { started_unix_ns, tie } = listed.position;
        (key, turned(order, started_unix_ns), turned(order, tie))
    };
    found.sort_unstable_by_key(place);
    let are_there = found.iter().map(|listed| &listed.position).eq(places)
        && found.iter().all(|listed| request.filter.keeps(&listed.query))
        && after(request).is_none_or(|after| found.iter().all(|listed| place(listed) > after));
    are_there.then_some(found)
}

#[cfg(test)]
mod tests {
    use queryscope_store::{Is, QueryFilter};

    use super::*;
    use crate::apply::tests::{columns_of, put};
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
            page(&snapshot, selection, &request).into_iter().map(|place| place.tie).collect()
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
        let page = |order| page(&columns.snapshot(), &ALL, &request(order, None, 0, 1));
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

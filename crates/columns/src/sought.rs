//! The first places of a list among those that are gone through.
//!
//! The problem: where the columns hold a figure rounded, they do not know the order of places with one code. The
//! mechanism: such places have one rank. So the first places by rank, and all others of the last rank among them, hold
//! the page; the store reads these rows and sorts them by what they say. All other places have a rank of their own.

use queryscope_history::Quantity;
use queryscope_store::{ListRequest, NumberField, Order, SortBy};

use crate::figures::column_of;
use crate::first::First;
use crate::page::{Found, Place, after, end, skipped};
use crate::rounded::{is_exact, quantity_at, quantity_of, turned_quantity};

/// Rows that are read for a page at most where places share a rank. Reading one takes some 10 us; all of a store are
/// read by SQL in the time of a few thousand.
const READ_MAX: usize = 4_096;
/// Places of one rank that are held at most: where most runs have nearly one figure, there is no use in going on.
const HELD_MAX: usize = 100_000;

/// The first places, as far as they are known.
#[derive(Debug)]
pub(crate) struct Sought {
    order: Order,
    /// By which rounded figure the list is sorted.
    rounded: Option<NumberField>,
    count: usize,
    skipped: usize,
    /// Where the page begins.
    after: Option<Place>,
    first: First<Place, Place>,
}

impl Sought {
    /// `None` where the place the page begins after is not told apart from others.
    pub(crate) fn of(request: &ListRequest) -> Option<Self> {
        let rounded = request.sort.filter(|sort| column_of(sort.field).is_some());
        let mut after = after(request);
        if let (Some(after), Some(SortBy { field, after: figure })) = (&mut after, rounded) {
            let quantity = figure.map_or(Some(Quantity::NONE), |figure| quantity_of(field, figure))?;
            after.key = turned_quantity(request.order, quantity);
        }
        let (rounded, count, skipped) = (rounded.map(|sort| sort.field), end(request), skipped(request));
        let order = request.order;
        let first = First::new(Some(count), after.map(|after| rank(order, rounded, after)));
        Some(Self { order, rounded, count, skipped, after, first })
    }

    fn rank(&self, place: Place) -> Place {
        rank(self.order, self.rounded, place)
    }

    /// Whether neither this place nor any behind it is needed.
    pub(crate) fn is_beyond(&self, place: Place) -> bool {
        self.is_too_many() || self.first.is_behind(self.rank(place))
    }

    /// Whether a place may be needed.
    pub(crate) fn takes(&self, place: Place) -> bool {
        self.first.takes(self.rank(place)) && self.after != Some(place)
    }

    /// Adds a place that [may be needed](Self::takes).
    pub(crate) fn add(&mut self, place: Place) {
        self.first.push(self.rank(place), place);
    }

    /// Notes that all places of a stretch have been gone through.
    pub(crate) fn finish_stretch(&mut self) {
        self.first.trim_grown();
    }

    fn is_too_many(&self) -> bool {
        self.first.len() > HELD_MAX + 2 * self.count + 64
    }

    /// All places that are needed, in their order; `None` where they are too many.
    pub(crate) fn found(self) -> Option<Found> {
        if self.is_too_many() {
            return None;
        }
        let after_rank = self.after.map(|after| self.rank(after));
        let entries: Vec<(Place, Place)> = self.first.into_entries().collect();
        let behind = entries.iter().filter(|(rank, _)| Some(*rank) != after_rank).count();
        let is_all = behind < self.count;
        let is_each_ranked = entries.iter().all(|(rank, place)| rank == place);
        let mut places: Vec<Place> = entries.into_iter().map(|(_, place)| place).collect();
        places.sort_unstable();
        let before = if is_each_ranked { 0 } else { self.skipped };
        if is_each_ranked {
            places = places.split_off(self.skipped.min(places.len()));
        }
        (is_each_ranked || places.len() <= READ_MAX).then_some(Found {
            order: self.order,
            places,
            before,
            is_all,
        })
    }
}

/// Where a place stands among the others. Places whose figures are rounded to one code stand together.
fn rank(order: Order, rounded: Option<NumberField>, place: Place) -> Place {
    let is_known = |field| is_exact(field, quantity_at(order, place.key));
    if rounded.is_none_or(is_known) { place } else { Place::first_of(place.key) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use queryscope_store::{Amount, Position, QueryFilter};

    use super::*;

    fn request(field: Option<NumberField>, after: Option<(f64, i64)>, limit: usize) -> ListRequest {
        let figure = after.and_then(|(figure, _)| Amount::new(figure));
        let sort = field.map(|field| SortBy { field, after: figure });
        let after = after.map(|(_, row)| Position { started_unix_ns: 0, tie: row });
        ListRequest { filter: QueryFilter::default(), sort, order: Order::Oldest, after, offset: 0, limit }
    }

    fn found(request: &ListRequest, figures: impl IntoIterator<Item = f64>) -> Option<Vec<Place>> {
        let mut sought = Sought::of(request).expect("told apart");
        for (row, figure) in (0..).zip(figures) {
            let field = request.sort.expect("sorted").field;
            let quantity = Amount::new(figure).and_then(|figure| quantity_of(field, figure));
            let key = turned_quantity(Order::Oldest, quantity.unwrap_or(Quantity::NONE));
            let place = Place { key, started: 0, row };
            if !sought.is_beyond(Place::first_of(key)) && sought.takes(place) {
                sought.add(place);
            }
            if row % 10 == 9 {
                sought.finish_stretch();
            }
        }
        sought.found().map(|found| found.places)
    }

    proptest! {
        #[test]
        fn they_hold_every_page(
            // The middle ones are rounded to one code; the last is not known.
            figures in prop::collection::vec(
                prop::sample::select(vec![1.0, 2.0, 3.0, 70_001.0, 70_002.0, 70_003.0, 90_000.0, f64::NAN]), 0..60),
            after in prop::option::of(0_usize..60),
            count in 1_usize..20,
        ) {
            // As the rows say: by figure, then row.
            let mut all: Vec<(f64, i64)> = figures.iter().copied().zip(0..).collect();
            let turned = |figure: f64| if figure.is_nan() { f64::INFINITY } else { figure };
            all.sort_by(|a, b| (turned(a.0), a.1).partial_cmp(&(turned(b.0), b.1)).expect("numbers"));
            let begin = after.filter(|after| *after < all.len());
            let page = all.iter().skip(begin.map_or(0, |after| after + 1)).take(count);
            let request = request(Some(NumberField::Rows), begin.map(|after| all[after]), count);
            let found = found(&request, figures.iter().copied()).expect("few");
            prop_assert!(found.is_sorted());
            for (figure, row) in page {
                prop_assert!(found.iter().any(|place| place.row == *row), "{figure} of {found:?}");
            }
            // No more of those that are not rounded than are asked for.
            let exact = found.iter().filter(|place| place.key < 10 || place.key == u64::MAX).count();
            prop_assert!(exact <= count, "{found:?}");
        }
    }

    #[test]
    fn too_many_of_one_code_are_left_to_the_store() {
        let rows = |count: i64, figure: fn(i64) -> f64| {
            let request = request(Some(NumberField::Rows), None, 50);
            found(&request, (0..count).map(figure)).map(|places| places.len())
        };
        assert_eq!(rows(4_096, |_| 70_001.0), Some(4_096));
        assert_eq!(rows(4_097, |_| 70_001.0), None);
        assert_eq!(rows(200_000, |_| 70_001.0), None);
        assert_eq!(rows(200_000, |_| 7.0), Some(50), "the order of small whole numbers is known");
        assert_eq!(rows(200_000, |row| (row * 100) as f64), Some(50));
    }
}

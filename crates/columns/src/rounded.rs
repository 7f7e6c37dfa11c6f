//! The first places of a list that is sorted by a figure the columns hold rounded.
//!
//! The problem: CPU time and bytes read are kept in two bytes a run, so runs of nearly the same figure have one code,
//! and the columns do not know their order. The mechanism: rounding keeps the order between codes. So the first places
//! by code, and all others of the last code among them, hold the page; the store reads these rows and sorts them by
//! what they say.

use queryscope_history::Quantity;
use queryscope_store::{Amount, NumberField, Order, Query};

use crate::first::First;
use crate::page::{Exact, Place, UNKNOWN};

/// Rows that are read for a page at most. Reading one takes some 10 us; all of a store are read by SQL in the time
/// of a few thousand.
const READ_MAX: usize = 4_096;
/// Places that are held at most: where most runs have one figure, there is no use in going on.
const HELD_MAX: usize = 100_000;
/// Largest figure that is told from its neighbours as a double.
const TOLD_APART_MAX: f64 = 9_007_199_254_740_992.0;

/// Whether the columns hold a figure, rounded.
pub(crate) fn is_rounded(field: NumberField) -> bool {
    matches!(field, NumberField::Cpu | NumberField::Read)
}

/// Whether a figure has an order among others that is also the order of their codes.
pub(crate) fn is_told_apart(figure: Amount) -> bool {
    figure.get() < TOLD_APART_MAX
}

/// What the columns hold of a run's figure.
pub(crate) fn rounded(field: NumberField, query: &Query) -> Quantity {
    match field {
        NumberField::Cpu => Quantity::from_ms(query.cpu_ms),
        NumberField::Read => Quantity::from_whole(query.bytes_read),
        _ => Quantity::NONE,
    }
}

/// What the columns hold of a figure; `None` where it is not told apart from others.
pub(crate) fn quantity_of(field: NumberField, figure: Amount) -> Option<Quantity> {
    let quantity = match field {
        NumberField::Cpu => Quantity::from_ms(Some(figure.get())),
        _ => Quantity::new(figure.get() as u64),
    };
    is_told_apart(figure).then_some(quantity)
}

/// What a page sorted by a figure has a run at by its code.
pub(crate) fn turned_quantity(order: Order, quantity: Quantity) -> u64 {
    match (order, quantity.code()) {
        (_, 0) => UNKNOWN,
        (Order::Oldest, code) => u64::from(code),
        (Order::Newest, code) => u64::from(!code),
    }
}

/// The first places by code.
#[derive(Debug)]
pub(crate) struct Rounded {
    count: usize,
    /// Where the page begins: those of its code come before it or after it.
    after: Option<Place>,
    /// Places whose figure is known.
    known: First<u64, Place>,
    /// Places whose figure is not known: these have an order.
    unknown: Exact,
    /// Whether too many have one code.
    is_too_many: bool,
}

impl Rounded {
    pub(crate) fn new(count: usize, after: Option<Place>) -> Self {
        let known = First::new(Some(count), after.map(|after| after.key));
        Self { count, after, known, unknown: Exact::new(count, after), is_too_many: false }
    }

    /// Whether no place of this code is needed.
    pub(crate) fn is_beyond(&self, key: u64) -> bool {
        self.is_too_many || !self.known.takes(key)
    }

    /// Whether a place is needed.
    pub(crate) fn takes(&self, place: Place) -> bool {
        !self.is_beyond(place.key) && (place.key != UNKNOWN || self.unknown.takes(place))
    }

    /// Adds a place that is [needed](Self::takes).
    pub(crate) fn add(&mut self, place: Place) {
        if place.key == UNKNOWN {
            self.unknown.add(place);
        } else {
            self.known.push(place.key, place);
            self.is_too_many = self.known.len() > HELD_MAX;
        }
    }

    /// All places that are needed, in their order, and whether there are fewer behind that of `after` than the page
    /// needs; `None` where they are too many.
    pub(crate) fn places(self) -> Option<(Vec<Place>, bool)> {
        if self.is_too_many {
            return None;
        }
        let mut places: Vec<Place> = self.known.into_entries().map(|(_, place)| place).collect();
        let is_behind = |place: &&Place| self.after.is_none_or(|after| place.key != after.key);
        let behind = places.iter().filter(is_behind).count();
        let is_all = behind + self.unknown.len() < self.count;
        places.sort_unstable();
        places.extend(self.unknown.into_places().into_iter().take(self.count.saturating_sub(behind)));
        (places.len() <= READ_MAX).then_some((places, is_all))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The places of a page, where the exact figure of a place is its key and then its row.
    fn page(all: &[Place], after: Option<Place>, count: usize) -> Vec<Place> {
        let mut page: Vec<Place> =
            all.iter().copied().filter(|place| after.is_none_or(|after| *place > after)).collect();
        page.sort_unstable();
        page.truncate(count);
        page
    }

    proptest! {
        #[test]
        fn they_hold_every_page(
            keys in prop::collection::vec(prop::sample::select(vec![1, 2, 3, 7, UNKNOWN]), 0..60),
            after in prop::option::of(0_usize..60),
            count in 0_usize..20,
        ) {
            let place = |(row, key): (i64, &u64)| Place { key: *key, started: 0, row };
            let all: Vec<Place> = (0..).zip(&keys).map(place).collect();
            let after = after.and_then(|after| all.get(after).copied());
            let mut rounded = Rounded::new(count, after);
            for place in &all {
                if rounded.takes(*place) {
                    rounded.add(*place);
                }
            }
            let (found, _) = rounded.places().expect("few");
            prop_assert!(found.is_sorted());
            // Whatever the order within a code, as all of a code are there or none.
            for place in page(&all, after, count) {
                let of_code = |places: &[Place]| places.iter().filter(|other| other.key == place.key).count();
                prop_assert!(found.contains(&place), "{place:?} of {found:?}");
                prop_assert!(place.key == UNKNOWN || of_code(&found) == of_code(&all));
            }
        }
    }

    #[test]
    fn too_many_of_one_code_are_left_to_the_store() {
        let of = |count: i64, distinct: bool| {
            let mut rounded = Rounded::new(50, None);
            for row in 0..count {
                let place = Place { key: if distinct { row as u64 } else { 7 }, started: 0, row };
                if rounded.takes(place) {
                    rounded.add(place);
                }
            }
            rounded.places().map(|(places, _)| places.len())
        };
        assert_eq!(of(4_096, false), Some(4_096));
        assert_eq!(of(4_097, false), None);
        assert_eq!(of(200_000, false), None);
        assert_eq!(of(200_000, true), Some(50));
    }
}

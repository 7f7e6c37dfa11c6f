//! What rounding leaves of the figures that the columns hold, and of their order.
//!
//! A figure is kept in two bytes, so runs of nearly the same have one code, and the columns do not know their order.
//! Rounding keeps the order between codes. Whole numbers up to 2,047 are kept as they are.

use queryscope_history::Quantity;
use queryscope_store::{Amount, NumberField, Order, Unit};

use crate::page::UNKNOWN;

/// Largest figure that is told from its neighbours as a double.
const TOLD_APART_MAX: f64 = 9_007_199_254_740_992.0;

/// Whether a figure has an order among others that is also the order of their codes.
pub(crate) fn is_told_apart(figure: Amount) -> bool {
    figure.get() < TOLD_APART_MAX
}

/// Whether all runs with this code have the same figure.
pub(crate) fn is_exact(field: NumberField, quantity: Quantity) -> bool {
    quantity == Quantity::NONE || (field.unit() != Unit::Duration && quantity.is_exact())
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

/// The code that is [turned](turned_quantity) into this.
pub(crate) fn quantity_at(order: Order, key: u64) -> Quantity {
    match (order, key) {
        (_, UNKNOWN) => Quantity::NONE,
        (Order::Oldest, key) => Quantity::from_code(key as u16),
        (Order::Newest, key) => Quantity::from_code(!(key as u16)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_turned_is_turned_back() {
        for order in [Order::Oldest, Order::Newest] {
            for code in 0..=u16::MAX {
                let quantity = Quantity::from_code(code);
                assert_eq!(quantity_at(order, turned_quantity(order, quantity)), quantity);
            }
        }
    }

    #[test]
    fn small_whole_numbers_and_what_is_unknown_are_exact() {
        let small = Quantity::new(2_047);
        assert!(is_exact(NumberField::Rows, small) && is_exact(NumberField::Spilled, Quantity::NONE));
        assert!(!is_exact(NumberField::Rows, Quantity::new(2_048)));
        // A time may have parts of a nanosecond.
        assert!(!is_exact(NumberField::Cpu, small) && is_exact(NumberField::Cpu, Quantity::NONE));
    }
}

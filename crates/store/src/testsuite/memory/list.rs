//! How the model lists queries.

use std::cmp::Ordering;

use super::disk::Row;
use crate::expression::Amount;
use crate::filter::{ListRequest, Order, Position};
use crate::store::Listed;

pub(super) fn page(rows: &[Row], request: &ListRequest) -> Vec<Listed> {
    let mut found: Vec<Listed> =
        rows.iter().filter(|row| request.filter.keeps(&row.query)).map(Row::listed).collect();
    let figure = |listed: &Listed| request.sort.and_then(|sort| sort.field.of(&listed.query));
    let place = |listed: &Listed| (figure(listed), listed.position);
    found.sort_by(|a, b| compared(request.order, place(a), place(b)));
    let is_ahead = |listed: &Listed| {
        let value = request.sort.and_then(|sort| sort.after);
        let after = request.after.map(|after| (value, after));
        after.is_none_or(|after| compared(request.order, after, place(listed)) == Ordering::Less)
    };
    let skipped = usize::try_from(request.offset).unwrap_or(usize::MAX);
    found.into_iter().filter(is_ahead).skip(skipped).take(request.limit).collect()
}

/// Which of two runs comes first, each with its figure.
fn compared(order: Order, a: (Option<Amount>, Position), b: (Option<Amount>, Position)) -> Ordering {
    let values = match (a.0, b.0) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => return Ordering::Greater,
        (Some(_), None) => return Ordering::Less,
        (Some(a), Some(b)) => a.get().total_cmp(&b.get()),
    };
    let oldest = values.then(a.1.cmp(&b.1));
    if order == Order::Newest { oldest.reverse() } else { oldest }
}

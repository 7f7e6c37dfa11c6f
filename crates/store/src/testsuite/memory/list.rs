//! How the model lists queries.

use super::disk::Row;
use crate::filter::{ListRequest, Order};
use crate::store::Listed;

pub(super) fn page(rows: &[Row], request: &ListRequest) -> Vec<Listed> {
    let mut found: Vec<Listed> =
        rows.iter().filter(|row| request.filter.keeps(&row.query)).map(Row::listed).collect();
    found.sort_by_key(|listed| listed.position);
    if request.order == Order::Newest {
        found.reverse();
    }
    let is_ahead = |listed: &Listed| {
        request.after.is_none_or(|after| match request.order {
            Order::Newest => listed.position < after,
            Order::Oldest => listed.position > after,
        })
    };
    let skipped = usize::try_from(request.offset).unwrap_or(usize::MAX);
    found.into_iter().filter(is_ahead).skip(skipped).take(request.limit).collect()
}

//! How the model lists queries.

use super::disk::Row;
use crate::filter::{Is, ListRequest, Order, QueryFilter};
use crate::query::Query;
use crate::store::Listed;

pub(super) fn page(rows: &[Row], request: &ListRequest) -> Vec<Listed> {
    let mut found: Vec<Listed> =
        rows.iter().filter(|row| matches(&row.query, &request.filter)).map(Row::listed).collect();
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

pub(super) fn matches(query: &Query, filter: &QueryFilter) -> bool {
    let is = |wanted: &Option<Is>, found: &Option<String>| match wanted {
        None => true,
        Some(Is::Value(value)) => found.as_ref() == Some(value),
        Some(Is::Absent) => found.is_none(),
    };
    filter.project.as_ref().is_none_or(|project| *project == query.project)
        && is(&filter.label, &query.label)
        && is(&filter.fingerprint, &query.fingerprint)
        && is(&filter.service, &query.service)
        && is(&filter.environment, &query.environment)
        && filter.host.as_ref().is_none_or(|host| *host == query.host)
        && filter.status.is_none_or(|status| status == query.status)
        && filter.since_unix_ns.is_none_or(|since| query.started_unix_ns >= since)
        && filter.until_unix_ns.is_none_or(|until| query.started_unix_ns <= until)
        && filter.search.as_ref().is_none_or(|text| holds(query, text))
}

fn holds(query: &Query, text: &str) -> bool {
    let in_any_case = |found: &Option<String>| {
        found.as_ref().is_some_and(|found| found.to_lowercase().contains(&text.to_lowercase()))
    };
    in_any_case(&query.label)
        || in_any_case(&query.failed)
        || query.query_id.to_string().contains(&text.to_lowercase())
}

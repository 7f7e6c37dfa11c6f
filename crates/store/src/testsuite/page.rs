//! Random pages of lists, for stores that can read one in more than one way.

use std::ops::Range;

use proptest::prelude::*;
use proptest::sample::select;

use crate::expression::Expression;
use crate::filter::{Is, ListRequest, Order, Position, QueryFilter};
use crate::query::Status;

/// What a field of a filter may ask for; a table is to know all but the last.
const VALUES: [&str; 4] = ["a", "b", "c", "nobody"];

/// Any page of a table whose fields say `a`, `b`, `c` or nothing, within its rows and their starts; nothing is
/// searched for.
pub fn any_page(rows: Range<i64>, starts: Range<i64>) -> impl Strategy<Value = ListRequest> {
    let order = select(&[Order::Newest, Order::Oldest][..]);
    let after = (starts.clone(), rows).prop_map(|(started_unix_ns, tie)| Position { started_unix_ns, tie });
    (filter(starts), order, prop::option::of(after), 0..4_u64, 0..20_usize).prop_map(
        |(filter, order, after, offset, limit)| ListRequest {
            filter,
            sort: None,
            order,
            after,
            offset,
            limit,
        },
    )
}

fn filter(starts: Range<i64>) -> impl Strategy<Value = QueryFilter> {
    let text = || prop::option::weighted(0.4, select(&VALUES[..]).prop_map(String::from));
    let is = |weight| {
        let is = prop_oneof![
            3 => select(&VALUES[..]).prop_map(|text| Is::Value(text.into())),
            1 => Just(Is::Absent),
        ];
        prop::option::weighted(weight, is)
    };
    let status = prop::option::weighted(0.4, select(&Status::ALL[..]));
    let bound = || prop::option::weighted(0.2, starts.clone());
    (text(), is(0.4), is(0.4), (is(0.2), is(0.2)), is(0.4), is(0.4), text(), status, bound(), bound())
        .prop_map(
            |(
                project,
                label,
                fingerprint,
                (engine_version, program_version),
                service,
                environment,
                host,
                status,
                since_unix_ns,
                until_unix_ns,
            )| {
                QueryFilter {
                    project,
                    label,
                    fingerprint,
                    engine_version,
                    program_version,
                    service,
                    environment,
                    host,
                    status,
                    since_unix_ns,
                    until_unix_ns,
                    search: None,
                    expression: Expression::default(),
                }
            },
        )
}

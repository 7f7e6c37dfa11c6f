//! Runs of a label as they may come: many on the edge of a stretch, at one time, of equal times.

use proptest::prelude::*;
use proptest::sample::select;
use queryscope_history::{Run, RunStatus};
use queryscope_protocol::QueryId;
use uuid::Uuid;

pub(crate) const HOUR_NS: i64 = 3_600_000_000_000;
pub(crate) const DAY_NS: i64 = 24 * HOUR_NS;
/// A moment that lies on no edge.
pub(crate) const NOW: i64 = 1_795_206_683_609_778_763;

const RULES: [&[&str]; 5] = [&[], &[], &["skew"], &["spill", "skew"], &["scan"]];

/// Up to 60 runs of a label, with different ids, in any order. The label changed its pace and its plans so many
/// hours ago.
pub(crate) fn runs() -> impl Strategy<Value = Vec<Run<'static>>> {
    let change = (select(vec![0.5, 1.0, 1.5, 3.0]), 1..72_i64);
    (change, 1..=60_usize)
        .prop_flat_map(|((factor, hours), count)| {
            let run = run().prop_map(move |run| {
                let changed = run.started_unix_ns > NOW - hours * HOUR_NS;
                let wall_ms = run.wall_ms.map(|ms| if changed { ms * factor } else { ms });
                let rules = if changed { run.rules } else { &run.rules[..run.rules.len().min(1)] };
                Run { wall_ms, rules, ..run }
            });
            prop::collection::vec(run, count)
        })
        .prop_map(|mut runs| {
            for (number, run) in (1_u128..).zip(&mut runs) {
                // Ids in an order of their own.
                run.query_id =
                    QueryId::new(Uuid::from_u128(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 1009));
            }
            runs
        })
}

fn run() -> impl Strategy<Value = Run<'static>> {
    let status = prop_oneof![
        8 => Just(RunStatus::Finished),
        1 => Just(RunStatus::Failed),
        1 => select(vec![RunStatus::Cancelled, RunStatus::Running, RunStatus::Unfinished]),
    ];
    let wall_ms = prop_oneof![2 => 90.0..110.0_f64, 1 => (9..12_u32).prop_map(|tens| f64::from(tens) * 10.0)];
    let service = select(vec![None, Some("api"), Some("etl")]);
    let fingerprint = select(vec![None, Some("A"), Some("A"), Some("B"), Some("C")]);
    (ago_ns(), status, wall_ms, service, fingerprint, select(RULES.to_vec())).prop_map(
        |(ago_ns, status, wall_ms, service, fingerprint, rules)| Run {
            query_id: QueryId::new(Uuid::nil()),
            started_unix_ns: NOW - ago_ns,
            status,
            wall_ms: (status != RunStatus::Running).then_some(wall_ms),
            service,
            fingerprint,
            rules,
        },
    )
}

fn ago_ns() -> impl Strategy<Value = i64> {
    let edge =
        (select(vec![0, 1, 6, 7, 14, 15, 21, 28]), -1..=1_i64).prop_map(|(days, by)| days * DAY_NS + by);
    let slice = (0..60_i64, -1..=1_i64).prop_map(|(slices, by)| slices * 6 * HOUR_NS + by);
    prop_oneof![
        2 => 0..2 * DAY_NS,
        6 => DAY_NS..16 * DAY_NS,
        2 => 0..40 * DAY_NS,
        1 => edge,
        1 => slice,
        1 => -HOUR_NS..0,
        1 => -DAY_NS - 1..=-DAY_NS + 1,
        1 => -2 * DAY_NS..0,
    ]
}

//! A join whose output is many times its larger input.

use queryscope_protocol::{Finding, Role};

use crate::finding::about;
use crate::query::Query;
use crate::say::{count, times};
use crate::vocabulary::counters::ROWS_OUT;

/// Growth below this is what one-to-many joins do.
const GROWTH: f64 = 10.0;
/// Fewer rows than this cost nothing.
const ROWS: u64 = 1000;

pub(super) fn find(query: &Query<'_>, found: &mut Vec<Finding<'static>>) {
    for (place, step) in query.plan.steps.iter().enumerate() {
        if !matches!(step.role(), Role::Join | Role::ThetaJoin) {
            continue;
        }
        let Some(rows_out) = step.counter(&ROWS_OUT).filter(|&rows| rows >= ROWS) else { continue };
        let inputs: Option<Vec<u64>> = query.plan.rows_from(place).into_iter().collect();
        let Some(larger) = inputs.and_then(|rows| rows.into_iter().max()).filter(|&rows| rows > 0) else {
            continue;
        };
        let growth = rows_out as f64 / larger as f64;
        // While it runs its inputs still grow: what it has put out may yet be little beside them.
        if growth < GROWTH || step.runs() {
            continue;
        }
        let title = format!("Join puts out {} its larger input: {} rows", times(growth), count(rows_out));
        let finding = about(query, step, "exploding_join", title)
            .fix(
                "if keys repeat by mistake, remove the duplicates of one input first or join on the full key; \
                 else aggregate before the join",
            )
            .number("rows_out", rows_out, "rows")
            .number("larger_input", larger, "rows")
            .number("growth", growth, "ratio")
            .saves_cpu_ns(step.busy_ns() as f64 * (1.0 - 1.0 / growth));
        found.push(finding.done());
    }
}

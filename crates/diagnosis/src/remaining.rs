//! How long may a running run still take?
//!
//! Each earlier run of the same regime is a forecast of this one: its time, times the rows this one has read
//! beyond what that one read, or the rows it did read where its scans have ended. What those forecasts leave
//! from now on is the distribution; its quantiles are those of Weibull (`k / (n + 1)`, type 6 of Hyndman and
//! Fan), which hold the next value of an exchangeable sample with the stated probability, whatever the
//! distribution is (G. Shafer and V. Vovk, "A Tutorial on Conformal Prediction", Journal of Machine Learning
//! Research 9 (2008)). A forecast shorter than the time the query has run already is ruled out.

use queryscope_insights::Fingerprint;

use crate::features::{NodeFeatures, RunFeatures, Status};
use crate::stats::median;

/// Earlier runs that are needed to say anything.
const RUNS_MIN: usize = 5;
/// Runs of the same plan that are needed to leave the others out.
const PLAN_RUNS_MIN: usize = 8;
/// Forecasts that must not be ruled out.
const LEFT_MIN: usize = 3;
/// Earlier runs that are looked at.
const RUNS_MAX: usize = 100;
/// From this factor of the usual rows on it is said.
const ROWS_TOLD: f64 = 1.2;

/// What a running query has counted.
#[derive(Debug, Clone, Copy)]
pub struct Running<'r> {
    /// How long it has run, in nanoseconds.
    pub elapsed_ns: u64,
    /// Its physical plan, and its nodes' counters so far in the plan's order, with whether each has ended;
    /// empty where nothing was counted yet.
    pub plan: Option<Fingerprint>,
    /// The counters.
    pub nodes: &'r [(NodeFeatures, bool)],
}

/// The remaining time of a running query, in milliseconds.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Remaining {
    /// It takes longer with a probability of 90 %.
    pub p10_ms: f64,
    /// Of one half.
    pub p50_ms: f64,
    /// Of 10 %.
    pub p90_ms: f64,
    /// Earlier runs it rests on.
    pub runs: usize,
    /// Rows read beside those of an earlier run at its end, where they are more or all of them are read.
    pub rows_factor: Option<f64>,
    /// What it rests on, in words.
    pub basis: String,
}

/// Forecasts from earlier runs of the same regime ([`Detector::current`](crate::Detector::current)), oldest
/// first; `None` where they are too few, or all shorter than what has passed.
pub fn remaining(running: &Running<'_>, earlier: &[&RunFeatures]) -> Option<Remaining> {
    let finished: Vec<&RunFeatures> =
        earlier.iter().rev().filter(|run| run.status == Status::Finished).take(RUNS_MAX).copied().collect();
    let of_plan: Vec<&RunFeatures> =
        finished.iter().filter(|run| Some(run.plan.fingerprint) == running.plan).copied().collect();
    let same_plan = of_plan.len() >= PLAN_RUNS_MIN;
    let runs = if same_plan { of_plan } else { finished };
    if runs.len() < RUNS_MIN {
        return None;
    }
    let elapsed = running.elapsed_ns as f64;
    let mut factors = Vec::new();
    let mut left: Vec<f64> = Vec::new();
    for run in &runs {
        let rows = if Some(run.plan.fingerprint) == running.plan { rows_factor(running, run) } else { 1.0 };
        factors.push(rows);
        let planning = run.planning_ns.unwrap_or(0).min(run.wall_ns) as f64;
        let total = planning + (run.wall_ns as f64 - planning) * rows;
        if total > elapsed {
            left.push(total - elapsed);
        }
    }
    if left.len() < LEFT_MIN {
        return None;
    }
    left.sort_unstable_by(f64::total_cmp);
    let [p10_ms, p50_ms, p90_ms] = [0.1, 0.5, 0.9].map(|part| quantile(&left, part) / 1e6);
    let factor = median(&mut factors);
    let told = !(1.0 / ROWS_TOLD..=ROWS_TOLD).contains(&factor);
    let plan = if same_plan { " of its plan" } else { "" };
    let basis = if told {
        format!("{factor:.1} times the rows of usual; {} earlier runs{plan}", runs.len())
    } else {
        format!("{} earlier runs{plan}", runs.len())
    };
    Some(Remaining { p10_ms, p50_ms, p90_ms, runs: runs.len(), rows_factor: told.then_some(factor), basis })
}

/// By how much this run reads more than an earlier one: at least, while scans go on; exactly, once they have
/// ended.
fn rows_factor(running: &Running<'_>, earlier: &RunFeatures) -> f64 {
    let read = |node: &NodeFeatures| node.rows_scanned.get().or(node.rows_out.get()).unwrap_or(0) as f64;
    let (mut now, mut then, mut ended) = (0.0, 0.0, true);
    for ((&(node, done), old), planned) in running.nodes.iter().zip(&earlier.nodes).zip(&earlier.plan.nodes) {
        if planned.inputs.is_empty() {
            now += read(&node);
            then += read(old);
            ended &= done;
        }
    }
    match then > 0.0 {
        false => 1.0,
        true if ended => now / then,
        true => (now / then).max(1.0),
    }
}

/// The quantile of type 6 of sorted values; beyond the outermost values it is those.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() + 1) as f64 - 1.0;
    let below = (place.floor().max(0.0) as usize).min(sorted.len() - 1);
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use queryscope_history::Quantity;
    use queryscope_protocol::{QueryId, Role};
    use uuid::Uuid;

    use super::*;
    use crate::plan::{Plan, PlanNode};

    fn plan() -> Arc<Plan> {
        let scan = PlanNode {
            id: 1,
            kind: "Scan".into(),
            role: Role::Scan,
            inputs: Vec::new(),
            own_shape: 1,
            shape: 1,
            table: None,
            predicate: None,
            columns: None,
            how: None,
            user_code: None,
        };
        Arc::new(Plan { fingerprint: Fingerprint::from_bytes([1; 6]), nodes: [scan].into() })
    }

    fn node(rows: u64) -> NodeFeatures {
        NodeFeatures { busy_ns: Quantity::new(100), rows_out: Quantity::new(rows), ..NodeFeatures::default() }
    }

    fn earlier(walls_ms: impl IntoIterator<Item = u64>) -> Vec<RunFeatures> {
        let each = walls_ms.into_iter().enumerate().map(|(place, wall_ms)| RunFeatures {
            plan: plan(),
            nodes: [node(1_000)].into(),
            ..RunFeatures::new(
                QueryId::new(Uuid::from_u128(place as u128)),
                place as i64,
                wall_ms * 1_000_000,
            )
        });
        each.collect()
    }

    fn told(elapsed_ms: u64, nodes: &[(NodeFeatures, bool)], earlier: &[RunFeatures]) -> Option<Remaining> {
        let running = Running { elapsed_ns: elapsed_ms * 1_000_000, plan: Some(plan().fingerprint), nodes };
        remaining(&running, &earlier.iter().collect::<Vec<_>>())
    }

    #[test]
    fn quantiles_of_what_is_left() {
        // 99 runs of 1 to 99 ms, and nothing known: the quantiles are the values themselves.
        let all = earlier(1..=99);
        let told = told(0, &[], &all).expect("enough runs");
        assert_eq!((told.p10_ms, told.p50_ms, told.p90_ms), (10.0, 50.0, 90.0));
        assert_eq!(told.basis, "99 earlier runs of its plan");
    }

    #[test]
    fn forecasts_that_passed_are_ruled_out() {
        let all = earlier(1..=99);
        assert_eq!(told(90, &[], &all).expect("nine left").p50_ms, 5.0);
        assert_eq!(told(97, &[], &all), None);
        assert_eq!(told(0, &[], &all[..4]), None);
    }

    #[test]
    fn three_times_the_rows_is_three_times_the_time() {
        let all = earlier(std::iter::repeat_n(100, 20));
        let told = told(10, &[(node(3_000), false)], &all).expect("enough runs");
        assert_eq!(told.rows_factor, Some(3.0));
        assert!(told.p50_ms > 150.0, "{told:?}");
        assert!(told.basis.starts_with("3.0 times the rows of usual"), "{}", told.basis);
    }
}

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
/// Of so many of the last runs of the plan ...
const READ_AS_MUCH_OF: usize = 8;
/// ... so many that read as much are reason not to call another number of rows usual.
const READ_AS_MUCH_MIN: usize = 2;
/// Numbers of rows that differ by no more than this factor are as much.
const AS_MUCH: f64 = 1.1;
/// While scans go on, the rows read beyond those of earlier runs are a lower bound. Where so many of these runs were
/// shorter than this one is already, the rows grow with the time, and say nothing of its end.
const PASSED_MAX: f64 = 0.1;

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
    /// Rows read beside those of an earlier run at its end, where they are more or all of them are read. `None` also
    /// where at least 2 of the last 8 runs of the plan read as much.
    pub rows_factor: Option<f64>,
    /// What it rests on, in words.
    pub basis: String,
}

/// What the earlier runs of the same regime say of a running query.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Wall times of the earlier runs, in milliseconds.
    pub walls_ms: Vec<f64>,
    /// Which runs these are, in words: "the last 40 runs of its plan".
    pub basis: String,
    /// Rows it has read by those that they had read at their end: the median, where it is worth telling; also where no
    /// remaining time is told, and where some of the last runs read as much.
    pub rows_read: Option<f64>,
    /// How long it may still take.
    pub remaining: Option<Remaining>,
}

/// Judges a running query by earlier runs of the same regime ([`Detector::current`](crate::Detector::current)), oldest
/// first; `None` where they are too few.
pub fn judged(running: &Running<'_>, earlier: &[&RunFeatures]) -> Option<Judged> {
    let basis = Basis::of(running, earlier)?;
    let rows_read = rows_told(running, &basis.runs);
    Some(Judged {
        walls_ms: basis.runs.iter().map(|run| run.wall_ns as f64 / 1e6).collect(),
        basis: basis.words(),
        rows_read,
        remaining: left(running, &basis, rows_read),
    })
}

/// Forecasts from earlier runs of the same regime, oldest first; `None` where they are too few, or all shorter than
/// what has passed, or where scans read on beyond the rows of earlier runs and nothing says how many are left.
pub fn remaining(running: &Running<'_>, earlier: &[&RunFeatures]) -> Option<Remaining> {
    judged(running, earlier)?.remaining
}

fn left(running: &Running<'_>, basis: &Basis<'_>, factor: Option<f64>) -> Option<Remaining> {
    let runs = &basis.runs;
    let elapsed = running.elapsed_ns as f64;
    let mut left: Vec<f64> = Vec::new();
    for run in runs {
        let planning = run.planning_ns.unwrap_or(0).min(run.wall_ns) as f64;
        let total = planning + (run.wall_ns as f64 - planning) * rows_factor(running, run);
        if total > elapsed {
            left.push(total - elapsed);
        }
    }
    let passed = runs.iter().filter(|run| run.wall_ns as f64 <= elapsed).count() as f64;
    let reads_on = factor.is_some_and(|factor| factor > 1.0) && !scans_ended(running, runs);
    if left.len() < LEFT_MIN || reads_on && passed > PASSED_MAX * runs.len() as f64 {
        return None;
    }
    left.sort_unstable_by(f64::total_cmp);
    let [p10_ms, p50_ms, p90_ms] = [0.1, 0.5, 0.9].map(|part| quantile(&left, part) / 1e6);
    let told = factor.filter(|&factor| !is_usual(running, runs, factor));
    let rows = told.map(|factor| format!("{factor:.1} times the rows of usual; ")).unwrap_or_default();
    let basis = format!("{rows}{}", basis.words());
    Some(Remaining { p10_ms, p50_ms, p90_ms, runs: runs.len(), rows_factor: told, basis })
}

/// The earlier runs that forecasts come from, the newest first.
struct Basis<'r> {
    runs: Vec<&'r RunFeatures>,
    same_plan: bool,
}

impl<'r> Basis<'r> {
    fn of(running: &Running<'_>, earlier: &[&'r RunFeatures]) -> Option<Self> {
        let finished: Vec<&RunFeatures> = earlier
            .iter()
            .rev()
            .filter(|run| run.status == Status::Finished)
            .take(RUNS_MAX)
            .copied()
            .collect();
        let of_plan: Vec<&RunFeatures> =
            finished.iter().filter(|run| is_of_plan(running, run)).copied().collect();
        let same_plan = of_plan.len() >= PLAN_RUNS_MIN;
        let runs = if same_plan { of_plan } else { finished };
        (runs.len() >= RUNS_MIN).then_some(Self { runs, same_plan })
    }

    fn words(&self) -> String {
        format!("the last {} runs of its {}", self.runs.len(), if self.same_plan { "plan" } else { "query" })
    }
}

fn is_of_plan(running: &Running<'_>, run: &RunFeatures) -> bool {
    Some(run.plan.fingerprint) == running.plan
}

/// The median factor of the rows, where it is worth telling.
fn rows_told(running: &Running<'_>, runs: &[&RunFeatures]) -> Option<f64> {
    let factor = median(&mut runs.iter().map(|run| rows_factor(running, run)).collect::<Vec<_>>());
    (!(1.0 / ROWS_TOLD..=ROWS_TOLD).contains(&factor)).then_some(factor)
}

/// Whether at least two of the last runs of the plan read as much as this one does, or more; where it reads less, as
/// little, or less. Then so many rows are not unusual, whatever the median of all is.
fn is_usual(running: &Running<'_>, runs: &[&RunFeatures], factor: f64) -> bool {
    let last = runs.iter().filter(|run| is_of_plan(running, run)).take(READ_AS_MUCH_OF);
    let as_much = last.filter(|run| {
        let by_this = rows_factor(running, run);
        if factor > 1.0 { by_this <= AS_MUCH } else { by_this >= 1.0 / AS_MUCH }
    });
    as_much.count() >= READ_AS_MUCH_MIN
}

fn scans_ended(running: &Running<'_>, runs: &[&RunFeatures]) -> bool {
    let Some(run) = runs.iter().find(|run| is_of_plan(running, run)) else { return true };
    run.plan.reading_leaves().all(|source| running.nodes.get(source).is_none_or(|&(_, done)| done))
}

/// By how much this run reads more than an earlier one: at least, while scans go on; exactly, once they have
/// ended.
fn rows_factor(running: &Running<'_>, earlier: &RunFeatures) -> f64 {
    if !is_of_plan(running, earlier) {
        return 1.0;
    }
    let read = |node: &NodeFeatures| node.rows_scanned.get().or(node.rows_out.get()).unwrap_or(0) as f64;
    let (mut now, mut then, mut ended) = (0.0, 0.0, true);
    for source in earlier.plan.reading_leaves() {
        if let Some((&(node, done), old)) = running.nodes.get(source).zip(earlier.nodes.get(source)) {
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
        let scan = PlanNode::bare("Scan", Role::Scan);
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
        assert_eq!(told.basis, "the last 99 runs of its plan");
    }

    #[test]
    fn forecasts_that_passed_are_ruled_out() {
        let all = earlier(1..=99);
        assert_eq!(told(90, &[], &all).expect("nine left").p50_ms, 5.0);
        assert_eq!(told(97, &[], &all), None);
        assert_eq!(told(0, &[], &all[..4]), None);
    }

    #[test]
    fn rows_that_grow_with_the_time_say_nothing_of_its_end() {
        // 96 to 105 ms for 1,000 rows; this one has read 1,500 after 150 ms, and reads on.
        let all = earlier((0..20).map(|n| 96 + n % 10));
        let (reads, read) = ([(node(1_500), false)], [(node(1_500), true)]);
        assert_eq!(told(150, &reads, &all), None);
        let running = Running { elapsed_ns: 150_000_000, plan: Some(plan().fingerprint), nodes: &reads };
        let judged = judged(&running, &all.iter().collect::<Vec<_>>()).expect("enough runs");
        assert_eq!((judged.rows_read, judged.walls_ms.len()), (Some(1.5), 20));
        assert!(told(150, &read, &all).is_some(), "all rows are read");
        // Ten times the rows in five times the time: the forecasts by them are all still ahead.
        assert_eq!(told(500, &[(node(10_000), false)], &all), None);
        assert!(told(90, &[(node(10_000), false)], &all).is_some(), "no earlier run was as short");
    }

    /// Runs of 100 ms that read these rows, oldest first.
    fn reading(rows: impl IntoIterator<Item = u64>) -> Vec<RunFeatures> {
        let each = rows.into_iter().map(|rows| {
            let mut run = earlier([100]).remove(0);
            run.nodes = [node(rows)].into();
            run
        });
        each.collect()
    }

    #[test]
    fn rows_that_some_of_the_last_runs_read_are_usual() {
        let read = |rows: u64, done: bool, all: &[RunFeatures]| {
            told(10, &[(node(rows), done)], all).expect("enough runs")
        };
        // 1 M and 3 M by turns: the median of the factors is 2.
        let by_turns = reading([1_000_000, 3_000_000].repeat(10));
        for done in [true, false] {
            let told = read(3_000_000, done, &by_turns);
            assert_eq!((told.rows_factor, &*told.basis), (None, "the last 20 runs of its plan"));
        }
        let few = read(1_000_000, true, &by_turns);
        assert_eq!(few.rows_factor, None, "as few as every second");
        assert!(read(9_000_000, true, &by_turns).rows_factor.is_some(), "none of them read as many");
        // 2 % more from run to run.
        let grows = reading((0..60).map(|n| (1e6 * 1.02_f64.powi(n)) as u64));
        assert_eq!(read((1e6 * 1.02_f64.powi(60)) as u64, true, &grows).rows_factor, None);
        // One run that read as many is not enough, and those of long ago do not count.
        let once = reading((0..20).map(|n| if n == 15 { 3_000_000 } else { 1_000_000 }));
        assert!(read(3_000_000, true, &once).basis.starts_with("3.0 times the rows of usual"));
        let long_ago = reading((0..20).map(|n| if n < 5 { 3_000_000 } else { 1_000_000 }));
        assert!(read(3_000_000, true, &long_ago).basis.starts_with("3.0 times the rows of usual"));
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

//! What do the slow runs of a query have that the others have not?
//!
//! Two groups of runs are held against each other: the slow ones and the others, those that failed and those that
//! finished, or any two. Each field of the runs is one comparison: how much of a number a run has (rows read, bytes
//! spilled), or whether it has a value (this host, this hour). Numbers are those of runs that finished: one that failed
//! stopped in the middle. The effect is Cliff's delta ([`cliffs_delta`]): how much more often a run of the
//! first group has the larger number than the smaller one. Of a value that runs have or have not, it is the
//! difference of the two shares. What is told has an effect of [`DELTA_MIN`] or more either way, and would come
//! about by luck alone in less than [`PROBABILITY_MAX`] of all cases, over all comparisons that were made
//! (Mann-Whitney U, with Bonferroni's correction). Medians of a number that are less than a twentieth apart are told of
//! as little as those that are the same: an effect says how surely two groups differ, and not by how much.
//!
//! Effects are no causes: hosts and versions often change together. They are ranked by effect, then by name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use queryscope_history::{Alternative, RankTest};

use crate::features::{RunFeatures, Status};
use crate::stats::{best_cut, cliffs_delta, median};

/// Runs that each of two groups needs: nothing is told of fewer.
pub const RUNS_MIN: usize = 5;
/// Least effect that is told: a medium one (J. Romano and others, "Appropriate statistics for ordinal level
/// data", 2006).
pub(crate) const DELTA_MIN: f64 = 0.33;
/// The larger median of a number is at least so many times the smaller one.
const MEDIANS_RATIO_MIN: f64 = 1.05;
/// Probability of luck, over all comparisons, under which an effect is told.
pub(crate) const PROBABILITY_MAX: f64 = 0.01;
/// The median of the slow runs is at least so many times that of the others: else none is called slow.
pub(crate) const SLOW_RATIO_MIN: f64 = 1.3;
/// The means of slow runs and others, by logarithms, are at least so many standard deviations within both apart. Runs
/// that vary as a normal distribution does are 2.7 apart where they are cut in the middle.
const SLOW_APART_MIN: f64 = 3.0;
/// So many differences are told at most.
pub(crate) const TOLD_MAX: usize = 12;

const HOUR_NS: i64 = 3_600_000_000_000;
const MINUTE_NS: i64 = 60_000_000_000;

/// What runs are told apart by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Trait {
    /// The host.
    Host,
    /// The environment.
    Environment,
    /// Version of the engine, with its brand.
    EngineVersion,
    /// Version of the program.
    ProgramVersion,
    /// Fingerprint of the plan, as lists of runs have it.
    Plan,
    /// Hour of the day in which it started, in local time: 0 to 23.
    Hour,
    /// Rows all scans read.
    RowsRead,
    /// Rows of the result.
    RowsOut,
    /// Bytes all scans read.
    BytesRead,
    /// Bytes spilled.
    SpilledBytes,
    /// Most memory in use.
    PeakMemoryBytes,
    /// Time reads or writes were under way, in nanoseconds.
    WaitingNs,
    /// Time the engine planned, in nanoseconds.
    PlanningNs,
    /// Threads that worked at a time, in thousandths.
    ThreadsPermille,
}

/// One difference of two groups of runs.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Contrast {
    /// What differs.
    pub name: Trait,
    /// The value that the one group has more often, mostly the first; null where a number differs.
    pub value: Option<String>,
    /// Cliff's delta: above 0 where the first group has more of it, from -1 to 1.
    pub delta: f64,
    /// How probable so large an effect is by luck in one comparison; those of all comparisons together stay
    /// under 0.01.
    pub probability: f64,
    /// Runs of the first group that have the value, or of which the number is known.
    pub first_runs: usize,
    /// Such runs of the second group.
    pub second_runs: usize,
    /// Median of the number in the first group; null of a value.
    pub first_median: Option<f64>,
    /// Median of the number in the second group; null of a value.
    pub second_median: Option<f64>,
}

/// How the wall times of the first group are to those of the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum TimeJudgement {
    /// The first group is slower.
    Slower,
    /// The first group is faster.
    Faster,
    /// The effect is small, or may be luck.
    Alike,
}

impl TimeJudgement {
    /// Judges an effect by what is told of any other difference.
    pub fn new(delta: f64, probability: f64) -> Self {
        if delta.abs() < DELTA_MIN || probability > PROBABILITY_MAX {
            Self::Alike
        } else if delta > 0.0 {
            Self::Slower
        } else {
            Self::Faster
        }
    }
}

/// Two groups of ended runs.
#[derive(Debug, Clone, Default)]
pub struct Groups<'r> {
    /// The slow ones, or those that are looked at.
    pub first: Vec<&'r RunFeatures>,
    /// The others.
    pub second: Vec<&'r RunFeatures>,
}

impl<'r> Groups<'r> {
    /// Divides runs into the slow ones and the others: the cut of their wall times, by logarithms, that leaves
    /// the least differences within both. `None` where there are too few runs, or where none is much slower
    /// than the others or the two are no groups of their own.
    pub fn slow_and_others(runs: impl IntoIterator<Item = &'r RunFeatures>) -> Option<Self> {
        let mut finished: Vec<&RunFeatures> =
            runs.into_iter().filter(|run| run.status == Status::Finished && run.wall_ns > 0).collect();
        finished.sort_by_key(|run| (run.wall_ns, run.started_unix_ns, run.query_id));
        let logarithms: Vec<f64> = finished.iter().map(|run| (run.wall_ns as f64).ln()).collect();
        let (cut, gain) = best_cut(&logarithms, RUNS_MIN)?;
        if !is_apart(&logarithms, cut, gain) {
            return None;
        }
        let second: Vec<_> = finished[..cut].to_vec();
        let first = finished[cut..].to_vec();
        let groups = Self { first, second };
        (groups.ratio()? >= SLOW_RATIO_MIN).then_some(groups)
    }

    /// Divides runs into those that failed and those that finished. Cancelled ones are in neither.
    pub fn failed_and_finished(runs: impl IntoIterator<Item = &'r RunFeatures>) -> Self {
        let mut groups = Self::default();
        for run in runs {
            match run.status {
                Status::Failed => groups.first.push(run),
                Status::Finished => groups.second.push(run),
                Status::Cancelled => {}
            }
        }
        groups
    }

    /// Median wall time of the first group by that of the second.
    pub fn ratio(&self) -> Option<f64> {
        let median_of = |runs: &[&RunFeatures]| {
            let mut walls: Vec<f64> = runs.iter().map(|run| run.wall_ns as f64).collect();
            (!walls.is_empty()).then(|| median(&mut walls))
        };
        Some(median_of(&self.first)? / median_of(&self.second)?)
    }

    /// How the wall times of the two differ: Cliff's delta, and the probability of luck. `None` where a group is too
    /// small.
    pub fn wall(&self) -> Option<(f64, f64)> {
        if self.first.len() < RUNS_MIN || self.second.len() < RUNS_MIN {
            return None;
        }
        let walls = |runs: &[&RunFeatures]| runs.iter().map(|run| run.wall_ns as f64).collect();
        compared(walls(&self.first), walls(&self.second))
    }

    /// What differs, the largest effect first. Nothing where a group is too small. Local time is so many
    /// minutes ahead of UTC.
    pub fn differences(&self, utc_offset_minutes: i32) -> Vec<Contrast> {
        if self.first.len() < RUNS_MIN || self.second.len() < RUNS_MIN {
            return Vec::new();
        }
        let mut found: Vec<Contrast> = Vec::new();
        let mut comparisons = 0;
        for (name, text) in texts(utc_offset_minutes) {
            // Of runs that do not say it, nothing is known: DuckDB sends no plan of a run that fails early.
            let is_told = |runs: &[&RunFeatures]| runs.iter().any(|run| text(run).is_some());
            if !is_told(&self.first) || !is_told(&self.second) {
                continue;
            }
            for (value, [first_runs, second_runs]) in self.counts(&*text) {
                // What all have, or almost none, tells nothing apart.
                let runs = first_runs + second_runs;
                if runs < RUNS_MIN || runs == self.first.len() + self.second.len() {
                    continue;
                }
                comparisons += 1;
                let has = |count: usize, of: usize| {
                    let mut values = vec![1.0; count];
                    values.resize(of, 0.0);
                    values
                };
                let first = has(first_runs, self.first.len());
                let Some((delta, probability)) = compared(first, has(second_runs, self.second.len())) else {
                    continue;
                };
                let value = Some(value);
                let (first_median, second_median) = (None, None);
                found.push(Contrast {
                    name,
                    value,
                    delta,
                    probability,
                    first_runs,
                    second_runs,
                    first_median,
                    second_median,
                });
            }
        }
        for (name, number) in NUMBERS {
            let known = |runs: &[&RunFeatures]| -> Vec<f64> {
                let finished = runs.iter().filter(|run| run.status == Status::Finished);
                finished.filter_map(|run| number(run)).map(|number| number as f64).collect()
            };
            let (mut first, mut second) = (known(&self.first), known(&self.second));
            if first.len() < RUNS_MIN || second.len() < RUNS_MIN {
                continue;
            }
            comparisons += 1;
            let (first_runs, second_runs) = (first.len(), second.len());
            let (first_median, second_median) = (median(&mut first), median(&mut second));
            if first_median.max(second_median) < MEDIANS_RATIO_MIN * first_median.min(second_median) {
                continue;
            }
            let (first_median, second_median) = (Some(first_median), Some(second_median));
            if let Some((delta, probability)) = compared(first, second) {
                let value = None;
                found.push(Contrast {
                    name,
                    value,
                    delta,
                    probability,
                    first_runs,
                    second_runs,
                    first_median,
                    second_median,
                });
            }
        }
        found.retain(|one| {
            one.delta.abs() >= DELTA_MIN && one.probability * f64::from(comparisons) <= PROBABILITY_MAX
        });
        // What the first group has tells as well that the others have something else.
        let told: BTreeSet<Trait> =
            found.iter().filter(|one| one.value.is_some() && one.delta > 0.0).map(|one| one.name).collect();
        found.retain(|one| one.value.is_none() || one.delta > 0.0 || !told.contains(&one.name));
        found.sort_by(|a, b| {
            b.delta.abs().total_cmp(&a.delta.abs()).then_with(|| (a.name, &a.value).cmp(&(b.name, &b.value)))
        });
        found.truncate(TOLD_MAX);
        found
    }

    fn counts(&self, text: &dyn Fn(&RunFeatures) -> Option<String>) -> BTreeMap<String, [usize; 2]> {
        let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
        for (at, runs) in [&self.first, &self.second].into_iter().enumerate() {
            for value in runs.iter().filter_map(|run| text(run)) {
                counts.entry(value).or_default()[at] += 1;
            }
        }
        counts
    }
}

/// Whether the values before and after a cut, which lowers the sum of squares by so much, are groups of their own.
fn is_apart(values: &[f64], cut: usize, gain: f64) -> bool {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let whole: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let within = ((whole - gain).max(0.0) / count).sqrt();
    let (first, second) = (cut as f64, count - cut as f64);
    (gain * count / (first * second)).sqrt() >= SLOW_APART_MIN * within
}

type Text = Box<dyn Fn(&RunFeatures) -> Option<String>>;

fn texts(utc_offset_minutes: i32) -> [(Trait, Text); 6] {
    let ahead_ns = i64::from(utc_offset_minutes) * MINUTE_NS;
    let owned = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
    [
        (Trait::Host, Box::new(move |run: &RunFeatures| owned(&run.host))),
        (Trait::Environment, Box::new(move |run: &RunFeatures| owned(&run.environment))),
        (Trait::EngineVersion, Box::new(move |run: &RunFeatures| owned(&run.engine_version))),
        (Trait::ProgramVersion, Box::new(move |run: &RunFeatures| owned(&run.program_version))),
        (Trait::Plan, Box::new(move |run: &RunFeatures| owned(&run.logical))),
        (
            Trait::Hour,
            Box::new(move |run: &RunFeatures| {
                let hours = run.started_unix_ns.saturating_add(ahead_ns).div_euclid(HOUR_NS);
                Some(format!("{:02}", hours.rem_euclid(24)))
            }),
        ),
    ]
}

type Number = fn(&RunFeatures) -> Option<u64>;

const NUMBERS: [(Trait, Number); 8] = [
    (Trait::RowsRead, |run| run.rows_read),
    (Trait::RowsOut, |run| run.rows_out),
    (Trait::BytesRead, |run| run.bytes_read),
    (Trait::SpilledBytes, |run| run.spilled_bytes),
    (Trait::PeakMemoryBytes, |run| run.peak_memory_bytes),
    // Scans of DataFusion count the time of what reads from them.
    (Trait::WaitingNs, |run| run.waiting_ns.filter(|_| !run.waits_for_readers())),
    (Trait::PlanningNs, |run| run.planning_ns),
    // Calls of the program's code keep threads busy that engines do not count.
    (Trait::ThreadsPermille, |run| run.threads_used_permille.filter(|_| !run.plan.calls_user_code())),
];

/// Cliff's delta of two samples, and the probability of so large an effect either way by luck.
fn compared(mut first: Vec<f64>, mut second: Vec<f64>) -> Option<(f64, f64)> {
    let (first_runs, second_runs) = (first.len(), second.len());
    let test = RankTest::of_times(&mut first, &mut second)?;
    let delta = cliffs_delta(test.u(), first_runs, second_runs);
    let way = if delta >= 0.0 { Alternative::Greater } else { Alternative::Less };
    Some((delta, (2.0 * test.probability(way)).min(1.0)))
}

#[cfg(test)]
mod tests {
    use queryscope_protocol::{QueryId, Role};
    use uuid::Uuid;

    use super::*;
    use crate::plan::{Plan, PlanNode};

    const SECOND_NS: u64 = 1_000_000_000;

    /// A run of so many seconds on a host, of so many rows, that started in this hour of the first day.
    fn run(number: u128, seconds: f64, host: &str, rows: u64, hour: i64) -> RunFeatures {
        let id = QueryId::new(Uuid::from_u128(number));
        let mut run = RunFeatures::new(id, hour * HOUR_NS, (seconds * SECOND_NS as f64) as u64);
        run.host = Some(Arc::from(host));
        run.rows_read = Some(rows);
        run
    }

    /// Forty runs of 10 s, a little apart, with what each has; every fourth is three times as slow.
    fn forty(of: impl Fn(usize, bool) -> (&'static str, u64, i64)) -> Vec<RunFeatures> {
        (0..40)
            .map(|at| {
                let is_slow = at % 4 == 0;
                let (host, rows, hour) = of(at, is_slow);
                let seconds = if is_slow { 30.0 } else { 10.0 } + at as f64 / 50.0;
                run(at as u128, seconds, host, rows, hour)
            })
            .collect()
    }

    fn told(runs: &[RunFeatures]) -> Vec<(Trait, Option<String>, f64)> {
        let groups = Groups::slow_and_others(runs).expect("slow runs");
        assert_eq!((groups.first.len(), groups.second.len()), (10, 30));
        let found = groups.differences(0);
        found.into_iter().map(|one| (one.name, one.value, one.delta)).collect()
    }

    #[test]
    fn a_host_of_the_slow_runs_is_named_with_its_counts() {
        let runs = forty(|at, is_slow| {
            (if is_slow || at == 1 { "worker-3" } else { "worker-1" }, 100, at as i64 % 5)
        });
        let groups = Groups::slow_and_others(&runs).expect("slow runs");
        let found = groups.differences(0);
        assert_eq!(found.len(), 1, "{found:?}");
        let host = &found[0];
        assert_eq!((host.name, host.value.as_deref()), (Trait::Host, Some("worker-3")));
        assert_eq!((host.first_runs, host.second_runs), (10, 1));
        assert!(
            (host.delta - (1.0 - 1.0 / 30.0)).abs() < 1e-12,
            "the difference of the shares: {}",
            host.delta
        );
        assert!(host.probability < 1e-6, "{}", host.probability);
    }

    #[test]
    fn what_the_others_have_is_told_where_nothing_else_tells_it() {
        let hosts = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        let runs = forty(|at, is_slow| (if is_slow { hosts[at / 4] } else { "fast" }, 100, at as i64 % 5));
        let groups = Groups::slow_and_others(&runs).expect("slow runs");
        let found = groups.differences(0);
        // No host has many of the slow runs, and one has none of them.
        let [host] = &found[..] else { panic!("{found:?}") };
        assert_eq!((host.name, host.value.as_deref(), host.delta), (Trait::Host, Some("fast"), -1.0));
        assert_eq!((host.first_runs, host.second_runs), (0, 30));
    }

    #[test]
    fn wall_times_are_judged_by_effect_and_luck() {
        for (delta, probability, judged) in [
            (0.5, 0.002, TimeJudgement::Slower),
            (-0.5, 0.002, TimeJudgement::Faster),
            (0.5, 0.02, TimeJudgement::Alike),
            (-0.5, 0.02, TimeJudgement::Alike),
            (0.2, 1e-6, TimeJudgement::Alike),
        ] {
            assert_eq!(TimeJudgement::new(delta, probability), judged, "{delta} {probability}");
        }
    }

    #[test]
    fn more_rows_are_told_with_both_medians_and_less_with_a_negative_effect() {
        let runs = forty(|at, is_slow| ("w", if is_slow { 900 } else { 300 } + at as u64, 3));
        let found = Groups::slow_and_others(&runs).expect("slow runs").differences(0);
        assert_eq!((found.len(), found[0].name, found[0].delta), (1, Trait::RowsRead, 1.0));
        assert_eq!((found[0].first_median, found[0].second_median), (Some(918.0), Some(320.0)));
        let less = forty(|at, is_slow| ("w", if is_slow { 100 } else { 300 } + at as u64, 3));
        assert_eq!(told(&less), [(Trait::RowsRead, None, -1.0)]);
    }

    #[test]
    fn medians_that_are_nearly_the_same_are_not_told() {
        let of =
            |slow: u64| told(&forty(|at, is_slow| ("w", if is_slow { slow } else { 2_102 }, at as i64 % 5)));
        assert_eq!(of(2_104), []);
        assert_eq!(of(2_207), []);
        assert_eq!(of(2_208), [(Trait::RowsRead, None, 1.0)]);
    }

    #[test]
    fn threads_of_runs_that_call_the_programs_code_are_not_told() {
        let threads = |user_code: Option<&str>| {
            let node = PlanNode {
                user_code: user_code.map(Into::into),
                ..PlanNode::bare("Select", Role::Projection)
            };
            let plan = Arc::new(Plan { nodes: [node].into(), ..Plan::default() });
            let mut runs = forty(|at, _| ("w", 5, at as i64 % 7));
            for (at, run) in runs.iter_mut().enumerate() {
                run.threads_used_permille = Some(if at % 4 == 0 { 9 } else { 1_300 });
                run.plan = Arc::clone(&plan);
            }
            told(&runs)
        };
        assert_eq!(threads(None), [(Trait::ThreadsPermille, None, -1.0)]);
        assert_eq!(threads(Some("python_udf")), []);
    }

    #[test]
    fn waits_that_may_be_for_readers_are_not_told() {
        let waits = |version: &str| {
            let mut runs = forty(|at, _| ("w", 5, at as i64 % 7));
            for (at, run) in runs.iter_mut().enumerate() {
                run.waiting_ns = Some(if at % 4 == 0 { 156 } else { 4 } * SECOND_NS / 1000);
                run.engine_version = Some(version.into());
            }
            told(&runs)
        };
        assert_eq!(waits("polars 2.1.0"), [(Trait::WaitingNs, None, 1.0)]);
        assert_eq!(waits("datafusion 55.0.0"), []);
    }

    #[test]
    fn what_no_run_of_one_side_says_is_not_told() {
        let plans = |of: fn(bool) -> Option<&'static str>| {
            let mut runs = forty(|at, _| ("w", 5, at as i64 % 7));
            for (at, run) in runs.iter_mut().enumerate() {
                run.logical = of(at % 4 == 0).map(Arc::from);
            }
            told(&runs)
        };
        let slow = plans(|is_slow| Some(if is_slow { "b" } else { "a" }));
        assert!(!slow.is_empty());
        assert_eq!(plans(|is_slow| (!is_slow).then_some("a")), []);
    }

    #[test]
    fn the_hour_is_that_of_the_reader() {
        let runs = forty(|at, is_slow| ("w", 5, if is_slow { 2 } else { 8 + at as i64 % 7 }));
        assert_eq!(told(&runs), [(Trait::Hour, Some("02".into()), 1.0)]);
        let found = Groups::slow_and_others(&runs).expect("slow runs").differences(-180);
        assert_eq!(found[0].value.as_deref(), Some("23"));
    }

    #[test]
    fn what_has_nothing_to_do_with_the_time_is_not_told() {
        // Hosts, rows and hours go round without regard to every fourth run.
        let runs = forty(|at, _| (["a", "b", "c"][at % 3], 100 + (at as u64 * 7) % 11, at as i64 % 9));
        assert_eq!(told(&runs), []);
    }

    #[test]
    fn too_few_runs_and_runs_of_one_time_tell_nothing() {
        let few: Vec<RunFeatures> =
            (0..9).map(|at| run(at, if at < 4 { 30.0 } else { 10.0 }, "w", 1, 0)).collect();
        assert!(Groups::slow_and_others(&few).is_none());
        // A bell curve is one group, however wide: the logarithms of these are as good as normal.
        let bell: Vec<RunFeatures> = (0..200)
            .map(|at| {
                let unit = |step: usize| ((at * step + 7) % 211) as f64 / 211.0;
                let normal =
                    [1, 37, 53, 71, 97, 101, 131, 149, 163, 181, 193, 199].map(unit).iter().sum::<f64>()
                        - 6.0;
                run(at as u128, 10.0 * (0.3 * normal).exp(), "w", 1, 0)
            })
            .collect();
        assert!(Groups::slow_and_others(&bell).is_none());
        let even: Vec<RunFeatures> = (0..40).map(|at| run(at, 10.0 + at as f64 / 100.0, "w", 1, 0)).collect();
        assert!(Groups::slow_and_others(&even).is_none());
        let failed: Vec<RunFeatures> = (0..40)
            .map(|at| RunFeatures {
                status: Status::Failed,
                ..run(at, if at < 20 { 30.0 } else { 10.0 }, "w", 1, 0)
            })
            .collect();
        assert!(Groups::slow_and_others(&failed).is_none());
        let four = Groups { first: few[..4].iter().collect(), second: few[4..].iter().collect() };
        assert_eq!((four.differences(0), four.wall()), (Vec::new(), None));
    }

    #[test]
    fn failed_runs_are_told_apart_by_values_and_not_by_how_far_they_came() {
        let runs: Vec<RunFeatures> = (0..40)
            .map(|at| {
                let status = [Status::Failed, Status::Finished, Status::Cancelled, Status::Finished][at % 4];
                let (host, rows) = if status == Status::Failed { ("worker-3", 7) } else { ("worker-1", 900) };
                RunFeatures { status, ..run(at as u128, 10.0, host, rows, at as i64 % 5) }
            })
            .collect();
        let groups = Groups::failed_and_finished(&runs);
        assert_eq!((groups.first.len(), groups.second.len()), (10, 20));
        let told: Vec<_> =
            groups.differences(0).into_iter().map(|one| (one.name, one.value, one.delta)).collect();
        assert_eq!(told, [(Trait::Host, Some("worker-3".into()), 1.0)]);
    }

    #[test]
    fn two_groups_are_held_against_each_other_by_their_times() {
        let runs = forty(|_, _| ("w", 1, 0));
        let (first, second) = (runs[..20].iter().collect(), runs[20..].iter().collect());
        let (delta, probability) = Groups { first, second }.wall().expect("enough runs");
        // The later ones are a little slower, and a quarter of both is slow.
        assert!((-0.8..-0.5).contains(&delta) && probability < 0.01, "{delta} {probability}");
    }
}

//! Any runs are told as the slow models tell them.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use queryscope_history::{
    Alternative, Earlier, Failure, Group, LabelOverview, Point, RankTest, Run, Tally, Verdict, Window,
    median, quartiles, versions,
};
use queryscope_protocol::QueryId;
use uuid::Uuid;

use crate::any_runs::{NOW, runs};
use crate::model;

fn failure() -> impl Strategy<Value = Failure> {
    select(vec![Failure::None, Failure::Failed, Failure::Cancelled, Failure::Unfinished])
}

/// An hour, half of one, quarters, and the ends.
const OFFSETS: [i32; 9] = [0, 60, -60, 345, -570, 840, -720, 1440, -1440];
const EARLIER: [Earlier<'_>; 3] = [
    Earlier { runs: 0, rules: &[] },
    Earlier { runs: 4, rules: &["skew"] },
    Earlier { runs: 9, rules: &["scan"] },
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn an_overview_is_that_of_the_model(
        runs in runs(),
        days in select(vec![1, 2, 7, 14, 15, 30]),
        offset in select(OFFSETS.to_vec()),
        earlier in select(EARLIER.to_vec()),
        to_midnight in any::<bool>(),
    ) {
        // Midnights of some place are an edge, too.
        let now = if to_midnight { NOW - NOW % 3_600_000_000_000 } else { NOW };
        let window = Window::new(now, days, offset).expect("a window");
        let expected = model::overview(&window, days, offset.into(), &runs, &earlier);
        prop_assert_eq!(LabelOverview::of(&window, &runs, &earlier), expected);
    }

    #[test]
    fn days_and_slices_add_up(runs in runs(), offset in -1440..=1440_i32) {
        let window = Window::new(NOW, 14, offset).expect("a window");
        let Some(overview) = LabelOverview::of(&window, &runs, &Earlier::default()) else { return Ok(()) };
        prop_assert_eq!(overview.days.iter().map(|day| u64::from(day.runs)).sum::<u64>(), overview.runs);
        prop_assert_eq!(overview.days.iter().map(|day| u64::from(day.failed)).sum::<u64>(), overview.failed);
        let cancelled = overview.days.iter().map(|day| u64::from(day.cancelled)).sum::<u64>();
        prop_assert_eq!(cancelled, overview.cancelled);
        let unfinished = overview.days.iter().map(|day| u64::from(day.unfinished)).sum::<u64>();
        prop_assert_eq!(unfinished, overview.unfinished);
        prop_assert!(window.days()[0] <= window.since_unix_ns() && window.days().is_sorted());
    }

    #[test]
    fn what_is_before_the_window_can_be_given_as_earlier(runs in runs()) {
        let window = Window::new(NOW, 1, 0).expect("a window");
        let is_old = |run: &&Run<'_>| run.started_unix_ns < window.runs_since_unix_ns();
        // With three runs of the last 24 hours, nothing before the window is looked at one by one.
        let last_day = NOW - 24 * 3_600_000_000_000;
        prop_assume!(runs.iter().filter(|run| (last_day..=NOW).contains(&run.started_unix_ns)).count() >= 3);
        let old: BTreeSet<&str> = runs.iter().filter(is_old).flat_map(|run| run.rules.iter().copied()).collect();
        let old: Vec<&str> = old.into_iter().collect();
        let earlier = Earlier { runs: runs.iter().filter(is_old).count() as u64, rules: &old };
        let rest: Vec<_> = runs.iter().filter(|run| !is_old(run)).copied().collect();
        let whole = LabelOverview::of(&window, &runs, &Earlier::default());
        prop_assert_eq!(LabelOverview::of(&window, &rest, &earlier), whole);
    }

    #[test]
    fn a_group_is_that_of_the_model(runs in runs()) {
        prop_assert_eq!(Group::of(&runs), model::group(&runs));
    }

    #[test]
    fn tallies_merge_to_that_of_all(
        points in prop::collection::vec(
            (0..50_i64, prop_oneof![4 => 0.0..100.0_f64, 1 => Just(f64::NAN)], failure(), 0..3_usize),
            0..300,
        ),
    ) {
        let point = |(number, (started_unix_ns, time_ms, failure, part))| {
            (Point { started_unix_ns, time_ms, number, plan: 0, service: 0, failure }, part)
        };
        let points: Vec<(Point, usize)> = (0..).zip(points).map(point).collect();
        let mut whole = Tally::default();
        let mut parts = [Tally::default(), Tally::default(), Tally::default()];
        for (point, part) in &points {
            whole.add(point);
            parts[*part].add(point);
        }
        let [mut merged, mut second, mut third] = parts;
        merged.append(&mut second);
        merged.append(&mut third);
        prop_assert!(second.is_empty() && third.is_empty());
        let mut again = second;
        for (point, _) in &points {
            again.add(point);
        }
        let group = |tally: &Tally| tally.clone().group(Vec::new());
        let version = |tally: Tally| tally.into_version("A", Vec::new(), QueryId::new(Uuid::nil()));
        for other in [merged, again] {
            prop_assert_eq!(other.last(), whole.last());
            prop_assert_eq!(group(&other), group(&whole));
            prop_assert_eq!(version(other), version(whole.clone()));
        }
    }

    #[test]
    fn of_the_earlier_runs_of_a_group_only_times_count(
        runs in prop::collection::vec(
            (0..50_i64, prop_oneof![4 => 0.0..100.0_f64, 1 => Just(f64::NAN)], failure()),
            0..300,
        ),
    ) {
        let point = |(number, (started_unix_ns, time_ms, failure))| {
            Point { started_unix_ns, time_ms, number, plan: 0, service: 0, failure }
        };
        let mut points: Vec<Point> = (0..).zip(runs).map(point).collect();
        let mut whole = Tally::default();
        for point in &points {
            whole.add(point);
        }
        points.sort_by_key(|point| Reverse(point.started_unix_ns / 9));
        let mut tally = Tally::default();
        for point in &points {
            if tally.has_later(point.started_unix_ns) {
                tally.add_earlier((!point.time_ms.is_nan()).then_some(point.time_ms), point.failure);
            } else {
                tally.add(point);
            }
        }
        prop_assert_eq!(tally.last(), whole.last());
        prop_assert_eq!(tally.group(Vec::new()), whole.group(Vec::new()));
    }

    #[test]
    fn versions_are_those_of_the_model(runs in runs()) {
        prop_assert_eq!(versions(&runs), model::versions(&runs));
    }

    #[test]
    fn quantiles_are_those_of_sorted_values(values in prop::collection::vec(0.0..100.0_f64, 0..50)) {
        let expected = [1, 2, 3].map(|quarters| model::quantile(&values, quarters));
        let found = quartiles(&mut values.clone());
        prop_assert_eq!(found.map(|found| found.lower), expected[0]);
        prop_assert_eq!(found.map(|found| found.median), expected[1]);
        prop_assert_eq!(found.map(|found| found.upper), expected[2]);
        prop_assert_eq!(median(&mut values.clone()), expected[1]);
    }

    #[test]
    fn u_is_counted_over_all_pairs(
        first in prop::collection::vec(0..9_u8, 1..30),
        second in prop::collection::vec(0..9_u8, 1..30),
    ) {
        let halves = |a: &u8, b: &u8| match a.cmp(b) {
            std::cmp::Ordering::Less => 0_u32,
            std::cmp::Ordering::Equal => 1,
            std::cmp::Ordering::Greater => 2,
        };
        let twice_u: u32 = first.iter().map(|a| second.iter().map(|b| halves(a, b)).sum::<u32>()).sum();
        let mut times = [&first, &second].map(|sample| sample.iter().map(|n| f64::from(*n)).collect::<Vec<_>>());
        let [first, second] = &mut times;
        let test = RankTest::of_times(first, second).expect("two samples");
        prop_assert_eq!(test.u(), f64::from(twice_u) / 2.0);
    }

    #[test]
    fn the_exact_probability_is_the_share_of_arrangements(size in 1..6_u32, of_first in 1..(1_u32 << 10)) {
        // The bits of a number say which ranks are of the first sample; all numbers of as many bits are all
        // arrangements.
        let ranks = 2 * size;
        let of_first = of_first % ((1 << ranks) - 2) + 1;
        let split = |bits: u32| -> (Vec<f64>, Vec<f64>) {
            let (first, second): (Vec<u32>, Vec<u32>) = (0..ranks).partition(|rank| bits >> rank & 1 == 1);
            (first.into_iter().map(f64::from).collect(), second.into_iter().map(f64::from).collect())
        };
        let test = |bits: u32| {
            let (mut first, mut second) = split(bits);
            RankTest::of_times(&mut first, &mut second).expect("two samples")
        };
        let seen = test(of_first);
        let arrangements = (1..(1_u32 << ranks) - 1).filter(|bits| bits.count_ones() == of_first.count_ones());
        let (mut all, mut greater, mut less) = (0.0, 0.0, 0.0);
        for u in arrangements.map(|bits| test(bits).u()) {
            all += 1.0;
            greater += f64::from(u8::from(u >= seen.u()));
            less += f64::from(u8::from(u <= seen.u()));
        }
        prop_assert_eq!(seen.probability(Alternative::Greater), greater / all);
        prop_assert_eq!(seen.probability(Alternative::Less), less / all);
    }
}

#[test]
fn the_runs_tested_with_have_everything_to_tell() {
    let mut runner = TestRunner::deterministic();
    let window = Window::new(NOW, 14, 0).expect("a window");
    let overviews: Vec<LabelOverview<'_>> = (0..2000)
        .filter_map(|_| {
            let runs = runs().new_tree(&mut runner).expect("runs").current();
            LabelOverview::of(&window, &runs, &Earlier::default())
        })
        .collect();
    let many = |what: &str, told: fn(&LabelOverview<'_>) -> bool| {
        let count = overviews.iter().filter(|overview| told(overview)).count();
        assert!(count >= 50, "{what}: only {count}");
    };
    many("slower", |told| told.verdict == Some(Verdict::Slower));
    many("faster", |told| told.verdict == Some(Verdict::Faster));
    many("no usual time", |told| told.usual_wall_ms.is_none());
    many("new warnings", |told| !told.new_rules.is_empty());
    many("a change of plan", |told| told.plan_changed_unix_ns.is_some());
    many("few runs lately", |told| told.recent_runs == 3);
    many("failures before", |told| told.failed_before > 0);
}

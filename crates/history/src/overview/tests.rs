use super::*;
use crate::limits::DAY_NS;
use crate::run::RunStatus;
use crate::sample::{id, run};

const HOUR_NS: i64 = DAY_NS / 24;
/// Noon of a day.
const NOW: i64 = 100 * DAY_NS + 12 * HOUR_NS;

fn overview<'a>(days: u32, runs: &[Run<'a>]) -> Option<LabelOverview<'a>> {
    LabelOverview::of(&Window::new(NOW, days, 0).expect("a window"), runs, &Earlier::default())
}

fn times(overview: &LabelOverview<'_>) -> Comparison {
    let &LabelOverview {
        usual_wall_ms,
        usual_band_ms,
        recent_wall_ms,
        recent_spread_ms,
        ratio,
        judged,
        verdict,
        ..
    } = overview;
    Comparison { usual_wall_ms, usual_band_ms, recent_wall_ms, recent_spread_ms, ratio, judged, verdict }
}

/// A run some hours ago that took so long.
fn took(hours_ago: i64, wall_ms: f64) -> Run<'static> {
    Run { wall_ms: Some(wall_ms), ..run(NOW - hours_ago * HOUR_NS) }
}

#[test]
fn a_label_that_did_not_run_in_the_range_has_no_overview() {
    assert_eq!(overview(1, &[]), None);
    assert_eq!(overview(1, &[took(25, 1.0)]), None);
    assert!(overview(1, &[took(24, 1.0)]).is_some());
    assert!(overview(1, &[took(0, 1.0)]).is_some());
}

#[test]
fn runs_by_a_clock_that_is_a_day_ahead_are_among_the_last() {
    for ahead_ns in [1, 5_000_000_000, 8 * HOUR_NS, DAY_NS] {
        let ahead = Run { query_id: id(2), started_unix_ns: NOW + ahead_ns, ..took(0, 7.0) };
        let at_the_end = Run { started_unix_ns: NOW, ..ahead };
        let seen = overview(1, &[took(1, 5.0), ahead]);
        assert_eq!(seen, overview(1, &[took(1, 5.0), at_the_end]), "as if they started now: {ahead_ns}");
        assert_eq!(seen.map(|seen| (seen.runs, seen.recent_runs)), Some((2, 2)));
    }
    let too_far = run(NOW + DAY_NS + 1);
    assert_eq!(overview(1, &[too_far]), None);
    assert_eq!(overview(1, &[took(1, 5.0), too_far]), overview(1, &[took(1, 5.0)]));
}

#[test]
fn a_single_run_is_told_as_it_is() {
    let one = Run { service: Some("etl"), rules: &["spill"], ..took(1, 5.0) };
    let expected = LabelOverview {
        label: "".into(),
        service: Some("etl".into()),
        services: 1,
        runs: 1,
        failed: 0,
        cancelled: 0,
        unfinished: 0,
        total_wall_ms: 5.0,
        usual_wall_ms: None,
        usual_band_ms: None,
        recent_wall_ms: Some(5.0),
        recent_spread_ms: None,
        ratio: None,
        judged: false,
        verdict: None,
        recent_runs: 1,
        recent_failed: 0,
        failed_before: 0,
        rules: vec!["spill".into()],
        new_rules: vec![],
        plan_changed_unix_ns: None,
        bins: [None, None, None, Some(5.0)].map(Median::from).to_vec(),
        days: vec![Day::default(), Day { runs: 1, median_wall_ms: Some(5.0).into(), ..Day::default() }],
        change: None,
    };
    assert_eq!(overview(1, &[one]), Some(expected));
}

/// Ten runs of 10 ms, two days ago, and three of 30 ms, today.
fn slowed_down() -> Vec<Run<'static>> {
    let usual = (0..10).map(|hour| took(48 + hour, 10.0));
    usual.chain((0..3).map(|hour| took(hour, 30.0))).collect()
}

#[test]
fn a_query_that_slowed_down() {
    let expected = Comparison {
        usual_wall_ms: Some(10.0),
        usual_band_ms: Some([10.0, 10.0]),
        recent_wall_ms: Some(30.0),
        recent_spread_ms: None,
        ratio: Some(3.0),
        judged: true,
        verdict: Some(Verdict::Slower),
    };
    let overview = overview(7, &slowed_down()).expect("runs");
    assert_eq!((times(&overview), overview.recent_runs), (expected, 3));
    assert_eq!((overview.runs, overview.total_wall_ms), (13, 190.0));
}

#[test]
fn the_comparison_does_not_depend_on_the_range() {
    let (short, long) = (overview(1, &slowed_down()), overview(90, &slowed_down()));
    let (short, long) = (short.expect("runs"), long.expect("runs"));
    assert_eq!(times(&short), times(&long));
    assert_eq!((short.runs, long.runs), (3, 13));
}

#[test]
fn failed_and_unfinished_runs_are_counted_and_have_no_times() {
    let with = |status, run: Run<'static>| Run { status, ..run };
    let mut runs = slowed_down();
    runs.extend([
        with(RunStatus::Failed, took(1, 9000.0)),
        with(RunStatus::Failed, took(49, 9000.0)),
        with(RunStatus::Cancelled, took(50, 9000.0)),
        with(RunStatus::Unfinished, took(51, 9000.0)),
        with(RunStatus::Running, took(0, 9000.0)),
    ]);
    let (all, finished) = (overview(7, &runs).expect("runs"), overview(7, &slowed_down()).expect("runs"));
    assert_eq!(
        (times(&all), all.total_wall_ms, &all.bins),
        (times(&finished), finished.total_wall_ms, &finished.bins)
    );
    assert_eq!((all.runs, all.failed, all.cancelled), (18, 3, 1));
    assert_eq!((all.recent_runs, all.recent_failed, all.failed_before), (5, 1, 2));
}

#[test]
fn the_last_three_runs_are_lately_however_old_and_the_rest_is_usual() {
    let runs: Vec<Run<'_>> = (1..=8).map(|day| took(24 * 3 * day, day as f64)).collect();
    let overview = overview(30, &runs).expect("runs");
    // Lately: 3, 6 and 9 days ago. The 14 days before hold the runs of 12, 15, 18 and 21 days ago.
    assert_eq!((overview.recent_runs, overview.recent_wall_ms), (3, Some(2.0)));
    assert_eq!(overview.usual_wall_ms, None, "four are too few");
}

#[test]
fn the_service_is_that_of_the_last_run_that_names_one() {
    let from = |service, run: Run<'static>| Run { service, ..run };
    let runs = [from(Some("new"), took(2, 1.0)), from(None, took(1, 1.0)), from(Some("old"), took(3, 1.0))];
    assert_eq!(overview(1, &runs).expect("runs").service.as_deref(), Some("new"));
}

#[test]
fn slices_and_days_hold_medians_of_what_finished() {
    let runs = [
        took(24, 1.0),
        took(19, 3.0),
        took(18, 7.0),
        Run { status: RunStatus::Failed, ..took(12, 5.0) },
        took(7, 8.0),
        took(0, 4.0),
    ];
    let overview = overview(1, &runs).expect("runs");
    // From noon to noon: of 24 and 19 hours ago, of 18, of 12 and 7, of now.
    assert_eq!(overview.bins, [2.0, 7.0, 8.0, 4.0].map(|median| Some(median).into()));
    let yesterday = Day { runs: 3, median_wall_ms: Some(3.0).into(), ..Day::default() };
    let today = Day { runs: 3, failed: 1, median_wall_ms: Some(6.0).into(), ..Day::default() };
    assert_eq!(overview.days, [yesterday, today]);
}

#[test]
fn a_slice_in_which_only_failures_ran_has_no_time() {
    let overview = overview(1, &[Run { status: RunStatus::Failed, ..took(1, 5.0) }]).expect("a run");
    assert_eq!(overview.bins, [Median::default(); 4]);
    assert_eq!(overview.days[1], Day { runs: 1, failed: 1, median_wall_ms: None.into(), ..Day::default() });
}

#[test]
fn the_first_day_counts_only_what_is_in_the_range() {
    let runs = [took(25, 1.0), took(23, 2.0)];
    let overview = overview(1, &runs).expect("runs");
    assert_eq!(overview.days[0], Day { runs: 1, median_wall_ms: Some(2.0).into(), ..Day::default() });
}

#[test]
fn new_warnings_and_plans_are_told() {
    let usual = (0..5).map(|n| Run { fingerprint: Some("A"), ..took(24 * 8 + n, 1.0) });
    let now = Run { fingerprint: Some("B"), rules: &["skew"], query_id: id(1), ..took(2, 1.0) };
    let runs: Vec<Run<'_>> = usual.chain([now, Run { query_id: id(2), ..now }, now]).collect();
    let overview = overview(1, &runs).expect("runs");
    assert_eq!(overview.new_rules, ["skew"]);
    assert_eq!(overview.plan_changed_unix_ns, Some(now.started_unix_ns));
}

#[test]
fn what_came_before_the_runs_given_can_be_told_apart() {
    let window = Window::new(NOW, 1, 0).expect("a window");
    let runs = [Run { rules: &["skew", "spill"], ..took(1, 1.0) }];
    let overview = LabelOverview::of(&window, &runs, &Earlier { runs: 5, rules: &["spill"] });
    assert_eq!(overview.expect("a run").new_rules, ["skew"]);
}

//! How the labels are doing.

use queryscope_history::{Day, LabelOverview, Median, Verdict, Window};

use super::analysis::{DAY_NS, HOUR_NS, NOW_NS, at, is};
use super::batch::batch;
use super::subject::{Subject, Subjects};
use crate::batch::Facts;
use crate::filter::{Is, QueryFilter};
use crate::query::Status;

/// What finished so long ago.
fn ago(label: &str, ago_ns: i64) -> Facts {
    at(label, NOW_NS - ago_ns)
}

fn took(wall_ms: f64, facts: Facts) -> Facts {
    Facts { wall_ms, ..facts }
}

fn failed(facts: Facts) -> Facts {
    Facts { failed: Some("boom".into()), ..facts }
}

fn warned(rule: &str, facts: Facts) -> Facts {
    Facts { rules: vec![rule.into()], ..facts }
}

fn planned(plan: &str, facts: Facts) -> Facts {
    Facts { fingerprint: Some(plan.into()), ..facts }
}

fn days(days: u32) -> Window {
    Window::new(NOW_NS, days, 0).expect("a window")
}

/// Stores queries that ended, the first with this number.
async fn store(s: &Subject, first: u64, ended: impl IntoIterator<Item = Facts>) {
    let stored =
        (first..).zip(ended).fold(batch(1), |batch, (query, facts)| batch.finished(query, query, facts));
    s.commit(stored).await;
}

/// Labels and runs, in the order given.
async fn check(s: &Subject, filter: QueryFilter, window: Window, expected: &[(&str, u64)]) {
    let found = s.overview(filter.clone(), window).await;
    let found: Vec<_> = found.iter().map(|entry| (&*entry.label, entry.runs)).collect();
    assert_eq!(found, expected, "{filter:?} in {window:?}");
}

async fn only(s: &Subject, window: Window) -> LabelOverview<'static> {
    let mut entries = s.overview(QueryFilter::default(), window).await;
    assert_eq!(entries.len(), 1, "{entries:?}");
    entries.remove(0)
}

pub(super) fn the_label_that_took_the_most_time_comes_first(subjects: &Subjects) {
    subjects.one(async |s| {
        let ended = [
            took(5.0, ago("often", 3)),
            took(7.0, ago("often", 2)),
            took(11.5, ago("once", 1)),
            took(9.0, ago("b", 1)),
            took(9.0, ago("a", 1)),
            failed(took(900.0, ago("fails", 1))),
            // Long ago it took the most.
            took(900.0, ago("a", 15 * DAY_NS)),
        ];
        store(s, 1, ended).await;
        let order = [("often", 2), ("once", 1), ("a", 1), ("b", 1), ("fails", 1)];
        check(s, QueryFilter::default(), days(14), &order).await;
    });
}

pub(super) fn a_label_is_there_that_ran_in_the_range(subjects: &Subjects) {
    subjects.one(async |s| {
        let ended = [
            ago("at the start", 14 * DAY_NS),
            ago("at the end", 0),
            ago("too old", 14 * DAY_NS + 1),
            ago("to come", -DAY_NS - 1),
            Facts { label: None, ..ago("", 1) },
        ];
        store(s, 1, ended).await;
        s.commit(batch(1).started(9, 9, ago("runs", 1)).progress(10, [10])).await;
        let order = [("at the end", 1), ("at the start", 1), ("runs", 1)];
        check(s, QueryFilter::default(), days(14), &order).await;
        check(s, QueryFilter::default(), days(13), &[("at the end", 1), ("runs", 1)]).await;
        let order = [("at the end", 1), ("at the start", 1), ("too old", 1), ("runs", 1)];
        check(s, QueryFilter::default(), days(90), &order).await;
        // A time in the filter has no say.
        let filter = QueryFilter { since_unix_ns: Some(7), until_unix_ns: Some(8), ..QueryFilter::default() };
        check(s, filter, days(13), &[("at the end", 1), ("runs", 1)]).await;
    });
}

pub(super) fn everything_is_said_of_a_label(subjects: &Subjects) {
    subjects.one(async |s| {
        let usual = (0..10).map(|n| planned("p", took(100.0 + n as f64, ago("x", 2 * DAY_NS + HOUR_NS + n))));
        store(s, 1, usual.map(|facts| warned("scan", facts))).await;
        store(s, 20, [failed(ago("x", 3 * DAY_NS)), failed(took(5.0, ago("x", 2)))]).await;
        let slow = |n: i64| planned("q", took(300.0, ago("x", n * HOUR_NS)));
        let etl = batch(2).process(Some("etl"), None, "h");
        s.commit(etl.finished(30, 1, slow(3)).finished(31, 2, slow(2)).finished(32, 3, slow(1))).await;
        let mut bins = vec![Median::default(); 16];
        (bins[7], bins[15]) = (Some(104.5).into(), Some(300.0).into());
        let day = |runs, failed, median_wall_ms: Option<f64>| Day {
            runs,
            failed,
            median_wall_ms: median_wall_ms.into(),
            ..Day::default()
        };
        let expected = LabelOverview {
            label: "x".into(),
            service: Some("etl".into()),
            services: 2,
            runs: 15,
            failed: 2,
            cancelled: 0,
            unfinished: 0,
            total_wall_ms: 1945.0,
            usual_wall_ms: Some(104.5),
            usual_band_ms: Some([102.25, 106.75]),
            recent_wall_ms: Some(300.0),
            recent_spread_ms: None,
            ratio: Some(300.0 / 104.5),
            judged: true,
            verdict: Some(Verdict::Slower),
            recent_runs: 4,
            recent_failed: 1,
            failed_before: 1,
            rules: vec!["scan".into()],
            new_rules: vec![],
            plan_changed_unix_ns: Some(NOW_NS - 3 * HOUR_NS),
            bins,
            days: vec![
                day(0, 0, None),
                day(1, 1, None),
                day(10, 0, Some(104.5)),
                day(0, 0, None),
                day(4, 1, Some(300.0)),
            ],
            change: None,
        };
        for _ in 0..2 {
            assert_eq!(only(s, days(4)).await, expected);
            s.reopen().await;
        }
        let shorter = only(s, days(1)).await;
        assert_eq!(
            (shorter.runs, shorter.verdict, shorter.usual_wall_ms),
            (4, Some(Verdict::Slower), Some(104.5))
        );
    });
}

pub(super) fn the_last_three_runs_may_be_old(subjects: &Subjects) {
    subjects.one(async |s| {
        let far = 70 * DAY_NS;
        store(s, 1, (1..=7).map(|n| took(10.0, ago("x", far + 13 * DAY_NS + n)))).await;
        store(s, 10, (0..3).map(|n| took(100.0, ago("x", far + n)))).await;
        let entry = only(s, days(90)).await;
        let said = |entry: LabelOverview<'_>| (entry.recent_runs, entry.recent_wall_ms, entry.usual_wall_ms);
        assert_eq!((entry.verdict, said(entry)), (Some(Verdict::Slower), (3, Some(100.0), Some(10.0))));
        // With one run in the range two older ones are looked at; the usual ones came before these.
        check(s, QueryFilter::default(), days(14), &[]).await;
        store(s, 20, [took(100.0, ago("x", HOUR_NS))]).await;
        let entry = only(s, days(14)).await;
        assert_eq!((entry.runs, said(entry)), (1, (3, Some(100.0), Some(10.0))));
        // With three of the last day these are lately, and nothing is usual.
        store(s, 30, [took(50.0, ago("x", 2)), took(50.0, ago("x", 1))]).await;
        let entry = only(s, days(14)).await;
        assert_eq!(said(entry), (3, Some(50.0), None));
    });
}

/// Runs that warned, so long ago, and the warnings that are new then.
async fn check_new(s: &Subject, warnings: &[(&str, i64)], expected: &[&str]) {
    store(s, 1, warnings.iter().map(|(rule, ago_ns)| warned(rule, ago("x", *ago_ns)))).await;
    assert_eq!(only(s, days(1)).await.new_rules, expected, "{warnings:?}");
}

pub(super) fn a_warning_is_new_that_no_earlier_run_had(subjects: &Subjects) {
    let year = 365 * DAY_NS;
    let old = [("a", year), ("a", year), ("a", year), ("a", year), ("b", year)];
    let today = [("a", 1), ("b", 1), ("c", 1), ("d", 1)];
    for (rest, expected) in [
        (&[][..], &["c", "d"][..]),
        (&[("c", 7 * DAY_NS + 1)], &["d"]),
        (&[("c", 7 * DAY_NS)], &["c", "d"]),
        (&[("c", 2 * year)], &["d"]),
        (&[("c", 15 * DAY_NS)], &["d"]),
        (&[("d", -DAY_NS - 1), ("e", -DAY_NS - 1)], &["c", "d"]),
        (&[("d", -1), ("e", -DAY_NS)], &["c", "d", "e"]),
    ] {
        for lately in [&today[2..], &today[..]] {
            subjects.one(async |s| check_new(s, &[&old, rest, lately].concat(), expected).await);
        }
    }
    // Four are too few, also with one where the runs begin that are all read.
    subjects.one(async |s| check_new(s, &[&old[1..], &today].concat(), &[]).await);
    let edge = [("b", 15 * DAY_NS)];
    subjects.one(async |s| check_new(s, &[&old[2..], &edge, &today].concat(), &[]).await);
}

pub(super) fn runs_more_than_a_day_ahead_have_no_part(subjects: &Subjects) {
    subjects.one(async |s| {
        store(s, 1, (0..8).map(|n| planned("p", ago("x", DAY_NS * 3 / 4 * n)))).await;
        let before = only(s, days(14)).await;
        let ahead = warned("skew", planned("q", took(1e6, ago("x", -DAY_NS - 1))));
        let other = batch(2).process(Some("ahead"), None, "h");
        s.commit(other.finished(50, 1, ahead.clone()).finished(51, 2, failed(ahead))).await;
        assert_eq!(only(s, days(14)).await, before);
        // Until it is a day ahead, and from then on.
        let later = Window::new(NOW_NS + 1, 14, 0).expect("a window");
        let entry = only(s, later).await;
        assert_eq!((entry.runs, entry.failed, entry.service.as_deref()), (10, 1, Some("ahead")));
        assert_eq!(entry.days.iter().map(|day| u64::from(day.runs)).sum::<u64>(), 10);
    });
}

pub(super) fn local_days_begin_where_they_are_asked_to(subjects: &Subjects) {
    subjects.one(async |s| {
        // It is 23:00: now, a nanosecond before, and when the day began in UTC.
        store(s, 1, [ago("x", 0), ago("x", 1), ago("x", 23 * HOUR_NS)]).await;
        for (utc_offset, expected) in [(0, &[0, 3][..]), (60, &[2, 1]), (-60, &[1, 2]), (1440, &[0, 3])] {
            let window = Window::new(NOW_NS, 1, utc_offset).expect("a window");
            let entry = only(s, window).await;
            let runs: Vec<u32> = entry.days.iter().map(|day| day.runs).collect();
            assert_eq!(runs, expected, "{utc_offset}");
        }
    });
}

pub(super) fn overviews_are_of_what_the_filters_keep(subjects: &Subjects) {
    subjects.one(async |s| {
        let etl = batch(1).project("p1").process(Some("etl"), Some("prod"), "h1");
        s.commit(etl.finished(1, 1, ago("x", 1)).finished(2, 2, failed(planned("p", ago("x", 2))))).await;
        let web = batch(2).project("p1").process(Some("web"), None, "h2");
        s.commit(web.finished(3, 1, ago("x", 3)).finished(4, 2, took(1.0, ago("y", 4)))).await;
        s.commit(batch(3).project("p2").finished(5, 1, took(100.0, ago("y", 5)))).await;
        let all = QueryFilter::default;
        for (filter, expected) in [
            (all(), &[("y", 2), ("x", 3)][..]),
            (QueryFilter { project: Some("p1".into()), ..all() }, &[("x", 3), ("y", 1)]),
            (QueryFilter { project: Some("p2".into()), ..all() }, &[("y", 1)]),
            (QueryFilter { project: Some("p3".into()), ..all() }, &[]),
            (QueryFilter { label: Some(is("x")), ..all() }, &[("x", 3)]),
            (QueryFilter { label: Some(Is::Absent), ..all() }, &[]),
            (QueryFilter { service: Some(is("etl")), ..all() }, &[("x", 2)]),
            (QueryFilter { service: Some(Is::Absent), ..all() }, &[("y", 1)]),
            (QueryFilter { environment: Some(is("prod")), label: Some(is("y")), ..all() }, &[]),
            (QueryFilter { environment: Some(Is::Absent), ..all() }, &[("y", 2), ("x", 1)]),
            (QueryFilter { host: Some("h2".into()), ..all() }, &[("x", 1), ("y", 1)]),
            (QueryFilter { status: Some(Status::Failed), ..all() }, &[("x", 1)]),
            (QueryFilter { fingerprint: Some(is("p")), ..all() }, &[("x", 1)]),
            (QueryFilter { search: Some("nowhere".into()), ..all() }, &[("y", 2), ("x", 3)]),
        ] {
            check(s, filter, days(1), expected).await;
        }
    });
}

pub(super) fn earlier_runs_are_of_what_the_filters_keep(subjects: &Subjects) {
    subjects.one(async |s| {
        let old = (1..=5).map(|n| warned("scan", ago("x", 40 * DAY_NS + n)));
        store(s, 1, old).await;
        let quiet = (1..=5).map(|n| ago("x", 40 * DAY_NS + n));
        let etl = || batch(2).process(Some("etl"), None, "h");
        s.commit((10..).zip(quiet).fold(etl(), |batch, (n, facts)| batch.finished(n, n, facts))).await;
        let today = (1..=3).map(|n| warned("scan", ago("x", n)));
        s.commit((20..).zip(today).fold(etl(), |batch, (n, facts)| batch.finished(n, n, facts))).await;
        assert_eq!(only(s, days(14)).await.new_rules, [""; 0]);
        let entries =
            s.overview(QueryFilter { service: Some(is("etl")), ..QueryFilter::default() }, days(14)).await;
        assert_eq!(entries[0].new_rules, ["scan"]);
    });
}

pub(super) fn what_was_deleted_has_no_part(subjects: &Subjects) {
    subjects.one(async |s| {
        store(s, 1, (0..6).map(|n| warned("scan", ago("x", 20 * DAY_NS + n)))).await;
        store(s, 10, (0..6).map(|n| ago("x", 8 * DAY_NS + n))).await;
        store(s, 20, [warned("scan", ago("x", 1))]).await;
        assert_eq!(only(s, days(30)).await.new_rules, [""; 0]);
        s.store.delete_before(NOW_NS - 10 * DAY_NS, 100).await.expect("a store");
        for _ in 0..2 {
            let entry = only(s, days(30)).await;
            assert_eq!((entry.runs, entry.new_rules), (7, vec!["scan".into()]));
            s.reopen().await;
        }
    });
}

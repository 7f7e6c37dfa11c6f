//! The same cases as in `ui/src/model/change.test.ts` and `ui/src/model/remaining.test.ts`: the sentences are the same.

use serde_json::{Value, json};

use super::*;
use crate::read::units::Zone;

const NOW: Times = Times { now_unix_ns: 0, zone: Zone::Utc };

fn change(more: Value) -> Change {
    let mut change = json!({
        "kind": "slower", "state": "open", "service": "etl", "label": "a",
        "since_unix_ns": 9, "since_query_id": "q",
        "before": {"runs": 120, "median_wall_ms": 39_700.0, "low_ms": 39_000.0, "high_ms": 40_000.0, "failed": 0},
        "after": {"runs": 37, "median_wall_ms": 93_500.0, "low_ms": 92_000.0, "high_ms": 95_000.0, "failed": 0},
        "factor": 2.36,
        "cost": {"runs": 37, "extra_wall_ms": 3_780_000.0, "wall_ms_a_day": 720_000.0},
    });
    let Value::Object(more) = more else { panic!("members") };
    change.as_object_mut().expect("an object").extend(more);
    serde_json::from_value(change).expect("a change")
}

fn line_of(more: Value) -> String {
    change_line(&change(more), NOW).replace("00:00", "t9")
}

#[test]
fn a_change_says_how_much_since_when_and_both_sides() {
    assert_eq!(line_of(json!({})), "2.4x slower since t9 (93.5 s in 37 runs, before 39.7 s in 120)");
    assert!(line_of(json!({"kind": "faster", "factor": 0.5})).starts_with("2.0x faster since t9 "));
    let grew = line_of(json!({"kind": "data_grew", "factor": 1.5}));
    assert!(grew.starts_with("1.5x slower as its data grew since"), "{grew}");
    assert!(line_of(json!({"factor": null})).starts_with("Slower since t9 "));
    let failing = json!({
        "kind": "failing",
        "after": {"runs": 10, "failed": 9},
        "before": {"runs": 120, "failed": 0},
    });
    assert_eq!(line_of(failing), "Fails since t9 (9 of 10 runs, before 0 of 120)");
}

#[test]
fn a_run_is_held_against_those_before_a_change_and_since_it_got_faster_against_those_since() {
    let usual =
        |more: Value| usual_by(&change(more)).map(|usual| (usual.wall_ms, usual.runs, usual.is_since_faster));
    assert_eq!(usual(json!({})), Some((39_700.0, 120, false)));
    assert_eq!(usual(json!({"kind": "data_grew"})), Some((39_700.0, 120, false)));
    assert_eq!(usual(json!({"kind": "faster"})), Some((93_500.0, 37, true)));
    let few = json!({"kind": "faster", "after": {"runs": 6, "failed": 2, "median_wall_ms": 9.0}});
    assert_eq!(usual(few), None);
    assert_eq!(usual(json!({"kind": "failing"})), None);
    assert_eq!(usual(json!({"before": {"runs": 0, "failed": 0}})), None);
}

#[test]
fn causes_are_the_sentences_of_the_service_and_what_is_not_known_is_said() {
    let cause = json!({"cause": "slower_per_row", "share": 1.0, "wall_ms": 5.0,
        "sentence": "Scan #1 takes 2.0x as long for each row",
        "evidence": [{"name": "rows_in", "unit": "rows", "before": 10_000.0, "after": 40_000.0},
            {"name": "busy", "unit": "ms", "before": null, "after": 3.0}]});
    let known = change(json!({"causes": [cause]}));
    assert_eq!(first_cause(&known), "Scan #1 takes 2.0x as long for each row.");
    assert_eq!(evidence(&known.causes[0]), "rows in 40 k rows, before 10 k rows (4.0x); busy 3 ms, before –");
    assert_eq!(first_cause(&change(json!({}))), "The cause is not known.");
    assert_eq!(first_cause(&change(json!({"kind": "failing"}))), "");
    let unexplained = json!({"cause": "unexplained", "share": 1.0, "wall_ms": 5.0});
    assert_eq!(
        cause_words(&serde_json::from_value(unexplained).expect("a cause")),
        "No counter explains it."
    );
}

#[test]
fn what_made_runs_faster_is_not_called_by_what_makes_them_slower() {
    assert_eq!(
        ["more_rows", "slower_per_row"].map(|cause| cause_name(cause, &[], false)),
        ["More rows", "Slower per row"]
    );
    assert_eq!(
        ["more_rows", "slower_per_row"].map(|cause| cause_name(cause, &[], true)),
        ["Fewer rows", "Faster per row"]
    );
    assert_eq!(cause_name("engine_version", &[], true), "Engine version");
}

#[test]
fn as_many_threads_that_are_busy_for_less_of_the_time_are_not_fewer() {
    let named = |figure: &str| {
        let cause = json!({"cause": "fewer_threads", "share": 1.0, "wall_ms": 5.0,
            "evidence": [{"name": figure, "unit": "threads", "before": 2.0, "after": 1.0}]});
        let cause: Cause = serde_json::from_value(cause).expect("a cause");
        [false, true].map(|is_less| cause_name(&cause.kind, &cause.evidence, is_less))
    };
    assert_eq!(named("threads"), ["Fewer threads", "More threads"]);
    assert_eq!(named("threads_used"), ["Fewer threads busy", "More threads busy"]);
}

#[test]
fn a_cost_that_is_none_is_not_told() {
    assert_eq!(
        cost_line(&change(json!({}))),
        "12 min a day more than before, at its rate of runs; 1 h 03 min so far"
    );
    let grown = json!({"runs": 0, "extra_wall_ms": 0.0, "wall_ms_a_day": 720_000.0});
    assert_eq!(
        cost_line(&change(json!({"kind": "data_grew", "cost": grown}))),
        "12 min a day more than before, at its rate of runs"
    );
    let cost = |all: f64, day: f64| {
        cost_line(&change(json!({"cost": {"runs": 3, "extra_wall_ms": all, "wall_ms_a_day": day}})))
    };
    assert_eq!(cost(0.0, 0.0), "");
    assert_eq!(cost(-60.0, -90.0), "90 ms a day less than before, at its rate of runs; 60 ms so far");
    let failing = json!({"runs": 9, "extra_wall_ms": 0.0, "wall_ms_a_day": 720_000.0});
    assert_eq!(cost_line(&change(json!({"kind": "failing", "cost": failing}))), "12 min a day at stake");
}

#[test]
fn a_change_of_one_host_is_of_its_runs_alone() {
    let of_host = change(json!({"host": "etl-3", "environment": "prod"}));
    assert_eq!([place(&of_host), place(&change(json!({})))], ["on host etl-3, in prod", ""]);
    let recovered = change(json!({"state": "recovered", "recovered_unix_ns": 70}));
    assert_eq!(state_words(&recovered, NOW), format!("recovered {}", NOW.at(70)));
    assert_eq!(state_words(&change(json!({"state": "superseded"})), NOW), "superseded");
}

#[test]
fn without_a_change_the_line_says_what_is_usual() {
    let query = |usual: Option<f64>, lately: Option<f64>| {
        let query = json!({"label": "a", "runs": 14, "usual_wall_ms": usual, "recent_wall_ms": lately});
        let query = serde_json::from_value(query).expect("a query");
        query_line(Some(&query), &[], 14, NOW)
    };
    let said = "No change is open: 2 s lately, usually 1 s, 14 runs in 14 days";
    assert_eq!(query(Some(1000.0), Some(2000.0)), said);
    assert_eq!(query(None, Some(2000.0)), "No change is open: 2 s lately, 14 runs in 14 days");
    assert_eq!(query(Some(1000.0), None), "No change is open: usually 1 s, 14 runs in 14 days");
    let two_plans = json!({
        "label": "a", "runs": 14, "recent_wall_ms": 2.2, "recent_spread_ms": [2.2, 45_000.0], "unfinished": 1
    });
    assert_eq!(
        query_line(Some(&serde_json::from_value(two_plans).expect("a query")), &[], 14, NOW),
        "No change is open: 2.2 ms to 45 s lately, 14 runs in 14 days, 1 unfinished"
    );
    let compared = |lately: f64, failed: u64| {
        let query = json!({
            "label": "a", "runs": 14, "usual_wall_ms": 1000.0, "usual_band_ms": [900.0, 1100.0], "judged": true,
            "recent_wall_ms": lately, "recent_runs": 3, "recent_failed": failed,
        });
        query_line(Some(&serde_json::from_value(query).expect("a query")), &[], 14, NOW)
    };
    let said = "As usual: 1.1 s in its last 3 runs, usually 1 s, 14 runs in 14 days";
    assert_eq!(compared(1100.0, 0), said);
    for other in [compared(1101.0, 0), compared(1100.0, 1)] {
        assert!(other.starts_with("No change is open: 1.1 s in its last 3 runs"), "{other}");
    }
    assert_eq!(query_line(None, &[], 1, NOW), "No run in the last 1 day");
    let (slower, faster) = (change(json!({})), change(json!({"kind": "faster"})));
    let both = query_line(None, &[&faster, &slower], 14, NOW);
    assert!(both.starts_with("2.4x slower") && both.ends_with("1 other change is open."), "{both}");
}

#[test]
fn what_remains_is_an_interval_with_its_basis() {
    let says = |more: Value| {
        let mut progress = json!({"runs": 40, "is_late": false});
        let Value::Object(more) = more else { panic!("members") };
        progress.as_object_mut().expect("an object").extend(more);
        remaining(&serde_json::from_value(progress).expect("progress"))
    };
    let times = json!({"p10": 2100.0, "p50": 8300.0, "p90": 31_000.0});
    let basis = "the last 40 runs of its plan";
    assert_eq!(
        says(json!({"longer_than": 21, "remaining_ms": times, "basis": basis})).as_deref(),
        Some("2.1 s to 31 s more (the last 40 runs of its plan)")
    );
    assert_eq!(
        says(json!({"longer_than": 38, "is_late": true, "basis": basis})).as_deref(),
        Some("longer than 38 of the last 40 runs of its plan")
    );
    assert_eq!(
        says(json!({"longer_than": 36, "is_late": true, "remaining_ms": times, "basis": "12 earlier runs"}))
            .as_deref(),
        Some("late: 2.1 s to 31 s more (12 earlier runs)")
    );
    assert_eq!(
        says(json!({"longer_than": 40, "rows_read_factor": 3.0, "basis": "40 earlier runs"})).as_deref(),
        Some("already longer than 40 of 40 earlier runs; so far it has read 3.0x the rows of its last runs")
    );
    assert_eq!([says(json!({})), says(json!({"longer_than": 0}))], [None, None]);
}

#[test]
fn nodes_have_the_short_number_that_people_say() {
    assert_eq!([node_number(7), node_number(4_294_967_303)], [7, 7]);
    assert_eq!(node_name("Join\x1b", 4_294_967_303), "Join␛ #7");
}

//! What updates and keys do.

use serde_json::{Value, json};

use super::*;
use crate::read::units::{Times, Zone};

pub(crate) const NOW: Times = Times { now_unix_ns: 1_795_206_683_000_000_000, zone: Zone::Utc };

pub(crate) fn run(id: &str, label: Option<&str>, seconds: i64) -> Value {
    json!({
        "query_id": id, "status": "running", "label": label, "service": "etl", "host": "worker-1",
        "started_unix_ns": NOW.now_unix_ns - seconds * 1_000_000_000,
    })
}

pub(crate) fn pulse(id: &str, threads: &[f64]) -> Value {
    json!({
        "query_id": id, "elapsed_ms": 1000.0, "threads": threads, "done": 2, "nodes": 7, "quiet_ms": 0.0,
        "busiest": {"id": 4_294_967_299_u64, "kind": "group-by", "threads": 1.4}, "user_code": null,
        "rows_read": 1_230_000,
    })
}

/// Three running runs, of which one has no label.
pub(crate) fn app() -> App {
    let mut app = App::new("http://127.0.0.1:7766".into());
    app.take(Update::Open { url: "http://127.0.0.1:7766".into() });
    let snapshot = json!({
        "running": [run("a", Some("orders/daily"), 61), run("b", Some("orders/weekly"), 7), run("c", None, 3)],
        "pulses": [pulse("a", &[0.5, 1.9]), pulse("b", &[4.0])],
    });
    app.take(Update::Snapshot(serde_json::from_value(snapshot).expect("a snapshot")));
    app
}

pub(crate) fn judge(app: &mut App, run: &str, progress: Value) {
    let progress = Box::new(serde_json::from_value(progress).expect("progress"));
    app.take(Update::Judged { run: run.into(), progress });
}

fn ids(app: &mut App) -> Vec<String> {
    let rows = rows::listing(app, NOW).into_entries();
    app.choice.shows(rows.clone(), 10);
    rows
}

fn query(app: &mut App, run: Value) {
    app.take(Update::Query(serde_json::from_value(run).expect("a run")));
}

#[test]
fn runs_start_end_and_are_replaced_by_a_snapshot() {
    let mut app = app();
    assert_eq!(ids(&mut app), ["a", "b", "c"], "the longest first");
    query(&mut app, run("d", Some("new"), 0));
    assert_eq!(ids(&mut app), ["a", "b", "c", "d"]);
    let mut ended = run("a", Some("orders/daily"), 61);
    ended["status"] = json!("finished");
    query(&mut app, ended);
    assert_eq!(ids(&mut app), ["b", "c", "d"]);
    let snapshot = json!({"running": [run("e", None, 1)], "pulses": []});
    app.take(Update::Snapshot(serde_json::from_value(snapshot).expect("a snapshot")));
    assert_eq!(ids(&mut app), ["e"]);
}

#[test]
fn a_pulse_without_samples_keeps_the_last() {
    let mut app = app();
    let mut take = |threads: &[f64]| {
        let is_news = app.take(Update::Pulse(serde_json::from_value(pulse("b", threads)).expect("a pulse")));
        assert!(!is_news, "it is seen with the next picture");
        rows::busy(&app.running.as_ref().expect("known")["b"])
    };
    assert_eq!([take(&[1.0, 2.0]), take(&[])], [Some(2.0); 2]);
}

#[test]
fn keys_choose_sort_filter_and_group() {
    let mut app = app();
    ids(&mut app);
    let mut press = |keys: &[Key]| {
        for key in keys {
            assert_eq!(app.press(*key), Outcome::GoOn);
            ids(&mut app);
        }
        (ids(&mut app), app.choice.selected().map(str::to_owned))
    };
    let rows = |ids: &[&str]| ids.iter().map(|&id| id.to_owned()).collect::<Vec<_>>();
    assert_eq!(press(&[Key::Down]), (rows(&["a", "b", "c"]), Some("b".into())));
    assert_eq!(
        press(&[Key::Char('r')]),
        (rows(&["c", "b", "a"]), Some("b".into())),
        "the run stays selected"
    );
    assert_eq!(
        press(&[Key::Char('s')]),
        (rows(&["b", "a", "c"]), Some("b".into())),
        "names from Z, unknown last"
    );
    assert_eq!(press(&[Key::Char('r'), Key::End]).1, Some("c".into()));
    let typed = [Key::Char('/'), Key::Char('W'), Key::Char('e'), Key::Char('x'), Key::Backspace, Key::Enter];
    assert_eq!(press(&typed), (rows(&["b"]), Some("b".into())));
    assert_eq!(press(&[Key::Escape]).0.len(), 3);
    assert_eq!(press(&[Key::Char('g'), Key::Home]).0, rows(&["orders/daily", "orders/weekly", ""]));
    assert_eq!(press(&[Key::Down, Key::Enter]), (rows(&["b"]), Some("b".into())), "the runs of the group");
    assert_eq!(press(&[Key::Escape, Key::End, Key::Enter]).0, rows(&["c"]), "those without a label");
    assert_eq!(app.press(Key::Escape), Outcome::GoOn);
    assert_eq!(app.press(Key::Escape), Outcome::Quit);
}

#[test]
fn groups_are_sorted_by_their_own_columns() {
    let mut app = app();
    for key in [Key::Char('s'), Key::Char('s'), Key::Char('g')] {
        app.press(key);
    }
    assert_eq!(app.sort, rows::SORT, "no group has a remaining time");
    let mut sorted = Vec::new();
    for _ in 0..6 {
        app.press(Key::Char('s'));
        sorted.push(app.sort);
    }
    assert_eq!(sorted, ["query", "running", "late", "threads", "hosts", "elapsed"]);
}

#[test]
fn runs_beyond_the_screen_are_asked_about_too() {
    let mut app = app();
    app.choice.shows(vec!["a".into(), "b".into()], 2);
    let rows = |ids: &[&str]| ids.iter().map(|&id| id.to_owned()).collect::<Vec<_>>();
    assert_eq!(app.wanted(), Wanted { visible: rows(&["a", "b"]), others: rows(&["c"]) });
    app.press(Key::Char('g'));
    assert_eq!(app.wanted(), Wanted { visible: Vec::new(), others: rows(&["a", "b", "c"]) });
}

#[test]
fn a_plan_is_opened_followed_and_closed() {
    let mut app = app();
    ids(&mut app);
    app.press(Key::Enter);
    assert_eq!((app.open_run(), app.visible()), (Some("a"), &["a".to_owned()][..]));
    app.take(Update::PlanLost { run: "a".into(), reason: "gone".into() });
    assert!(app.plan.as_ref().is_some_and(|plan| plan.lost.is_some()));
    app.take(Update::PlanFound { run: "a".into() });
    assert!(app.plan.as_ref().is_some_and(|plan| plan.lost.is_none()), "it is followed again");
    assert!(!app.take(Update::Events { run: "b".into(), data: String::new() }), "of a run that is not open");
    app.press(Key::Char('q'));
    assert_eq!(app.open_run(), None);
    assert_eq!(app.press(Key::Interrupt), Outcome::Quit);
}

#[test]
fn the_selection_stays_on_the_screen() {
    let mut app = app();
    let all: Vec<String> = (0..50).map(|n| format!("{n:02}")).collect();
    app.choice.shows(all.clone(), 10);
    app.press(Key::PageDown);
    assert_eq!(app.choice.shows(all.clone(), 10), (1, Some(10)));
    app.press(Key::End);
    assert_eq!(app.choice.shows(all.clone(), 10), (40, Some(49)));
    assert_eq!(app.visible(), &all[40..]);
    assert_eq!(app.choice.shows(all[..3].to_vec(), 10), (0, Some(2)), "rows have gone");
    assert_eq!(app.choice.shows(Vec::new(), 10), (0, None));
}

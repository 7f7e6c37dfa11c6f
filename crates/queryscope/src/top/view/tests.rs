//! Pictures of what is drawn.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::json;

use super::super::app::App;
use super::super::app::tests::{NOW, app, judge};
use super::super::follow::{Snapshot, Update};
use super::super::keys::Key;
use super::*;

fn picture(app: &mut App, columns: u16, lines: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, lines)).expect("a terminal");
    // Twice: the first picture says how many rows there are.
    for _ in 0..2 {
        terminal.draw(|frame| draw(frame, app, NOW)).expect("drawn");
    }
    terminal.backend().to_string()
}

fn judged() -> App {
    let mut app = app();
    let remaining = json!({"p10": 2100.0, "p50": 8300.0, "p90": 31_000.0});
    let late = json!({"runs": 40, "is_late": true, "longer_than": 38, "basis": "40 earlier runs"});
    judge(&mut app, "a", late);
    let known = json!({"runs": 40, "is_late": false, "longer_than": 21, "remaining_ms": remaining,
        "basis": "40 earlier runs of its plan"});
    judge(&mut app, "b", known);
    judge(&mut app, "c", json!({"runs": 1, "is_late": false}));
    app
}

#[test]
fn running_runs_fit_a_small_terminal() {
    insta::assert_snapshot!(picture(&mut judged(), 80, 24));
}

#[test]
fn a_wide_terminal_shows_all_columns() {
    insta::assert_snapshot!(picture(&mut judged(), 160, 12));
}

#[test]
fn too_few_earlier_runs_are_said() {
    let mut app = judged();
    let selected: Vec<String> = (0..3)
        .map(|_| {
            let drawn = picture(&mut app, 100, 24);
            app.press(Key::Char('j'));
            drawn
        })
        .collect();
    assert!(
        selected.iter().any(|drawn| drawn.contains("too few earlier runs (1) for a forecast")),
        "{selected:?}"
    );
}

#[test]
fn groups_are_labels() {
    let mut app = judged();
    app.press(Key::Char('g'));
    insta::assert_snapshot!(picture(&mut app, 80, 12));
}

#[test]
fn an_outage_is_said_and_what_was_known_stays() {
    let mut app = judged();
    app.take(Update::Lost { reason: "http://127.0.0.1:7766 cannot be reached: Connection refused".into() });
    insta::assert_snapshot!(picture(&mut app, 80, 12));
}

#[test]
fn nothing_runs_and_nothing_is_known_yet() {
    let mut app = App::new("http://127.0.0.1:7766".into());
    assert!(picture(&mut app, 40, 8).contains("Connecting"));
    let snapshot = json!({"running": [], "pulses": []});
    app.take(Update::Snapshot(serde_json::from_value(snapshot).expect("a snapshot")));
    assert!(picture(&mut app, 40, 8).contains("Nothing is running"));
}

#[test]
fn colours_can_be_left_out_and_the_selection_is_seen() {
    for has_colours in [true, false] {
        let mut app = judged();
        app.has_colours = has_colours;
        let mut terminal = Terminal::new(TestBackend::new(80, 12)).expect("a terminal");
        terminal.draw(|frame| draw(frame, &mut app, NOW)).expect("drawn");
        let cells = &terminal.backend().buffer().content;
        assert_eq!(cells.iter().any(|cell| cell.fg != Color::Reset), has_colours);
        let selected = cells.iter().filter(|cell| cell.modifier.contains(Modifier::REVERSED));
        let selected: String = selected.map(ratatui::buffer::Cell::symbol).collect();
        assert!(selected.contains("orders/daily") && !selected.contains("orders/weekly"), "{selected}");
    }
}

#[test]
fn a_tiny_terminal_is_no_error() {
    for (columns, lines) in [(1, 1), (10, 3), (20, 6)] {
        let mut app = judged();
        picture(&mut app, columns, lines);
        app.press(Key::Enter);
        picture(&mut app, columns, lines);
    }
}

#[test]
fn the_plan_is_a_tree_with_bars() {
    let query = "01a1faa8-1bd9-77b2-97ab-860dd7026506";
    let line = |kind: &str, rest: &str| {
        format!(
            r#"{{"schema":"engine-telemetry/events@1","seq":2,"type":"{kind}","query_id":"{query}",{rest}}}"#
        )
    };
    let physical = json!([
        {"id": 1, "kind": "Scan", "role": "scan", "inputs": [],
            "properties": {"table": "orders.parquet", "predicate": "col(\"a\") > 5"}},
        {"id": 2, "kind": "Scan", "role": "scan", "inputs": [], "properties": {"table": "customers.parquet"}},
        {"id": 3, "kind": "Join", "role": "join", "inputs": [1, 2],
            "properties": {"how": "Inner", "left_on": ["id"], "right_on": ["id"]}},
        {"id": 4, "kind": "Sink", "role": "sink", "inputs": [3]},
    ]);
    let profile = json!({"schema": "engine-telemetry/profile@1", "query_id": query, "wall_ms": 1000.0,
        "plan": {"physical": physical, "logical": []}});
    let nodes = json!({
        "1": {"busy_ns": 250_000_000, "rows_out": 40_000, "done": true},
        "3": {"busy_ns": 750_000_000, "rows_in": 40_000, "rows_out": 1_234_567},
    });
    let started = line("query.started", &format!(r#""profile":{profile}"#));
    let sample = line("query.progress", &format!(r#""elapsed_ms":1500,"nodes":{nodes}"#));
    let mut app = judged();
    picture(&mut app, 80, 12);
    app.press(Key::Enter);
    assert!(app.take(Update::Events { run: "a".into(), data: format!("{started}\n{sample}") }));
    insta::assert_snapshot!(picture(&mut app, 80, 12));
    insta::assert_snapshot!("large_plan", picture(&mut app, 200, 50));
    let ended = json!({"query_id": "a", "status": "failed", "started_unix_ns": 0, "wall_ms": 64_000.0,
        "failed": "out of memory\nat node 3"});
    app.take(Update::Ended(serde_json::from_value(ended).expect("a run")));
    assert!(picture(&mut app, 80, 12).contains("Failed after 64 s: out of memory"));
}

#[test]
fn a_large_terminal_shows_all_columns() {
    let mut app = judged();
    insta::assert_snapshot!("large_runs", picture(&mut app, 200, 50));
    app.press(Key::Char('g'));
    insta::assert_snapshot!("large_groups", picture(&mut app, 200, 50));
    app.take(Update::Issues(crate::read::issues::tests::issues()));
    app.press(Key::Char('i'));
    insta::assert_snapshot!("large_issues", picture(&mut app, 200, 50));
}

#[test]
fn what_is_not_shown_for_a_filter_is_not_said_to_be_nothing() {
    let mut app = App::new("http://127.0.0.1:7766".into());
    app.source = " of service etl".into();
    app.take(Update::Snapshot(Snapshot { running: Vec::new(), pulses: Vec::new() }));
    assert!(picture(&mut app, 80, 12).contains("Nothing of service etl is running"));
    app.take(Update::Issues(Vec::new()));
    app.press(Key::Char('i'));
    assert!(picture(&mut app, 80, 12).contains("No issue of service etl is open"));
}

#[test]
fn a_service_that_was_never_reached_is_not_lost() {
    let mut app = App::new("http://127.0.0.1:7766".into());
    let lost = |reason: &str| Update::Lost { reason: reason.into() };
    app.take(lost("http://127.0.0.1:7766 cannot be reached: refused"));
    assert!(picture(&mut app, 80, 12).contains("No contact, trying again: http://127.0.0.1:7766 cannot"));
    app.take(lost("http://127.0.0.1:7766 answered 401 Unauthorized: reading needs a login, or a token"));
    assert!(picture(&mut app, 80, 12).contains("Refused, trying again: reading needs a login, or a token"));
}

#[test]
fn issues_are_the_second_screen() {
    let mut app = judged();
    app.press(Key::Char('i'));
    assert!(picture(&mut app, 60, 8).contains("Waiting for the issues"));
    app.take(Update::Issues(Vec::new()));
    assert!(picture(&mut app, 60, 8).contains("No issue is open"));
    app.take(Update::Issues(crate::read::issues::tests::issues()));
    insta::assert_snapshot!(picture(&mut app, 80, 12));
    app.press(Key::Down);
    app.press(Key::Char('s'));
    let shown = picture(&mut app, 80, 12);
    assert!(shown.contains("by query") && shown.contains("1.5x slower as its data grew since"), "{shown}");
    for key in [Key::Char('/'), Key::Char('w'), Key::Char('e'), Key::Enter] {
        app.press(key);
    }
    let shown = picture(&mut app, 80, 12);
    assert!(shown.contains("orders/weekly") && !shown.contains("orders/daily"), "{shown}");
    assert!(app.visible().is_empty(), "no run is on the screen");
    app.press(Key::Escape);
    app.press(Key::Escape);
    let shown = picture(&mut app, 100, 12);
    assert!(shown.contains("3 running, ") && shown.contains("i 3 issues"), "{shown}");
}

//! How a query's state moves: by its events, by silence, across restarts.

use std::time::Duration;

use serde_json::json;

use crate::app::{Setup, TestApp};
use crate::events::{DAY_NS, SECOND_NS, batch, done, event, finished, process, progress, query, started};

const SILENT_AFTER: Duration = Duration::from_mins(1);

fn failed(seq: u64, n: u64) -> String {
    finished(seq, n, json!({"failed": "boom"}))
}

/// A query, its samples so far, and nothing heard of it for so long that it is unfinished.
async fn unfinished() -> TestApp {
    let app = Setup::with(|settings| settings.silent_after = SILENT_AFTER).start().await;
    app.store(batch(1, [started(2, 1, json!({})), progress(3, 1)])).await;
    let jobs = app.start_jobs();
    app.clock.advance(SILENT_AFTER + Duration::from_millis(1));
    app.until_status(1, "unfinished").await;
    drop(jobs);
    app
}

#[tokio::test]
async fn a_query_runs_until_its_finished_event() {
    let app = TestApp::new().await;
    for (n, first) in [(1, started(2, 1, json!({}))), (2, progress(3, 2))] {
        app.store(batch(1, [first])).await;
        assert_eq!(app.status(n).await, "running");
    }
    app.store(batch(1, [done(4, 1), failed(5, 2)])).await;
    assert_eq!((app.status(1).await, app.status(2).await), ("finished".into(), "failed".into()));
}

#[tokio::test]
async fn a_query_may_begin_with_its_end() {
    let app = TestApp::new().await;
    let cancelled = finished(3, 2, json!({"failed": "cancelled"}));
    let empty = finished(4, 3, json!({"failed": ""}));
    app.store(batch(1, [done(2, 1), cancelled, empty])).await;
    assert_eq!(app.status(1).await, "finished");
    assert_eq!(app.status(2).await, "failed");
    assert_eq!(app.status(3).await, "failed", "a text, even an empty one");
}

#[tokio::test]
async fn the_end_counts_wherever_it_stands_in_a_batch() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(4, 1), progress(3, 1), started(2, 1, json!({"label": "x"}))])).await;
    assert_eq!(app.status(1).await, "finished");
}

#[tokio::test]
async fn a_late_event_does_not_move_an_ended_query() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(5, 1), failed(6, 2)])).await;
    let before = (app.summary(1).await, app.summary(2).await);
    let late =
        [started(2, 1, json!({"label": "late"})), progress(7, 1), failed(8, 1), progress(3, 2), done(9, 2)];
    for event in late {
        app.store(batch(1, [event])).await;
    }
    assert_eq!((app.summary(1).await, app.summary(2).await), before);
    assert_eq!(app.recorded(2).await, [process(1), progress(3, 2), failed(6, 2), done(9, 2)]);
}

#[tokio::test]
async fn silence_ends_a_query_as_unfinished_with_a_recording() {
    let app = unfinished().await;
    let summary = app.summary(1).await;
    assert_eq!((&summary["wall_ms"], &summary["failed"]), (&json!(null), &json!(null)));
    assert!(summary["recording"].is_string(), "{summary}");
    assert_eq!(app.recorded(1).await, [process(1), started(2, 1, json!({})), progress(3, 1)]);
    assert_eq!(app.ids("status=unfinished").await.len(), 1);
}

#[tokio::test]
async fn silence_is_measured_from_the_last_event_of_each_query() {
    let app = Setup::with(|settings| settings.silent_after = SILENT_AFTER).start().await;
    app.store(batch(1, [progress(2, 1), progress(3, 2)])).await;
    app.clock.advance(SILENT_AFTER / 2);
    app.store(batch(1, [progress(4, 2)])).await;
    let _jobs = app.start_jobs();
    app.clock.advance(SILENT_AFTER / 2);
    // A third query shows that the job has looked: it falls silent last.
    app.store(batch(1, [progress(5, 3)])).await;
    app.clock.advance(Duration::from_millis(1));
    app.until_status(1, "unfinished").await;
    assert_eq!((app.status(2).await, app.status(3).await), ("running".into(), "running".into()));
    app.clock.advance(SILENT_AFTER / 2);
    app.until_status(2, "unfinished").await;
    assert_eq!(app.status(3).await, "running");
}

#[tokio::test]
async fn a_resent_event_is_no_sign_of_life_but_an_unknown_one_is() {
    let app = Setup::with(|settings| settings.silent_after = SILENT_AFTER).start().await;
    app.store(batch(1, [progress(2, 1), progress(3, 2)])).await;
    app.clock.advance(SILENT_AFTER);
    assert_eq!(app.post(batch(1, [progress(2, 1)])).await.json()["duplicates"], 1);
    let note = event(4, "query.note", json!({"query_id": query(2)}));
    app.store(batch(1, [note])).await;
    let _jobs = app.start_jobs();
    app.clock.advance(Duration::from_millis(1));
    app.until_status(1, "unfinished").await;
    assert_eq!(app.status(2).await, "running");
}

#[tokio::test]
async fn an_ended_query_does_not_become_unfinished() {
    let app = Setup::with(|settings| settings.silent_after = SILENT_AFTER).start().await;
    app.store(batch(1, [done(2, 1), failed(3, 2), progress(4, 3)])).await;
    let _jobs = app.start_jobs();
    app.clock.advance(2 * SILENT_AFTER);
    app.until_status(3, "unfinished").await;
    assert_eq!((app.status(1).await, app.status(2).await), ("finished".into(), "failed".into()));
}

#[tokio::test]
async fn an_unfinished_query_that_reports_again_runs_or_ends() {
    for (event, status) in [(progress(4, 1), "running"), (done(4, 1), "finished"), (failed(4, 1), "failed")] {
        let app = unfinished().await;
        app.store(batch(1, [&event])).await;
        assert_eq!(app.status(1).await, status);
        let mut expected = vec![process(1), started(2, 1, json!({})), progress(3, 1), event];
        if status == "running" {
            assert_eq!(app.recording(1).await.status, 404, "while it runs again");
            app.store(batch(1, [done(5, 1)])).await;
            expected.push(done(5, 1));
        }
        assert_eq!(app.recorded(1).await, expected, "nothing is lost, each once");
    }
}

#[tokio::test]
async fn an_unfinished_query_falls_silent_again() {
    let app = unfinished().await;
    app.store(batch(1, [progress(4, 1)])).await;
    let _jobs = app.start_jobs();
    app.clock.advance(SILENT_AFTER + Duration::from_millis(1));
    app.until_status(1, "unfinished").await;
    assert_eq!(app.recorded(1).await.len(), 4);
}

#[tokio::test]
async fn a_sealed_unfinished_query_goes_on_without_loss() {
    let app = unfinished().await;
    app.seal().await;
    app.store(batch(1, [progress(5, 1)])).await;
    assert_eq!(app.status(1).await, "running");
    app.store(batch(1, [progress(4, 1), done(6, 1)])).await;
    let samples = [progress(3, 1), progress(4, 1), progress(5, 1)];
    let expected: Vec<_> =
        [process(1), started(2, 1, json!({}))].into_iter().chain(samples).chain([done(6, 1)]).collect();
    assert_eq!(app.recorded(1).await, expected);
}

#[tokio::test]
async fn a_restart_keeps_states_and_grants_running_queries_a_fresh_stretch() {
    let app = Setup::with(|settings| settings.silent_after = SILENT_AFTER).start().await;
    app.store(batch(1, [progress(2, 1), done(3, 2), failed(4, 3)])).await;
    let away = Duration::from_hours(1);
    app.clock.advance(away);
    let app = app.restarted().await;
    // A query heard of an hour ago shows when the job has looked.
    app.clock.rewind(away);
    app.store(batch(1, [progress(5, 4)])).await;
    app.clock.advance(away + SILENT_AFTER);
    let _jobs = app.start_jobs();
    app.until_status(4, "unfinished").await;
    assert_eq!(app.status(1).await, "running", "for a whole stretch after the restart");
    app.clock.advance(Duration::from_millis(1));
    app.until_status(1, "unfinished").await;
    assert_eq!((app.status(2).await, app.status(3).await), ("finished".into(), "failed".into()));
}

/// Time for the job to look several times; it looks once a second at least.
async fn looks() {
    tokio::time::sleep(Duration::from_millis(2_500)).await;
}

#[tokio::test]
async fn a_step_of_the_clock_ends_no_running_query_and_keeps_no_silent_one() {
    for step in [3_600 * SECOND_NS, -DAY_NS] {
        let app = Setup::with(|settings| settings.silent_after = SILENT_AFTER).start().await;
        app.store(batch(1, [progress(2, 1)])).await;
        let _jobs = app.start_jobs();
        app.clock.advance(SILENT_AFTER / 2);
        app.clock.step(step);
        // Its time was taken before the step, and it is committed after.
        let on_its_way = Duration::from_nanos(step.unsigned_abs());
        if step > 0 {
            app.clock.rewind(on_its_way);
            app.store(batch(1, [progress(3, 2)])).await;
            app.clock.advance(on_its_way);
        } else {
            app.clock.advance(on_its_way);
            app.store(batch(1, [progress(3, 2)])).await;
            app.clock.rewind(on_its_way);
        }
        looks().await;
        for n in [1, 2] {
            assert_eq!(app.status(n).await, "running", "{n}, by {step}");
        }
        app.clock.advance(SILENT_AFTER);
        looks().await;
        assert_eq!(app.status(1).await, "running", "for a whole stretch after the step");
        app.clock.advance(Duration::from_millis(1));
        for n in [1, 2] {
            app.until_status(n, "unfinished").await;
        }
    }
}

#[tokio::test]
async fn a_clock_set_back_between_two_runs_of_the_service_keeps_no_silent_query_running() {
    let app = Setup::with(|settings| settings.silent_after = SILENT_AFTER).start().await;
    app.store(batch(1, [progress(2, 1)])).await;
    app.clock.rewind(Duration::from_hours(24));
    let app = app.restarted().await;
    let _jobs = app.start_jobs();
    app.clock.advance(SILENT_AFTER);
    assert_eq!(app.status(1).await, "running", "for a whole stretch after the restart");
    app.clock.advance(Duration::from_millis(1));
    app.until_status(1, "unfinished").await;
}

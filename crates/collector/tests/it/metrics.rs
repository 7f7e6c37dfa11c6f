//! The operator's figures.

use axum::http::StatusCode;

use crate::app::{OTHER_TOKEN, TestApp, eventually, post, with_header};
use crate::events::{batch, done, progress, query};
use crate::faulty::Fault;

#[tokio::test]
async fn every_figure_is_there() {
    let app = TestApp::new().await;
    app.post("no batch").await;
    let answer = app.get("/metrics").await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(
        answer.header("content-type").is_some_and(|form| form.starts_with("application/openmetrics-text"))
    );
    let text = answer.text();
    for (name, kind) in [
        ("queryscope_http_requests", "counter"),
        ("queryscope_http_request_duration_seconds", "histogram"),
        ("queryscope_connections", "gauge"),
        ("queryscope_connections_closed", "counter"),
        ("queryscope_readers", "gauge"),
        ("queryscope_readers_refused", "counter"),
        ("queryscope_events_accepted", "counter"),
        ("queryscope_events_duplicate", "counter"),
        ("queryscope_conflicting_events", "counter"),
        ("queryscope_batches_not_compared", "counter"),
        ("queryscope_batches_refused", "counter"),
        ("queryscope_commit_seconds", "histogram"),
        ("queryscope_commit_requests", "histogram"),
        ("queryscope_checkpoint_seconds", "histogram"),
        ("queryscope_store_queue", "gauge"),
        ("queryscope_body_bytes_in_flight", "gauge"),
        ("queryscope_requests_in_flight", "gauge"),
        ("queryscope_live_subscribers", "gauge"),
        ("queryscope_queries_running", "gauge"),
        ("queryscope_store_bytes", "gauge"),
        ("queryscope_recordings_sealed", "counter"),
        ("queryscope_recordings_unsealed", "gauge"),
        ("queryscope_recordings_away_seconds", "gauge"),
        ("queryscope_store_away_seconds", "gauge"),
        ("queryscope_queries_deleted", "counter"),
    ] {
        assert!(text.contains(&format!("# HELP {name} ")), "{name}: {text}");
        assert!(text.contains(&format!("# TYPE {name} {kind}\n")), "{name}: {text}");
    }
    assert!(text.ends_with("# EOF\n"));
}

#[tokio::test]
async fn events_are_counted_by_what_became_of_them() {
    let app = TestApp::new().await;
    app.store(batch(1, [progress(2, 1), progress(3, 2)])).await;
    app.post(batch(1, [progress(3, 2), progress(4, 2), progress(4, 2)])).await;
    for (name, value) in [
        ("queryscope_events_accepted_total", 3),
        ("queryscope_events_duplicate_total", 2),
        ("queryscope_queries_running", 2),
    ] {
        assert_eq!(app.metric(name).await, value, "{name}");
    }
    app.store(batch(1, [done(5, 1)])).await;
    assert_eq!(app.metric("queryscope_queries_running").await, 1);
    assert!(app.metric("queryscope_store_bytes").await > 1000);
}

#[tokio::test]
async fn commits_are_measured() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(2, 1)])).await;
    app.store(batch(1, [done(3, 2)])).await;
    // A commit is measured just after its senders have been answered.
    for name in [
        "queryscope_commit_requests_count",
        "queryscope_commit_requests_sum",
        "queryscope_commit_requests_bucket{le=\"1.0\"}",
        "queryscope_commit_seconds_count",
        "queryscope_commit_seconds_bucket{le=\"+Inf\"}",
    ] {
        eventually(name, async || (app.metric(name).await == 2).then_some(())).await;
    }
}

#[tokio::test]
async fn answers_are_counted_by_route_and_status() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(2, 1)])).await;
    app.post("no batch").await;
    app.get(&format!("/api/queries/{}", query(1))).await;
    app.get("/api/queries/x").await;
    app.get("/api/queries/y?z=1").await;
    for (path, status, count) in [
        ("/v1/events", 202, 1),
        ("/v1/events", 400, 1),
        ("/api/queries/{id}", 200, 1),
        ("/api/queries/{id}", 404, 2),
    ] {
        let name = format!("queryscope_http_requests_total{{path=\"{path}\",status=\"{status}\"}}");
        assert_eq!(app.metric(&name).await, count, "{name}");
    }
}

#[tokio::test]
async fn answers_are_timed_by_route() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(2, 1)])).await;
    app.get("/api/queries/x").await;
    app.get("/api/queries/y").await;
    let family = "queryscope_http_request_duration_seconds";
    for (path, count) in [("/v1/events", 1), ("/api/queries/{id}", 2)] {
        assert_eq!(app.metric(&format!("{family}_count{{path=\"{path}\"}}")).await, count, "{path}");
        let slowest = format!("{family}_bucket{{le=\"+Inf\",path=\"{path}\"}}");
        assert_eq!(app.metric(&slowest).await, count, "{path}");
    }
}

#[tokio::test]
async fn refusals_are_counted_by_reason() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(2, 1)])).await;
    app.post("no batch").await;
    app.post_as("wrong", "").await;
    app.post_as(OTHER_TOKEN, batch(1, [done(3, 1)])).await;
    app.post_gzip("no gzip").await;
    app.send(with_header(post(""), "content-encoding", "br")).await;
    app.send(with_header(post(""), "content-length", "99999999")).await;
    app.faults.set(Fault::Unavailable);
    app.post(batch(1, [done(4, 2)])).await;
    app.faults.set(Fault::None);
    for (reason, count) in [
        ("not_events", 2),
        ("token", 1),
        ("foreign_stream", 1),
        ("encoding", 1),
        ("too_large", 1),
        ("unavailable", 1),
    ] {
        let name = format!("queryscope_batches_refused_total{{reason=\"{reason}\"}}");
        assert_eq!(app.metric(&name).await, count, "{name}");
    }
}

#[tokio::test]
async fn sealing_is_counted() {
    let app = TestApp::new().await;
    app.store(batch(1, [done(2, 1), done(3, 2)])).await;
    let _jobs = app.start_jobs();
    eventually("both to be sealed", async || {
        (app.metric("queryscope_recordings_sealed_total").await == 2).then_some(())
    })
    .await;
}

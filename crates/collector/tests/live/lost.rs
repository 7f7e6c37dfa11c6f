//! What readers are told when the collector did not hear of commits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use queryscope_protocol::seq_of;
use queryscope_store::{CommitFeed, Commits, Heard};
use serde_json::json;

use crate::events::{batch, finished, query, sample, started};
use crate::server::{Server, path};

/// Passes commits on; while `losing`, followers hear only that they lost some.
fn passing(losing: &Arc<AtomicBool>) -> impl FnOnce(Commits) -> CommitFeed {
    let losing = Arc::clone(losing);
    move |mut commits| {
        let feed = CommitFeed::new();
        let told = feed.clone();
        tokio::spawn(async move {
            while let Some(heard) = commits.next().await {
                match heard {
                    Heard::Changes(changes) if !losing.load(Ordering::SeqCst) => {
                        told.publish(changes.to_vec())
                    }
                    _ => told.publish_unnoted(),
                }
            }
        });
        feed
    }
}

#[tokio::test]
async fn readers_of_all_queries_begin_anew_and_readers_of_one_miss_nothing() {
    let losing = Arc::new(AtomicBool::new(false));
    let server = Server::heard_through(passing(&losing), &Arc::default()).await;
    let mut all = server.live("/api/live").await;
    all.expect("snapshot").await;
    server.post(batch(1, [started(2, 1)])).await;
    assert_eq!(all.expect("query").await.json()["query_id"], query(1));
    let mut one = server.follow(1).await;
    let mut lines: Vec<String> = one.expect("events").await.lines().map(Into::into).collect();

    losing.store(true, Ordering::SeqCst);
    let lost = sample(3, 1, 1_000.0, [500, 1_500]);
    server.post(batch(1, [lost.clone()])).await;
    let snapshot = all.expect("snapshot").await.json();
    assert_eq!(snapshot["running"], json!([server.summary(1).await]));
    assert_eq!(snapshot["pulses"][0]["elapsed_ms"], 1_000.0);
    let events = one.expect("events").await;
    assert_eq!(events.data, lost, "only what it has not told yet");
    lines.extend(events.lines().map(Into::into));
    assert_eq!(server.metric("queryscope_live_lost_total").await, 1);

    losing.store(false, Ordering::SeqCst);
    server.post(batch(1, [sample(4, 1, 1_500.0, [750, 2_000]), finished(5, 1)])).await;
    let ended = all.expect("query").await.json();
    assert_eq!((&ended["query_id"], &ended["status"]), (&json!(query(1)), &json!("finished")));
    lines.extend(one.expect("events").await.lines().map(Into::into));
    assert_eq!(one.expect("finished").await.json(), ended);
    assert_eq!(lines.join("\n") + "\n", server.recording(query(1)).await);
}

#[tokio::test]
async fn what_was_lost_comes_before_what_is_heard_after_it() {
    // Of every other commit followers hear that they lost it, together with the next one.
    let feed = |mut commits: Commits| {
        let feed = CommitFeed::new();
        let told = feed.clone();
        tokio::spawn(async move {
            while commits.next().await.is_some() {
                if let Some(Heard::Changes(changes)) = commits.next().await {
                    told.publish_unnoted();
                    told.publish(changes.to_vec());
                }
            }
        });
        feed
    };
    let server = Server::heard_through(feed, &Arc::default()).await;
    server.post(batch(1, [started(2, 1)])).await;
    server.post(batch(1, [sample(3, 1, 1_000.0, [500, 1_500])])).await;
    let mut one = server.follow(1).await;
    let mut seqs = Vec::new();
    for (seq, elapsed_ms) in [(4, 1_500.0), (5, 2_000.0)] {
        server.post(batch(1, [sample(seq, 1, elapsed_ms, [750, 2_000])])).await;
    }
    while seqs.len() < 5 {
        let events = one.expect("events").await;
        seqs.extend(events.lines().map(|line| seq_of(line.as_bytes()).expect("a seq").get()));
    }
    assert_eq!(seqs, [1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn an_end_that_was_not_heard_is_told_all_the_same() {
    let losing = Arc::new(AtomicBool::new(true));
    let server = Server::heard_through(passing(&losing), &Arc::default()).await;
    server.post(batch(1, [started(2, 1)])).await;
    let mut all = server.live("/api/live").await;
    let mut one = server.live(&path(1)).await;
    all.expect("snapshot").await;
    one.expect("events").await;
    server.post(batch(1, [finished(3, 1)])).await;
    assert_eq!(all.expect("snapshot").await.json(), json!({ "running": [], "pulses": [] }));
    assert_eq!(one.expect("events").await.data, finished(3, 1));
    assert_eq!(one.expect("finished").await.json(), server.summary(1).await);
    assert!(one.next().await.is_none());
}

#[tokio::test]
async fn a_commit_that_cannot_be_read_ends_the_streams_and_is_in_the_next() {
    let is_away = Arc::new(AtomicBool::new(false));
    let goes_away = Arc::clone(&is_away);
    // The store is away when the commit is heard.
    let feed = |mut commits: Commits| {
        let feed = CommitFeed::new();
        let heard_by_all = feed.clone();
        tokio::spawn(async move {
            while let Some(heard) = commits.next().await {
                goes_away.store(true, Ordering::SeqCst);
                match heard {
                    Heard::Changes(changes) => heard_by_all.publish(changes.to_vec()),
                    _ => heard_by_all.publish_unnoted(),
                }
            }
        });
        feed
    };
    let server = Server::heard_through(feed, &is_away).await;
    let mut all = server.live("/api/live").await;
    all.expect("snapshot").await;
    server.post(batch(1, [started(2, 1), sample(3, 1, 1_000.0, [500, 1_500])])).await;
    assert!(all.next().await.is_none(), "the stream goes on without the query");

    is_away.store(false, Ordering::SeqCst);
    let mut all = loop {
        let stream = server.live("/api/live").await;
        if stream.status == 200 {
            break stream;
        }
    };
    assert_eq!(all.expect("snapshot").await.json()["running"], json!([server.summary(1).await]));
}

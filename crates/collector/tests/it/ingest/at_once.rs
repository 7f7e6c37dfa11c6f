//! Each event is stored once, however many requests carry it at the same time.

use axum::body::Body;
use futures_util::future::join_all;

use crate::app::TestApp;
use crate::events::{batch, done, process, progress, query};

/// Posts bodies at the same time and adds up what became of their events.
async fn post_all<B: Into<Body>>(app: &TestApp, bodies: impl IntoIterator<Item = B>) -> (u64, u64) {
    let answers = join_all(bodies.into_iter().map(|body| app.post(body))).await;
    let mut sums = (0, 0);
    for answer in answers {
        assert_eq!(answer.status, 202, "{answer:?}");
        let counts = answer.json();
        sums.0 += counts["accepted"].as_u64().expect("a number");
        sums.1 += counts["duplicates"].as_u64().expect("a number");
    }
    sums
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_batch_a_hundred_times_at_once() {
    let app = TestApp::new().await;
    let text = batch(1, [progress(2, 1), progress(3, 1), done(4, 1)]);
    assert_eq!(post_all(&app, vec![text; 100]).await, (3, 297));
    assert_eq!(app.recorded(1).await, [process(1), progress(2, 1), progress(3, 1), done(4, 1)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_that_overlap_in_every_way_at_once() {
    let app = TestApp::new().await;
    let events: Vec<String> = (2..40).map(|seq| progress(seq, 1)).chain([done(40, 1)]).collect();
    let windows = (1..=8).flat_map(|length| events.windows(length));
    let bodies: Vec<String> = windows.clone().map(|window| batch(1, window.iter().rev())).collect();
    let total: u64 = windows.map(|window| window.len() as u64).sum();
    let all = events.len() as u64;
    assert_eq!(post_all(&app, bodies).await, (all, total - all));
    assert_eq!(app.recorded(1).await, [vec![process(1)], events].concat());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_claimed_by_two_streams_at_once_goes_to_one() {
    let app = TestApp::new().await;
    for n in 1..=20 {
        let answers = join_all([1, 2].map(|stream| app.post(batch(stream, [done(n + 1, n)])))).await;
        let mut statuses = answers.iter().map(|answer| answer.status.as_u16()).collect::<Vec<_>>();
        statuses.sort_unstable();
        assert_eq!(statuses, [202, 400], "{}", query(n));
    }
    assert_eq!(app.ids("").await.len(), 20);
}

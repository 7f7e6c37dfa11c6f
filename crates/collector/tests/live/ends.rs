//! How streams end when the service stops, and what is left of them.

use std::time::Duration;

use crate::events::{batch, query, sample, started};
use crate::server::{Server, patiently};

/// Waits until the n-th query has a file of its own.
pub(crate) async fn until_sealed(server: &Server, n: u64) {
    let id = query(n);
    patiently("sealing", async {
        while server.metric("queryscope_recordings_sealed_total").await == 0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    assert!(server.summary(n).await["recording"].as_str().expect("a path").contains(&id));
}

#[tokio::test]
async fn a_stop_ends_all_streams_at_once() {
    // Waiting for them would take for ever.
    let server = Server::with(|settings| settings.stop_deadline = Duration::from_hours(1)).await;
    server.post(batch(1, [started(2, 1), sample(3, 1, 1e3, [1, 1])])).await;
    let mut all = server.live("/api/live").await;
    let mut one = server.follow(1).await;
    all.expect("snapshot").await;
    one.expect("events").await;
    assert_eq!(server.metric("queryscope_live_subscribers").await, 2);
    // Nobody reads this one any more, and there is nothing to be written to it either.
    let idle = server.live("/api/live").await;
    server.stop().await;
    assert_eq!((all.next().await, all.whole), (None, true));
    assert_eq!((one.next().await, one.whole), (None, true), "without finished: it still runs");
    drop(idle);
}

#[tokio::test]
async fn a_reader_comes_back_after_a_restart_and_misses_nothing() {
    let server = Server::new().await;
    server.post(batch(1, [started(2, 1)])).await;
    let id = server.follow(1).await.expect("events").await.id;
    let server = server.restarted().await;
    server.post(batch(1, [sample(3, 1, 1e3, [1, 1])])).await;
    let mut resumed = server.live_after(&crate::server::path(1), &id).await;
    assert_eq!(resumed.expect("events").await.data, sample(3, 1, 1e3, [1, 1]));
}

//! Issues of queries: their transitions are told to readers of the live stream, on each of several collectors.

use queryscope_postgres_server::shared;
use serde_json::json;

use crate::client::{Message, Stream};
use crate::events::{batch, profile_event};
use crate::server::{Server, patiently};

const MINUTE_NS: i64 = 60_000_000_000;
const FIRST_UNIX_NS: i64 = 1_795_000_000_000_000_000;

/// Runs of a query that becomes four times as slow at its 31st run.
fn slowed() -> String {
    let run = |n: u64| {
        let usual_ms = if n <= 30 { 1_000.0 } else { 4_000.0 };
        let wall_ms = usual_ms * (1.0 + 0.01 * (n * 7 % 11) as f64);
        let started_unix_ns = FIRST_UNIX_NS + n as i64 * MINUTE_NS;
        let members = json!({ "label": "daily", "wall_ms": wall_ms, "started_unix_ns": started_unix_ns });
        profile_event(n + 1, n, "query.finished", &members)
    };
    batch(1, (1..=38).map(run))
}

async fn until_issue(stream: &mut Stream) -> Message {
    loop {
        let message = stream.next().await.expect("the stream goes on");
        if message.event == "issue" {
            return message;
        }
    }
}

#[tokio::test]
async fn readers_of_each_collector_are_told_of_issues_that_their_filter_keeps() {
    let [one, other] = Server::two(&shared()).await;
    let mut readers = [one.live("/api/live").await, other.live("/api/live?label=daily").await];
    let mut others = other.live("/api/live?label=hourly").await;
    for reader in &mut readers {
        reader.expect("snapshot").await;
    }
    one.post(&slowed()).await;
    for reader in &mut readers {
        let told = patiently("to be told", until_issue(reader)).await.json();
        assert_eq!((&told["kind"], &told["state"]), (&json!("slower"), &json!("open")), "{told}");
        let id = told["id"].as_str().expect("an id");
        let stored = other.ask("GET", &format!("/api/issues/{id}")).await;
        assert!(stored.contains("the change slower-"), "it is told once it is stored: {stored}");
    }
    others.expect("snapshot").await;
    one.stop().await;
    other.stop().await;
    assert_eq!(others.rest().await, []);
}

//! Readers that ask for a long answer and do not read it.

use std::fmt::Write;
use std::time::Duration;

use serde_json::json;

use crate::app::{Setup, TestApp};
use crate::events::{NOW_NS, batch, finished};
use crate::socket::Server;

/// The largest answer that fits: about 110 bytes a label, packed, and some for pieces on their way.
const BUDGET: usize = 1 << 20;
const LABELS: u64 = 2_000;
const READERS: usize = 12;
const TRIES: usize = 15;

async fn many_labels(app: &TestApp) {
    for first in [0, LABELS / 2] {
        let runs = (0..LABELS / 2).map(|n| {
            let label = format!("label {}", first + n);
            finished(n + 2, first + n + 1, json!({"label": label, "started_unix_ns": NOW_NS, "wall_ms": 5}))
        });
        app.store(batch(first + 1, runs)).await;
    }
}

fn request(utc_offset: usize) -> String {
    let mut request = String::new();
    write!(request, "GET /api/overview?days=90&utc_offset={utc_offset} HTTP/1.1\r\n").expect("a String");
    request + "Host: localhost\r\nConnection: close\r\n\r\n"
}

#[tokio::test]
async fn readers_that_do_not_read_give_way_to_one_that_does() {
    let app = Setup::with(|settings| settings.answer_budget_bytes = BUDGET).start().await;
    many_labels(&app).await;
    let server = Server::start(&app).await;
    let mut stalled = Vec::new();
    for utc_offset in 0..READERS {
        let mut client = server.connect().await;
        client.write(request(utc_offset)).await;
        stalled.push(client);
    }
    // Their answers are 5 MB each: what the socket does not take waits.
    tokio::time::sleep(Duration::from_secs(3)).await;
    // On a busy machine they are still being made then: it is told to ask again.
    let mut whole = String::new();
    for _ in 0..TRIES {
        let mut reader = server.connect().await;
        reader.write(request(READERS)).await;
        whole = reader.closed().await;
        if !whole.starts_with("HTTP/1.1 503") {
            break;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert!(whole.starts_with("HTTP/1.1 200"), "{}", &whole[..whole.len().min(300)]);
    assert!(whole.len() > 4_000_000 && whole.ends_with("]}\r\n0\r\n\r\n"), "{}", whole.len());
    let facets = app.get("/api/facets").await;
    assert_eq!(facets.status, 200, "{facets:?}");
    server.stop.cancel();
}

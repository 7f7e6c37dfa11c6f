//! Real traffic, posted as it came and all at once: everything is there, once, byte for byte.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use flate2::read::MultiGzDecoder;
use futures_util::future::join_all;
use serde_json::Value;

use crate::app::{TOKEN, TestApp, eventually};
use crate::socket::Server;

/// One captured request.
struct Capture {
    stream: String,
    body: Vec<u8>,
    events: u64,
}

/// What the captures say of a query.
struct Expected {
    status: &'static str,
    label: Value,
    /// Its recording: the process event, then its events by seq.
    lines: Vec<String>,
}

#[derive(Default)]
struct World {
    captures: Vec<Capture>,
    queries: BTreeMap<String, Expected>,
}

/// Reads the captures in the order of their index, and collects what they hold without the help of the
/// service.
fn world() -> World {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/captures");
    let index = std::fs::read_to_string(folder.join("index.jsonl")).expect("an index");
    let mut world = World::default();
    let mut process: BTreeMap<String, String> = BTreeMap::new();
    let mut events: BTreeMap<String, BTreeMap<u64, String>> = BTreeMap::new();
    for entry in index.lines() {
        let entry: Value = serde_json::from_str(entry).expect("JSON");
        let body = std::fs::read(folder.join(entry["file"].as_str().expect("a file"))).expect("a capture");
        let text = std::io::read_to_string(MultiGzDecoder::new(&body[..])).expect("gzip");
        let stream = entry["stream"].as_str().expect("a stream").to_owned();
        let mut count = 0;
        for line in text.lines() {
            let event: Value = serde_json::from_str(line).expect("JSON");
            match event["query_id"].as_str() {
                None => drop(process.entry(stream.clone()).or_insert_with(|| line.to_owned())),
                Some(query) => {
                    count += 1;
                    let seq = event["seq"].as_u64().expect("a seq");
                    let known = events.entry(format!("{query} {stream}")).or_default();
                    assert!(known.insert(seq, line.to_owned()).is_none(), "each event is captured once");
                }
            }
        }
        world.captures.push(Capture { stream, body, events: count });
    }
    for (key, lines) in events {
        let (query, stream) = key.split_once(' ').expect("two ids");
        // A query begins with its plan or, where it was short, with its end.
        let read = |line: &String| serde_json::from_str::<Value>(line).expect("JSON");
        let (_, first) = lines.first_key_value().expect("an event");
        let label = read(first)["profile"]["label"].clone();
        let end = lines.values().map(read).find(|event| event["type"] == "query.finished");
        let status = match end {
            None => "running",
            Some(end) if end["profile"]["failed"].is_null() => "finished",
            Some(_) => "failed",
        };
        let lines = [process[stream].clone()].into_iter().chain(lines.into_values()).collect();
        world.queries.insert(query.to_owned(), Expected { status, label, lines });
    }
    world
}

/// Posts captures one after the other over one connection, and adds up the counts.
async fn post_all(server: &Server, captures: &[&Capture]) -> (u64, u64) {
    let mut client = server.connect().await;
    let mut sums = (0, 0);
    for capture in captures {
        let length = capture.body.len();
        let head = format!(
            "POST /v1/events HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {TOKEN}\r\n\
             Content-Type: application/x-ndjson\r\nContent-Encoding: gzip\r\nContent-Length: {length}\r\n\r\n"
        );
        client.write([head.as_bytes(), &capture.body].concat()).await;
        let reply = client.reply().await;
        assert_eq!(reply.status, 202, "{reply:?}");
        let counts: Value = serde_json::from_str(&reply.body).expect("JSON");
        let (accepted, duplicates) = (counts["accepted"].as_u64(), counts["duplicates"].as_u64());
        let (accepted, duplicates) = (accepted.expect("a number"), duplicates.expect("a number"));
        assert_eq!(accepted + duplicates, capture.events, "every event is the one or the other");
        sums = (sums.0 + accepted, sums.1 + duplicates);
    }
    sums
}

/// Posts parts of the captures at the same time, each over a connection of its own.
async fn post_parts(server: &Server, parts: &[Vec<&Capture>]) -> (u64, u64) {
    let sums = join_all(parts.iter().map(|part| post_all(server, part))).await;
    sums.iter().fold((0, 0), |all, part| (all.0 + part.0, all.1 + part.1))
}

impl World {
    fn by_stream(&self) -> Vec<Vec<&Capture>> {
        let streams: BTreeSet<&str> = self.captures.iter().map(|capture| capture.stream.as_str()).collect();
        let of = |stream: &&str| self.captures.iter().filter(|capture| capture.stream == *stream).collect();
        streams.iter().map(of).collect()
    }

    fn events(&self) -> u64 {
        self.captures.iter().map(|capture| capture.events).sum()
    }

    /// Checks the list, every summary and every recording; the interrupted query is in this state.
    async fn check(&self, app: &TestApp, interrupted: &str) {
        let listed = app.list("limit=1000").await;
        let ids: BTreeSet<&str> =
            listed.iter().map(|query| query["query_id"].as_str().expect("an id")).collect();
        assert_eq!(ids.len(), listed.len(), "no query twice");
        assert!(ids.into_iter().eq(self.queries.keys().map(String::as_str)), "every query is listed");
        for summary in &listed {
            let id = summary["query_id"].as_str().expect("an id");
            let expected = &self.queries[id];
            let status = if expected.status == "running" { interrupted } else { expected.status };
            assert_eq!(summary["status"], status, "{id}");
            assert_eq!(summary["engine"], "polars", "{id}");
            let recording = app.get(&format!("/api/queries/{id}/recording")).await;
            if status == "running" {
                assert_eq!(recording.status, 404, "{id}");
                continue;
            }
            assert_eq!(summary["label"], expected.label, "{id}");
            assert_eq!(recording.lines(), expected.lines, "{id}");
        }
    }
}

#[tokio::test]
async fn captures_in_their_order_and_again() {
    let world = world();
    let statuses: BTreeMap<&str, usize> =
        world.queries.values().fold(BTreeMap::new(), |mut counts, query| {
            *counts.entry(query.status).or_default() += 1;
            counts
        });
    assert_eq!(statuses, [("failed", 1), ("finished", 76), ("running", 1)].into(), "what the captures hold");

    let app = TestApp::new().await;
    let server = Server::start(&app).await;
    let all: Vec<&Capture> = world.captures.iter().collect();
    assert_eq!(post_all(&server, &all).await, (world.events(), 0));
    world.check(&app, "running").await;
    assert_eq!(post_all(&server, &all).await, (0, world.events()));
    world.check(&app, "running").await;

    app.clock.advance(Duration::from_secs(61));
    eventually("the interrupted query to be unfinished", async || {
        (app.ids("status=unfinished").await.len() == 1).then_some(())
    })
    .await;
    app.until_all_sealed().await;
    world.check(&app, "unfinished").await;
    assert_eq!(post_all(&server, &all).await, (0, world.events()), "sealing forgets nothing");
    world.check(&app, "unfinished").await;

    server.stop.cancel();
    server.ended().await.expect("in order");
    world.check(&app.restarted().await, "unfinished").await;
}

#[tokio::test]
async fn captures_over_several_connections_at_once() {
    let world = world();
    let app = TestApp::new().await;
    let server = Server::start(&app).await;
    // Each stream over a connection of its own.
    assert_eq!(post_parts(&server, &world.by_stream()).await, (world.events(), 0));
    world.check(&app, "running").await;
    // Each request over a connection of its own, all at the same time, twice.
    let each: Vec<Vec<&Capture>> =
        world.captures.iter().chain(&world.captures).map(|one| vec![one]).collect();
    assert_eq!(post_parts(&server, &each).await, (0, 2 * world.events()));
    world.check(&app, "running").await;
}

#[tokio::test]
async fn every_capture_three_times_at_once_into_an_empty_store() {
    let world = world();
    let app = TestApp::new().await;
    let server = Server::start(&app).await;
    let backwards = world.captures.iter().rev().map(|one| vec![one]);
    let each: Vec<Vec<&Capture>> =
        (0..2).flat_map(|_| world.captures.iter()).map(|one| vec![one]).chain(backwards).collect();
    assert_eq!(post_parts(&server, &each).await, (world.events(), 2 * world.events()));
    world.check(&app, "running").await;
    app.until_all_sealed().await;
    world.check(&app, "running").await;
}

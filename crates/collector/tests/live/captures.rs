//! Real traffic in its own rhythm, with a reader of each query.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;

use queryscope_protocol::{Batch, EventKind, QueryId};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::client::{Message, Stream};
use crate::server::{Server, inflate, patiently};

/// How many times faster than it was captured the traffic is replayed; `QUERYSCOPE_REPLAY_SPEED=1` takes 2 minutes.
const SPEED: f64 = 100.0;

/// Which queries a batch has events of, and when its last event was.
struct Times {
    started_unix_ns: HashMap<QueryId, i64>,
    first_unix_ms: Option<f64>,
}

impl Times {
    /// Queries of a batch, and milliseconds between the first event of all and its last.
    fn of(&mut self, batch: &str) -> (Vec<QueryId>, f64) {
        let batch = Batch::open(batch.as_bytes()).expect("a batch");
        let (mut ids, mut last) = (Vec::new(), f64::MIN);
        for event in batch.events {
            let event = event.expect("an event");
            let Some(id) = event.kind.query_id() else { continue };
            if !ids.contains(&id) {
                ids.push(id);
            }
            let passed = match &event.kind {
                EventKind::Progress { .. } => {
                    event.sample().expect("a sample").map(|sample| sample.elapsed_ms)
                }
                _ => event.profile().expect("a profile").map(|profile| {
                    self.started_unix_ns.insert(id, profile.started_unix_ns.unwrap_or_default());
                    profile.wall_ms
                }),
            };
            if let (Some(passed), Some(started)) = (passed, self.started_unix_ns.get(&id)) {
                last = last.max(*started as f64 / 1e6 + passed);
            }
        }
        (ids, (last - *self.first_unix_ms.get_or_insert(last)).max(0.0))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_events_of_each_query_join_to_its_recording() {
    let speed: f64 =
        std::env::var("QUERYSCOPE_REPLAY_SPEED").map_or(SPEED, |speed| speed.parse().expect("a number"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/captures");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("captures").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "gz"));
    files.sort();
    let server = Server::new().await;
    let mut readers: BTreeMap<QueryId, JoinHandle<Vec<Message>>> = BTreeMap::new();
    let mut times = Times { started_unix_ns: HashMap::new(), first_unix_ms: None };
    let begun = Instant::now();
    for file in files {
        let gzip = std::fs::read(file).expect("a capture");
        let (queries, after_ms) = times.of(&inflate(&gzip));
        tokio::time::sleep_until(begun + Duration::from_secs_f64(after_ms / 1e3 / speed)).await;
        server.post_as("default", "gzip", &gzip).await;
        for id in queries {
            let address = server.address;
            let path = format!("/api/live/{id}");
            readers.entry(id).or_insert_with(|| {
                tokio::spawn(async move { Stream::open(address, &path, None).await.rest().await })
            });
        }
    }
    assert!(readers.len() > 50, "{}", readers.len());
    for (id, reader) in readers {
        let status = &server.ask("GET", &format!("/api/queries/{id}")).await;
        if status.contains(r#""status":"running""#) {
            // Its process went away; nothing more comes of it.
            reader.abort();
            continue;
        }
        let messages = patiently("the end", reader).await.expect("no panic");
        let (end, events) = messages.split_last().expect("messages");
        assert_eq!(end.event, "finished");
        let lines: Vec<&str> = events.iter().flat_map(Message::lines).collect();
        assert_eq!(lines.join("\n") + "\n", server.recording(id).await, "{id}");
    }
}

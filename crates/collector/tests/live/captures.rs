//! Real traffic, with a reader of each query.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use tokio::task::JoinHandle;

use crate::client::{Message, Stream};
use crate::server::{Server, patiently};

fn inflate(gzip: &[u8]) -> String {
    let mut text = String::new();
    MultiGzDecoder::new(gzip).read_to_string(&mut text).expect("gzip of text");
    text
}

/// The ids of the queries a batch has events of.
fn queries(batch: &str) -> Vec<String> {
    let id = |line: &str| {
        let event: serde_json::Value = serde_json::from_str(line).expect("JSON");
        event["query_id"].as_str().map(Into::into)
    };
    let mut ids: Vec<String> = batch.lines().filter_map(id).collect();
    ids.sort();
    ids.dedup();
    ids
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_events_of_each_query_join_to_its_recording() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/captures");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("captures").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "gz"));
    files.sort();
    let server = Server::new().await;
    let mut readers: BTreeMap<String, JoinHandle<Vec<Message>>> = BTreeMap::new();
    for file in files {
        let gzip = std::fs::read(file).expect("a capture");
        server.post_as("default", "gzip", &gzip).await;
        for id in queries(&inflate(&gzip)) {
            let address = server.address;
            let path = format!("/api/live/{id}");
            readers.entry(id).or_insert_with(|| tokio::spawn(async move { following(address, &path).await }));
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
        let recording = server.ask_bytes(&format!("/api/queries/{id}/recording")).await;
        assert_eq!(lines.join("\n") + "\n", inflate(&recording), "{id}");
    }
}

async fn following(address: std::net::SocketAddr, path: &str) -> Vec<Message> {
    Stream::open(address, path, None).await.rest().await
}

impl Server {
    /// The body of an answer, read by the test's own client of chunked bodies.
    async fn ask_bytes(&self, path: &str) -> Vec<u8> {
        Stream::open(self.address, path, None).await.body().await
    }
}

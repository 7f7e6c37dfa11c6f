//! From a session through a real collector to its read API.

use std::io::Read;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flate2::read::MultiGzDecoder;
use queryscope_collector::{Access, Collector, CommitMetrics, Settings, SystemClock, hash_token, serve};
use queryscope_datafusion::HttpExporter;
use queryscope_datafusion::client::protocol::Event;
use queryscope_recordings::Recordings;
use queryscope_store_sqlite::{SqliteOptions, SqliteStore};
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::tpch;
use queryscope_tpch::QUERIES;

const TOKEN: &str = "a token";
/// How long telling of the queries may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

async fn start(folder: &TempDir, stop: &CancellationToken) -> SocketAddr {
    let store =
        SqliteStore::open(&folder.path().join("store.db"), SqliteOptions::default()).expect("a store");
    let recordings = Recordings::local(&folder.path().join("recordings")).expect("a folder");
    let access = Access { hash: hash_token(TOKEN), project: "default".into() };
    let settings = Settings { tokens: vec![access], ..Settings::default() };
    let clock = Arc::new(SystemClock::new());
    let collector = Collector::start(Arc::new(store), recordings, clock, CommitMetrics::default(), settings);
    let collector = collector.await.expect("a collector");
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound");
    let stop = stop.clone();
    tokio::spawn(async move { serve(&collector, listener, None, stop).await });
    address
}

async fn get(address: SocketAddr, path: String) -> Vec<u8> {
    let get = move || {
        let mut answer = ureq::get(format!("http://{address}{path}")).call().expect("an answer");
        answer.body_mut().read_to_vec().expect("a body")
    };
    tokio::task::spawn_blocking(get).await.expect("no panic")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_query_of_tpch_has_its_state_and_recording() {
    let (folder, stop) = (tempfile::tempdir().expect("a folder"), CancellationToken::new());
    let address = start(&folder, &stop).await;
    let exporter = HttpExporter::new(format!("http://{address}")).token(TOKEN);
    let telemetry =
        queryscope_datafusion::telemetry().service("tpch").exporter(exporter).start().expect("threads");
    let ctx = tpch::session().await;
    queryscope_datafusion::install(&ctx, &telemetry);
    let mut rows = Vec::new();
    for (number, sql) in QUERIES.iter().enumerate() {
        let query = async { ctx.sql(sql).await?.collect().await };
        let batches = queryscope_datafusion::label(format!("q{number:02}"), query).await.expect("rows");
        rows.push(batches.iter().map(|batch| batch.num_rows() as u64).sum::<u64>());
    }
    let begin = Instant::now();
    while telemetry.stats().sent < 22 {
        assert!(begin.elapsed() < PATIENCE, "{:?}", telemetry.stats());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    telemetry.shutdown();

    let list = get(address, "/api/queries?order=oldest&service=tpch&status=finished".into()).await;
    let list: Vec<Value> = serde_json::from_slice(&list).expect("summaries");
    assert_eq!(list.len(), 22);
    for (number, (summary, rows)) in list.iter().zip(rows).enumerate() {
        assert_eq!(
            (&summary["label"], &summary["engine"]),
            (&format!("q{number:02}").into(), &"datafusion".into())
        );
        assert_eq!(summary["result_rows"], rows);
        let id = summary["query_id"].as_str().expect("an id");
        let recording = get(address, format!("/api/queries/{id}/recording")).await;
        let mut text = String::new();
        MultiGzDecoder::new(&*recording).read_to_string(&mut text).expect("gzip of text");
        let last = Event::read(text.lines().last().expect("events")).expect("an event");
        let profile = last.profile().expect("readable").expect("a profile");
        let result = profile.plan.physical[0].metrics.as_ref().and_then(|counters| counters.get("rows_out"));
        assert_eq!(result, Some(rows));
        assert!(!profile.plan.logical.is_empty());
    }
    stop.cancel();
}

//! An exporter that keeps what it gets.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use datafusion::prelude::{SessionConfig, SessionContext};
use queryscope_datafusion::client::protocol::Event;
use queryscope_datafusion::client::{Answer, Batch, Delivery, Exporter, StartError, Stream};
use queryscope_datafusion::{Redaction, Telemetry};
use serde_json::Value;

/// How long telling of queries may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(5);

/// Keeps every event. Clones share what they keep.
#[derive(Clone, Default)]
pub(crate) struct Memory(Arc<Mutex<Vec<String>>>);

impl Memory {
    /// The profiles of the queries that ended, in the order of their ends.
    pub(crate) fn finished(&self) -> Vec<Value> {
        let lines = self.0.lock().expect("no panic");
        let finished = lines.iter().map(|line| {
            let event = Event::read(line).expect("an event");
            event.profile().expect("a profile of the format");
            serde_json::from_str::<Value>(line).expect("JSON")
        });
        finished
            .filter(|event| event["type"] == "query.finished")
            .map(|mut event| event["profile"].take())
            .collect()
    }
}

impl Exporter for Memory {
    fn open(&self, _stream: &Stream) -> Result<Box<dyn Delivery>, StartError> {
        Ok(Box::new(self.clone()))
    }
}

impl Delivery for Memory {
    fn deliver(&mut self, batch: &Batch<'_>, _deadline: Option<Instant>) -> Answer {
        let text = |line: &&[u8]| String::from_utf8(line.to_vec()).expect("UTF-8");
        self.0.lock().expect("no panic").extend(batch.events.iter().map(text));
        Answer::Delivered
    }
}

/// A followed session of four partitions.
pub(crate) struct Followed {
    pub(crate) ctx: SessionContext,
    pub(crate) telemetry: Telemetry,
    memory: Memory,
}

impl Followed {
    pub(crate) fn new() -> Self {
        Self::of(SessionContext::new_with_config(SessionConfig::new().with_target_partitions(4)))
    }

    pub(crate) fn of(ctx: SessionContext) -> Self {
        Self::masked(ctx, Redaction::none())
    }

    pub(crate) fn masked(ctx: SessionContext, redaction: Redaction) -> Self {
        let memory = Memory::default();
        let builder = queryscope_datafusion::telemetry().redaction(redaction).exporter(memory.clone());
        let telemetry = builder.start().expect("threads");
        queryscope_datafusion::install(&ctx, &telemetry);
        Self { ctx, telemetry, memory }
    }

    /// Runs SQL to its end.
    pub(crate) async fn run(
        &self,
        sql: &str,
    ) -> datafusion::error::Result<Vec<datafusion::arrow::array::RecordBatch>> {
        self.ctx.sql(sql).await?.collect().await
    }

    /// Waits until so many events were made: the end waits for two seconds only.
    pub(crate) async fn until_told(&self, events: u64) {
        let begin = Instant::now();
        while self.telemetry.stats().enqueued < events {
            assert!(begin.elapsed() < PATIENCE, "{:?}", self.telemetry.stats());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Ends the telemetry: the profiles of all queries.
    pub(crate) fn end(self) -> Vec<Value> {
        self.telemetry.shutdown();
        let stats = self.telemetry.stats();
        assert_eq!((stats.dropped.total(), stats.unfollowed), (0, 0), "{stats:?}");
        self.memory.finished()
    }

    /// Ends the telemetry after its one query.
    pub(crate) fn only(self) -> Value {
        let mut finished = self.end();
        assert_eq!(finished.len(), 1, "{finished:#?}");
        finished.remove(0)
    }
}

/// The physical nodes of a kind.
pub(crate) fn of_kind<'p>(profile: &'p Value, kind: &str) -> Vec<&'p Value> {
    let nodes = profile["plan"]["physical"].as_array().expect("nodes");
    nodes.iter().filter(|node| node["kind"].as_str().is_some_and(|each| each.starts_with(kind))).collect()
}

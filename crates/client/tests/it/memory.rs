//! An exporter that keeps what it is given.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use queryscope_client::protocol::{Event, EventKind, Node, Plan, Profile, Role};
use queryscope_client::{Answer, Batch, Delivery, Exporter, QuerySource, Readings, StartError, Stream};

/// Keeps all lines that it is given, process events left out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory {
    lines: Arc<Mutex<Vec<String>>>,
}

impl Memory {
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().expect("no panic").clone()
    }

    /// The profiles of queries that have ended.
    pub(crate) fn finished(&self) -> Vec<Profile<'static>> {
        let lines: Vec<&'static str> = self.lines().into_iter().map(|line| &*line.leak()).collect();
        let events = lines.into_iter().map(|line| Event::read(line).expect("an event"));
        events
            .filter(|event| matches!(event.kind, EventKind::Finished(..)))
            .map(|event| event.profile().expect("readable").expect("a profile"))
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
        assert!(!batch.events.is_empty() && batch.process.starts_with(b"{"));
        let text = |line: &&[u8]| String::from_utf8((*line).to_vec()).expect("UTF-8");
        self.lines.lock().expect("no panic").extend(batch.events.iter().map(text));
        Answer::Delivered
    }
}

/// Blocks in its first delivery until it is let go.
pub(crate) struct Stuck {
    held: Mutex<Option<Receiver<()>>>,
}

impl Stuck {
    /// The exporter, and what holds it: drop it to let go.
    pub(crate) fn new() -> (Self, SyncSender<()>) {
        let (hold, held) = sync_channel(0);
        (Self { held: Mutex::new(Some(held)) }, hold)
    }
}

impl Exporter for Stuck {
    fn open(&self, _stream: &Stream) -> Result<Box<dyn Delivery>, StartError> {
        Ok(Box::new(StuckDelivery(self.held.lock().expect("no panic").take())))
    }
}

struct StuckDelivery(Option<Receiver<()>>);

impl Delivery for StuckDelivery {
    fn deliver(&mut self, _batch: &Batch<'_>, _deadline: Option<Instant>) -> Answer {
        if let Some(held) = self.0.take() {
            let _ = held.recv();
        }
        Answer::Delivered
    }
}

/// A query of one node that has read some rows.
pub(crate) struct Scan(pub(crate) u64);

impl QuerySource for Scan {
    fn plan(&self) -> Plan<'static> {
        let node = Node {
            id: 1,
            kind: "Scan".into(),
            role: Role::Scan,
            inputs: vec![],
            properties: None,
            metrics: None,
        };
        Plan { physical: vec![node], logical: vec![] }
    }

    fn sample(&self, readings: &mut Readings) {
        readings.node(1).add("rows_sent", self.0).done(true);
    }
}

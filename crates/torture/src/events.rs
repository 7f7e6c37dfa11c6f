//! Streams of events.

use std::fmt::Write;

use uuid::Uuid;

use crate::clock;

/// A process that numbers its events.
#[derive(Debug, Clone)]
pub struct Stream {
    /// Its id.
    pub id: Uuid,
    /// The seq of the last event made; the process event has 1.
    pub seq: u64,
    /// When its queries start.
    pub started_unix_ns: i64,
}

impl Default for Stream {
    fn default() -> Self {
        Self::new()
    }
}

impl Stream {
    /// A process nobody has heard of, whose queries start now.
    pub fn new() -> Self {
        Self { id: Uuid::new_v4(), seq: 1, started_unix_ns: clock::unix_us() * 1000 }
    }

    /// The process event.
    pub fn process(&self) -> String {
        event(1, "process", &format!(r#""id":"{}","service":"tests","host":"h""#, self.id))
    }

    /// An event of any type with further members.
    pub fn event(&mut self, kind: &str, members: &str) -> String {
        self.seq += 1;
        event(self.seq, kind, members)
    }

    /// A query begins.
    pub fn started(&mut self, query: Uuid, label: &str) -> String {
        let profile = self.profile(query, label, r#""wall_ms":1000.5"#);
        self.event("query.started", &format!(r#""query_id":"{query}","profile":{profile}"#))
    }

    /// A query goes on.
    pub fn progress(&mut self, query: Uuid) -> String {
        let nodes = r#"{"4294967299":{"rows_sent":17}}"#;
        self.event("query.progress", &format!(r#""query_id":"{query}","elapsed_ms":1500,"nodes":{nodes}"#))
    }

    /// A query ends.
    pub fn finished(&mut self, query: Uuid, label: &str) -> String {
        let bytes = r#"{"bytes_read":1024,"spilled_bytes":0,"peak_memory_bytes":4096}"#;
        let members = format!(r#""wall_ms":2500.25,"cpu_ms":40,"result_rows":3,"query_metrics":{bytes}"#);
        let profile = self.profile(query, label, &members);
        self.event("query.finished", &format!(r#""query_id":"{query}","profile":{profile}"#))
    }

    fn profile(&self, query: Uuid, label: &str, members: &str) -> String {
        format!(
            r#"{{"schema":"engine-telemetry/profile@1","query_id":"{query}","label":"{label}","fingerprint":"4df7bbc342f4","started_unix_ns":{},{members},"plan":{{"physical":[],"logical":[]}}}}"#,
            self.started_unix_ns
        )
    }

    /// A batch of these events.
    pub fn batch(&self, events: &[String]) -> Vec<u8> {
        let mut text = self.process() + "\n";
        for event in events {
            let _ = writeln!(text, "{event}");
        }
        text.into_bytes()
    }
}

fn event(seq: u64, kind: &str, members: &str) -> String {
    format!(r#"{{"schema":"engine-telemetry/events@1","seq":{seq},"type":"{kind}",{members}}}"#)
}

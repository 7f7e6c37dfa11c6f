//! One event: a line of a batch.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use crate::format::engine_of_events;
use crate::id::{QueryId, Seq, StreamId};
use crate::members::members;
use crate::reason::sentence;
use crate::summary::{ProfileSummary, millis};
use crate::text::Text;

/// An event and the line it came in.
#[derive(Debug, Clone, PartialEq)]
pub struct Event<'a> {
    /// The line as it was sent, without its line feed.
    pub line: &'a str,
    /// Number of the event within its stream.
    pub seq: Seq,
    /// The engine the format name carries; `None` for the neutral form.
    pub engine: Option<Cow<'a, str>>,
    /// What happened.
    pub kind: EventKind<'a>,
}

/// What an event tells.
#[derive(Debug, Clone, PartialEq)]
pub enum EventKind<'a> {
    /// `process`: what the sending process is.
    Process(Process<'a>),
    /// `query.started`: the profile so far, without counters.
    Started(QueryId, Box<ProfileSummary<'a>>),
    /// `query.progress`: a sample of the counters that changed, this many milliseconds after the start.
    Progress(QueryId, f64),
    /// `query.finished`: the complete profile.
    Finished(QueryId, Box<ProfileSummary<'a>>),
    /// A type this version does not know, with the query it belongs to when it names one.
    Other(Option<QueryId>),
}

impl EventKind<'_> {
    /// The query the event belongs to.
    pub fn query_id(&self) -> Option<QueryId> {
        match self {
            Self::Process(_) => None,
            Self::Started(id, _) | Self::Progress(id, _) | Self::Finished(id, _) => Some(*id),
            Self::Other(id) => *id,
        }
    }
}

/// What the sending process is.
#[derive(Debug, Clone, PartialEq)]
pub struct Process<'a> {
    /// Identity of the stream.
    pub id: StreamId,
    /// What the process is, as configured.
    pub service: Option<Text<'a>>,
    /// Where it runs, as configured.
    pub environment: Option<Text<'a>>,
    /// Name of its machine.
    pub host: Text<'a>,
    /// Process id on its machine.
    pub pid: Option<u64>,
    /// When the process started, in Unix nanoseconds.
    pub started_unix_ns: Option<i64>,
}

impl<'a> Event<'a> {
    /// Reads one line.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the line and what is allowed.
    pub fn read(line: &'a str) -> Result<Self, String> {
        match type_of(line)?.as_ref() {
            "process" => {
                let process: ProcessLine<'a> = read(line)?;
                let id = process.id.parse().map_err(|error| format!("id: {error}"))?;
                let kind = EventKind::Process(Process {
                    id,
                    service: process.service,
                    environment: process.environment,
                    host: process.host,
                    pid: process.pid,
                    started_unix_ns: process.started_unix_ns,
                });
                Self::new(line, process.seq, process.schema, kind)
            }
            "query.started" => {
                let query: ProfileLine<'a> = read(line)?;
                let kind = EventKind::Started(query_id(&query.query_id)?, Box::new(query.profile));
                Self::new(line, query.seq, query.schema, kind)
            }
            "query.finished" => {
                let query: ProfileLine<'a> = read(line)?;
                let kind = EventKind::Finished(query_id(&query.query_id)?, Box::new(query.profile));
                Self::new(line, query.seq, query.schema, kind)
            }
            "query.progress" => {
                let query: ProgressLine<'a> = read(line)?;
                let kind = EventKind::Progress(query_id(&query.query_id)?, query.elapsed_ms);
                Self::new(line, query.seq, query.schema, kind)
            }
            _ => {
                let other: OtherLine<'a> = read(line)?;
                let kind = EventKind::Other(other.query_id.as_deref().map(query_id).transpose()?);
                Self::new(line, other.seq, other.schema, kind)
            }
        }
    }

    fn new(line: &'a str, seq: u64, schema: Text<'a>, kind: EventKind<'a>) -> Result<Self, String> {
        let engine = match schema.into_inner() {
            Cow::Borrowed(schema) => engine_of_events(schema).map(|engine| engine.map(Cow::Borrowed)),
            Cow::Owned(schema) => {
                engine_of_events(&schema).map(|engine| engine.map(|e| Cow::Owned(e.into())))
            }
        };
        let engine = engine.map_err(|error| format!("schema: {error}"))?;
        let seq = Seq::new(seq).map_err(|error| error.to_string())?;
        Ok(Self { line, seq, engine, kind })
    }
}

#[derive(Deserialize)]
struct ProcessLine<'a> {
    #[serde(borrow)]
    schema: Text<'a>,
    seq: u64,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow, default)]
    service: Option<Text<'a>>,
    #[serde(borrow, default)]
    environment: Option<Text<'a>>,
    #[serde(borrow)]
    host: Text<'a>,
    #[serde(default)]
    pid: Option<u64>,
    #[serde(default)]
    started_unix_ns: Option<i64>,
}

#[derive(Deserialize)]
struct ProfileLine<'a> {
    #[serde(borrow)]
    schema: Text<'a>,
    seq: u64,
    #[serde(borrow)]
    query_id: Text<'a>,
    #[serde(borrow, deserialize_with = "members")]
    profile: ProfileSummary<'a>,
}

#[derive(Deserialize)]
struct ProgressLine<'a> {
    #[serde(borrow)]
    schema: Text<'a>,
    seq: u64,
    #[serde(borrow)]
    query_id: Text<'a>,
    #[serde(deserialize_with = "millis")]
    elapsed_ms: f64,
    #[serde(rename = "nodes")]
    _nodes: Counters,
}

#[derive(Deserialize)]
struct OtherLine<'a> {
    #[serde(borrow)]
    schema: Text<'a>,
    seq: u64,
    #[serde(borrow, default)]
    query_id: Option<Text<'a>>,
}

/// An object of counters that are passed over.
struct Counters;

impl<'de> Deserialize<'de> for Counters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountersVisitor;

        impl<'de> Visitor<'de> for CountersVisitor {
            type Value = Counters;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of node id to counters")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Counters, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Counters)
            }
        }

        deserializer.deserialize_map(CountersVisitor)
    }
}

fn query_id(text: &str) -> Result<QueryId, String> {
    text.parse().map_err(|error| format!("query_id: {error}"))
}

pub(crate) fn read<'a, T: Deserialize<'a>>(line: &'a str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|error| sentence(&error))
}

/// Finds the `type` of a line and reads no further than that: most lines name it before anything long.
fn type_of(line: &str) -> Result<Cow<'_, str>, String> {
    let mut found = None;
    let mut deserializer = serde_json::Deserializer::from_str(line);
    let end = TypeProbe { found: &mut found }.deserialize(&mut deserializer);
    match (found, end) {
        (Some(name), _) => Ok(name),
        (None, Err(error)) => Err(sentence(&error)),
        (None, Ok(())) => Err("missing field `type`".into()),
    }
}

struct TypeProbe<'p, 'a> {
    found: &'p mut Option<Cow<'a, str>>,
}

impl<'a> DeserializeSeed<'a> for TypeProbe<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for TypeProbe<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Text<'a>>()? {
            if &*key == "type" {
                *self.found = Some(map.next_value::<Text<'a>>()?.into_inner());
                return Err(A::Error::custom("found"));
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

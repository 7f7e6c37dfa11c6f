//! Samples: the counters of the nodes that changed.

use std::fmt;

use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::check::node_id;
use crate::event::{Event, EventKind};
use crate::number::millis;
use crate::profile::{Counters, Profile};
use crate::text::Text;

/// What a `query.progress` event tells: counters since the query's start, of the nodes that changed.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Sample<'a> {
    /// Time since the query started, in milliseconds; at least 0.
    #[serde(deserialize_with = "millis")]
    pub elapsed_ms: f64,
    /// Counters by the id of a physical node. A counter that is 0 may be left out.
    #[serde(borrow, deserialize_with = "nodes")]
    pub nodes: Vec<(u64, Counters<'a>)>,
    /// CPU time the whole process has used since the query's start, other work of the process included. What is no
    /// count is read as unknown.
    #[serde(default, deserialize_with = "count_or_unknown")]
    pub process_cpu_ns: Option<u64>,
    /// Memory of the process that is in RAM at that moment.
    #[serde(default, deserialize_with = "count_or_unknown")]
    pub process_memory_bytes: Option<u64>,
    /// Time all processors of the host have worked since the query's start.
    #[serde(default, deserialize_with = "count_or_unknown")]
    pub host_cpu_ns: Option<u64>,
    /// Memory of the host that is in use at that moment.
    #[serde(default, deserialize_with = "count_or_unknown")]
    pub host_memory_bytes: Option<u64>,
    /// Memory of the host.
    #[serde(default, deserialize_with = "count_or_unknown")]
    pub host_memory_total_bytes: Option<u64>,
}

fn count_or_unknown<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Member {
        Count(u64),
        Other(IgnoredAny),
    }

    Member::deserialize(deserializer).map(|member| match member {
        Member::Count(count) => Some(count),
        Member::Other(IgnoredAny) => None,
    })
}

impl<'a> Event<'a> {
    /// Reads the complete profile of a `query.started` or `query.finished` event; `None` for any other.
    ///
    /// # Errors
    /// What in the profile is not as the format wants it, where [`Event::read_stored`] has passed over it.
    pub fn profile(&self) -> serde_json::Result<Option<Profile<'a>>> {
        match self.kind {
            EventKind::Started(..) | EventKind::Finished(..) => profile_of(self.line).map(Some),
            _ => Ok(None),
        }
    }

    /// Reads the counters of a `query.progress` event; `None` for any other.
    ///
    /// # Errors
    /// What in the counters is not as the format wants it, where [`Event::read_stored`] has passed over it.
    pub fn sample(&self) -> serde_json::Result<Option<Sample<'a>>> {
        match self.kind {
            EventKind::Progress(..) => serde_json::from_str(self.line).map(Some),
            _ => Ok(None),
        }
    }
}

/// Reads the complete profile of the line of an event that has one, and nothing else of it.
///
/// # Errors
/// What in the profile is not as the format wants it, or that there is none.
pub fn profile_of(line: &str) -> serde_json::Result<Profile<'_>> {
    #[derive(Deserialize)]
    struct Line<'a> {
        #[serde(borrow)]
        profile: Profile<'a>,
    }

    serde_json::from_str(line).map(|line: Line<'_>| line.profile)
}

fn nodes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(u64, Counters<'de>)>, D::Error> {
    struct NodesVisitor;

    impl<'de> Visitor<'de> for NodesVisitor {
        type Value = Vec<(u64, Counters<'de>)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object of node id to counters")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut nodes = Vec::new();
            while let Some(id) = map.next_key::<Text<'de>>()? {
                let id = node_id(&id).ok_or_else(|| {
                    A::Error::custom(format_args!("node id {:?} is not a decimal number", &*id))
                })?;
                nodes.push((id, map.next_value()?));
            }
            Ok(nodes)
        }
    }

    deserializer.deserialize_map(NodesVisitor)
}

/// The nodes of a sample, as the member that holds them is written.
pub(crate) struct NodeMap<'s, 'a>(pub(crate) &'s [(u64, Counters<'a>)]);

impl Serialize for NodeMap<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(id, counters)| (id.to_string(), counters)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: &str = "01a1faa8-1bd9-77b2-97ab-860dd7026506";

    fn line(r#type: &str, rest: &str) -> String {
        format!(
            r#"{{"schema":"engine-telemetry/events@1","seq":3,"type":"{type}","query_id":"{QUERY}",{rest}}}"#
        )
    }

    #[test]
    fn counters_come_by_node() {
        let text = line(
            "query.progress",
            r#""elapsed_ms":2.5,"nodes":{"4294967299":{"rows_sent":7},"1":{"done":true,"custom":[]}},"x":1"#,
        );
        let sample = Event::read(&text).expect("an event").sample().expect("a sample").expect("progress");
        let [(first, counters), (second, done)] = &sample.nodes[..] else { panic!("{sample:?}") };
        assert_eq!(Some(sample.elapsed_ms), Some(2.5));
        assert_eq!((*first, counters.get("rows_sent"), counters.done), (4_294_967_299, Some(7), None));
        assert_eq!((*second, done.done, done.metrics.iter().len()), (1, Some(true), 0));
    }

    #[test]
    fn the_time_of_the_process_may_be_there() {
        let read = |rest: &str| {
            let text = line("query.progress", &format!(r#""elapsed_ms":2.5,"nodes":{{}}{rest}"#));
            Event::read(&text)
                .expect("an event")
                .sample()
                .expect("a sample")
                .expect("progress")
                .process_cpu_ns
        };
        assert_eq!(read(""), None);
        assert_eq!(read(r#","process_cpu_ns":9300000000"#), Some(9_300_000_000));
        assert_eq!(read(r#","process_cpu_ns":-1.5"#), None, "what is no count is passed over");
    }

    #[test]
    fn what_the_process_and_its_host_use_may_be_there() {
        let text = line(
            "query.progress",
            r#""elapsed_ms":2.5,"nodes":{},"process_memory_bytes":5,"host_cpu_ns":6,"host_memory_bytes":"7","host_memory_total_bytes":8"#,
        );
        let sample = Event::read(&text).expect("an event").sample().expect("a sample").expect("progress");
        assert_eq!((sample.process_memory_bytes, sample.host_cpu_ns), (Some(5), Some(6)));
        assert_eq!((sample.host_memory_bytes, sample.host_memory_total_bytes), (None, Some(8)));
    }

    #[test]
    fn other_events_have_none() {
        let text = line("query.note", r#""elapsed_ms":1,"nodes":{},"profile":{}"#);
        let event = Event::read(&text).expect("an event");
        assert!(event.sample().is_ok_and(|sample| sample.is_none()));
        assert!(event.profile().is_ok_and(|profile| profile.is_none()));
    }

    #[test]
    fn what_is_passed_over_in_a_stored_line_is_checked_here() {
        for (r#type, rest, cause) in [
            ("query.progress", r#""elapsed_ms":1,"nodes":{"a":{}}"#, "node id \"a\" is not a decimal"),
            ("query.progress", r#""elapsed_ms":1,"nodes":{"-1":{}}"#, "node id \"-1\" is not a decimal"),
            ("query.progress", r#""elapsed_ms":1,"nodes":{"1":[]}"#, "an object of counters"),
            ("query.progress", r#""elapsed_ms":1,"nodes":{"1":{"rows_sent":0.5}}"#, "expected u64"),
            (
                "query.finished",
                r#""profile":{"schema":"engine-telemetry/profile@1","query_id":"q","wall_ms":1,"plan":{"physical":[{}],"logical":[]}}"#,
                "missing field `id`",
            ),
        ] {
            let text = line(r#type, rest);
            let event = Event::read_stored(&text).expect(&text);
            let error = event.sample().err().or_else(|| event.profile().err()).expect(&text);
            assert!(error.to_string().contains(cause), "{text}: {error}");
        }
    }
}

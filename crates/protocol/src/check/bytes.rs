//! Bytes that a run read, spilled and held in memory, from the counters of its nodes and of its query.
//!
//! The counters are those of the [vocabulary](crate::vocabulary). They are summed up while a line is checked, so that
//! the summary of a run has them without a second reading.

use std::marker::PhantomData;

use super::{Allowed, Cursor, Items, Node, Rule, SentOrStored, Stop, items};
use crate::vocabulary::{Term, counters, query_counters};

/// A counter under the first of its names that is there; under one name, the first.
#[derive(Debug, Clone, Copy, Default)]
struct Found(Option<(usize, u64)>);

impl Found {
    #[inline]
    fn offer(&mut self, term: &Term, name: &str, value: u64) {
        if let Some(rank) = term.names.iter().position(|each| *each == name)
            && self.0.is_none_or(|(found, _)| rank < found)
        {
            self.0 = Some((rank, value));
        }
    }

    fn value(self) -> Option<u64> {
        self.0.map(|(_, value)| value)
    }
}

/// Takes of an object of counters what it needs.
pub(crate) trait Count: Default {
    /// Takes one counter.
    fn count(&mut self, name: &str, value: u64);
}

/// Counters of bytes of one node.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NodeBytes {
    read: Found,
    spilled: Found,
}

impl Count for NodeBytes {
    #[inline]
    fn count(&mut self, name: &str, value: u64) {
        self.read.offer(&counters::BYTES_READ, name, value);
        self.spilled.offer(&counters::SPILLED_BYTES, name, value);
    }
}

/// Counters of bytes of a query as a whole.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct QueryBytes {
    read: Found,
    spilled: Found,
    peak_memory: Found,
}

impl Count for QueryBytes {
    fn count(&mut self, name: &str, value: u64) {
        self.read.offer(&query_counters::BYTES_READ, name, value);
        self.spilled.offer(&query_counters::SPILLED_BYTES, name, value);
        self.peak_memory.offer(&query_counters::PEAK_MEMORY, name, value);
    }
}

/// Bytes of all nodes together; `None` where no node has the counter.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PlanBytes {
    read: Option<u64>,
    spilled: Option<u64>,
}

impl PlanBytes {
    fn add(&mut self, node: NodeBytes) {
        let sum = |sum: &mut Option<u64>, found: Found| {
            if let Some(value) = found.value() {
                *sum = Some(sum.unwrap_or(0).saturating_add(value));
            }
        };
        sum(&mut self.read, node.read);
        sum(&mut self.spilled, node.spilled);
    }
}

/// Bytes of a run, each at most 2^63 - 1; `None` where no counter says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct RunBytes {
    pub(crate) read: Option<i64>,
    pub(crate) spilled: Option<i64>,
    pub(crate) peak_memory: Option<i64>,
}

impl RunBytes {
    pub(crate) fn new(plan: PlanBytes, query: QueryBytes) -> Self {
        // What the query says as a whole, where no node says more than 0.
        let whole = |plan: Option<u64>, query: Found| plan.filter(|&sum| sum > 0).or(query.value()).or(plan);
        let held = |bytes: Option<u64>| bytes.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
        Self {
            read: held(whole(plan.read, query.read)),
            spilled: held(whole(plan.spilled, query.spilled)),
            peak_memory: held(query.peak_memory.value()),
        }
    }
}

/// The nodes of a physical plan; of them the bytes are summed up.
pub(crate) struct PhysicalNodes;

impl<'de> Rule<'de> for PhysicalNodes {
    type Value = PlanBytes;
    const ALLOWED: Allowed = Items::<Node>::ALLOWED;

    fn read(cursor: &mut Cursor<'de>) -> Result<PlanBytes, Stop> {
        let mut plan = PlanBytes::default();
        items::<SentOrStored<Node, StoredNode>>(cursor, |node| plan.add(node))?;
        Ok(plan)
    }
}

/// A node as it was stored before nodes were checked: what is no counter says nothing.
pub(crate) struct StoredNode;

impl<'de> Rule<'de> for StoredNode {
    type Value = NodeBytes;
    const ALLOWED: Allowed = Allowed::new("anything");

    fn read(cursor: &mut Cursor<'de>) -> Result<NodeBytes, Stop> {
        let mut bytes = NodeBytes::default();
        stored_members(cursor, |cursor, name| {
            if name == "metrics" {
                bytes = StoredCounters::read(cursor)?;
                Ok(())
            } else {
                cursor.skip_value()
            }
        })?;
        Ok(bytes)
    }
}

/// Counters as they were stored before they were checked: what is no counter says nothing.
pub(crate) struct StoredCounters<C>(PhantomData<C>);

impl<'de, C: Count> Rule<'de> for StoredCounters<C> {
    type Value = C;
    const ALLOWED: Allowed = Allowed::new("anything");

    fn read(cursor: &mut Cursor<'de>) -> Result<C, Stop> {
        let mut counted = C::default();
        stored_members(cursor, |cursor, name| {
            if !matches!(cursor.peek(), Some(b'-' | b'0'..=b'9')) {
                return cursor.skip_value();
            }
            if let Ok(value) = cursor.number()?.parse() {
                counted.count(name, value);
            }
            Ok(())
        })?;
        Ok(counted)
    }
}

/// Goes through the members of an object that was stored; passes over what is none.
fn stored_members<'de>(
    cursor: &mut Cursor<'de>,
    mut read: impl FnMut(&mut Cursor<'de>, &str) -> Result<(), Stop>,
) -> Result<(), Stop> {
    if cursor.peek() != Some(b'{') {
        return cursor.skip_value();
    }
    cursor.takes(b'{');
    let mut goes_on = !cursor.takes(b'}');
    while goes_on {
        let name = cursor.name()?;
        cursor.skip_space();
        read(cursor, &name)?;
        goes_on = cursor.goes_on(b'}')?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::check::{self, Depth};
    use crate::summary::ProfileSummary;

    fn profile(nodes: &str, query: &str) -> String {
        format!(
            r#"{{"schema":"x-telemetry/profile@1","query_id":"q","wall_ms":1,"query_metrics":{query},
                "plan":{{"physical":[{nodes}],"logical":[{{"id":9,"kind":"k","inputs":[],"metrics":{{"bytes_read":1}}}}]}}}}"#
        )
    }

    fn node(metrics: &str) -> String {
        format!(r#"{{"id":1,"kind":"k","inputs":[],"metrics":{metrics}}}"#)
    }

    type Bytes = (Option<i64>, Option<i64>, Option<i64>);

    fn bytes(text: &str, depth: Depth) -> Bytes {
        let summary = check::read::<check::Profile>(text, depth).expect(text);
        let ProfileSummary { bytes_read, spilled_bytes, peak_memory_bytes, .. } = summary;
        (bytes_read, spilled_bytes, peak_memory_bytes)
    }

    #[test]
    fn the_bytes_of_a_run_are_those_of_its_nodes_or_of_its_query() {
        let max = u64::MAX.to_string();
        for (nodes, query, expected) in [
            (&[][..], "null", (None, None, None)),
            (&["null", "{}", r#"{"rows_out":5,"done":true}"#], "{}", (None, None, None)),
            (&[r#"{"bytes_read":0,"spilled_bytes":0}"#], "{}", (Some(0), Some(0), None)),
            (&[r#"{"bytes_read":5}"#, "{}", r#"{"bytes_scanned":7}"#], "{}", (Some(12), None, None)),
            // Of several names of a counter the first of the vocabulary counts, of one name the first.
            (&[r#"{"bytes_scanned":1,"io_total_bytes_requested":2}"#], "{}", (Some(2), None, None)),
            (&[r#"{"bytes_read":3,"bytes_scanned":1,"bytes_read":4}"#], "{}", (Some(3), None, None)),
            // Counters with a unit of their own are no counters of the vocabulary.
            (
                &[r#"{"custom":[{"key":"bytes_read","unit":"bytes","value":8}],"spilled_bytes":1}"#],
                r#"{"peak_mem_used":3,"peak_memory_bytes":2}"#,
                (None, Some(1), Some(2)),
            ),
            (&["{}"], r#"{"bytes_read":6,"spilled_bytes":9}"#, (Some(6), Some(9), None)),
            (
                &[r#"{"bytes_read":2,"spilled_bytes":0}"#],
                r#"{"bytes_read":6,"spilled_bytes":9,"bytes_scanned":1}"#,
                (Some(2), Some(9), None),
            ),
            (
                &[&format!(r#"{{"bytes_read":{max}}}"#), r#"{"bytes_read":1}"#],
                &format!(r#"{{"peak_rss_bytes":{max}}}"#),
                (Some(i64::MAX), None, Some(i64::MAX)),
            ),
        ] {
            let nodes: Vec<String> = nodes.iter().map(|metrics| node(metrics)).collect();
            let text = profile(&nodes.join(","), query);
            for depth in [Depth::Whole, Depth::Summary] {
                assert_eq!(bytes(&text, depth), expected, "{depth:?} {text}");
            }
        }
    }

    #[test]
    fn of_a_stored_line_what_is_no_counter_says_nothing() {
        for (nodes, query) in [
            ("5", "[]"),
            (r#"[{"metrics":{"bytes_read":1}}],"x",null,{}"#, r#""text""#),
            (r#"{"metrics":[1]},{"metrics":7},{"metrics":null}"#, "17"),
            (r#"{"metrics":{"bytes_read":-1}}"#, r#"{"peak_memory_bytes":0.5}"#),
            (r#"{"metrics":{"bytes_read":1e3,"bytes_read":-0}}"#, r#"{"peak_memory_bytes":"5"}"#),
            (r#"{"metrics":{"spilled_bytes":18446744073709551616}}"#, r#"{"spilled_bytes":{"a":[1]}}"#),
        ] {
            let text = profile(nodes, query);
            assert_eq!(bytes(&text, Depth::Summary), (None, None, None), "{text}");
        }
        let text = profile(r#"{"metrics": {"bytes_read" : 5 , "x":[],"spilled_bytes":0.5} }, 7"#, "false");
        assert_eq!(bytes(&text, Depth::Summary), (Some(5), None, None));
        let cut_off = profile(r#"{"metrics":{"bytes_read":5"#, "null");
        assert!(check::read::<check::Profile>(&cut_off, Depth::Summary).is_err());
    }
}

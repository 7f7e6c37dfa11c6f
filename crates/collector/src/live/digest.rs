//! What a chunk's events say about how far their run is.

use queryscope_insights::user_code;
use queryscope_insights::vocabulary::counters::{BUSY, ROWS_OUT, ROWS_SCANNED};
use queryscope_protocol::{Event, EventKind, Role};
use queryscope_store::{ChunkError, lines_of, unpack};

/// Characters of a node's kind that are shown.
const KIND_CHARS: usize = 80;
/// Packed bytes up to which a chunk is read where it is; larger ones would hold up what else waits there.
const INLINE_BYTES: usize = 64 << 10;

/// One event of a chunk, as far as pulses need it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Report {
    /// The physical nodes of the plan.
    Plan(Vec<PlannedNode>),
    /// The nodes that changed by this many milliseconds after the start.
    Sample { elapsed_ms: f64, nodes: Vec<NodeReport> },
}

/// One node of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlannedNode {
    pub(super) id: u64,
    pub(super) kind: Box<str>,
    /// Whether it reads something and from no other node.
    pub(super) is_leaf: bool,
    /// The function of the program that it calls.
    pub(super) user_code: Option<Box<str>>,
}

/// One node of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NodeReport {
    pub(super) id: u64,
    /// Nanoseconds of work since the query began; `None` when there is no such counter.
    pub(super) busy_ns: Option<u64>,
    /// Rows it decoded, else those it gave on, since the query began.
    pub(super) rows: Option<u64>,
    pub(super) done: bool,
}

/// Reads a chunk; a large one on a thread for what blocks.
pub(super) async fn digest(gzip: Vec<u8>) -> Result<Vec<Report>, ChunkError> {
    if gzip.len() <= INLINE_BYTES {
        return read(&gzip);
    }
    match tokio::task::spawn_blocking(move || read(&gzip)).await {
        Ok(reports) => reports,
        // The runtime ends, and with it whoever asked.
        Err(_) => Ok(Vec::new()),
    }
}

fn read(gzip: &[u8]) -> Result<Vec<Report>, ChunkError> {
    let unpacked = unpack(gzip)?;
    // Lines were checked when they came; what cannot be read now has nothing to show.
    Ok(lines_of(&unpacked).filter_map(|line| report(str::from_utf8(line).ok()?)).collect())
}

fn report(line: &str) -> Option<Report> {
    let event = Event::read_stored(line).ok()?;
    match event.kind {
        EventKind::Started(..) => {
            let profile = event.profile().ok()??;
            let kind = |kind: &str| kind.chars().take(KIND_CHARS).collect::<String>().into_boxed_str();
            let nodes = profile.plan.physical.iter().map(|node| PlannedNode {
                id: node.id,
                kind: kind(&node.kind),
                // Leaves of the engine's own give again what others read.
                is_leaf: node.inputs.is_empty() && node.role != Role::Engine,
                user_code: user_code(node).map(String::into_boxed_str),
            });
            Some(Report::Plan(nodes.collect()))
        }
        EventKind::Progress(..) => {
            let sample = event.sample().ok()??;
            let nodes = sample.nodes.iter().map(|(id, counters)| NodeReport {
                id: *id,
                busy_ns: BUSY.value_in(counters),
                rows: ROWS_SCANNED.value_in(counters).or_else(|| ROWS_OUT.value_in(counters)),
                done: counters.done == Some(true),
            });
            Some(Report::Sample { elapsed_ms: sample.elapsed_ms, nodes: nodes.collect() })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use queryscope_store::Packer;

    use super::*;

    const HEAD: &str = r#"{"schema":"engine-telemetry/events@1","seq":3,"query_id":"01a1faa8-1bd9-77b2-97ab-860dd7026506","type":"query."#;

    #[test]
    fn plans_and_samples_are_taken_and_the_rest_is_passed_over() {
        let started = format!(
            r#"{HEAD}started","profile":{{"schema":"engine-telemetry/profile@1","query_id":"q","wall_ms":1,"plan":{{"logical":[],"physical":[{{"id":4294967297,"kind":"group-by","role":"aggregation","inputs":[],"properties":{{"user_code":"score"}}}}]}}}}}}"#
        );
        let sample = format!(
            r#"{HEAD}progress","elapsed_ms":1002.5,"nodes":{{"7":{{"elapsed_compute":9,"busy_ns":5,"rows_out":2,"rows_scanned":3,"done":true}},"8":{{"io_total_active_ns":9}}}}}}"#
        );
        let other = format!(r#"{HEAD}note"}}"#);
        let gzip = Packer::new().pack([started.as_bytes(), other.as_bytes(), sample.as_bytes(), b"damaged"]);
        let node = |id, busy_ns, rows, done| NodeReport { id, busy_ns, rows, done };
        assert_eq!(
            read(&gzip).expect("sound"),
            [
                Report::Plan(vec![PlannedNode {
                    id: 4_294_967_297,
                    kind: "group-by".into(),
                    is_leaf: true,
                    user_code: Some("score".into()),
                }]),
                Report::Sample {
                    elapsed_ms: 1002.5,
                    nodes: vec![node(7, Some(5), Some(3), true), node(8, None, None, false)]
                },
            ]
        );
    }
}

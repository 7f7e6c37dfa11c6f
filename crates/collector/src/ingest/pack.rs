//! Checks a batch's events and packs them by run.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use queryscope_protocol::{Batch, BatchError, Event, EventKind, Events, QueryId, Seq};
use queryscope_store::{Facts, Packer, QueryPart, Report, StreamProcess};

use crate::error::ApiError;

/// Queries a batch may tell of: each takes its memory and its row, however short the lines are that name it.
const BATCH_QUERIES_MAX: usize = 1 << 16;

/// A batch that has been checked and packed.
#[derive(Debug)]
pub(crate) struct Packed {
    pub(crate) process: StreamProcess,
    pub(crate) parts: Vec<QueryPart>,
    pub(crate) loose: Vec<Seq>,
    /// Events whose seq stood in the batch before.
    pub(crate) repeated: u64,
    /// Of these, the seqs of those of a query that had other bytes the first time.
    pub(crate) conflicting: Vec<Seq>,
    /// The line that first tells of each query, counted from 1.
    pub(crate) lines: Vec<(QueryId, usize)>,
}

impl Packed {
    /// About what it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let part = |part: &QueryPart| {
            let facts = part.report.started.iter().chain(&part.report.finished);
            size_of::<QueryPart>()
                + size_of_val(&part.seqs[..])
                + part.gzip.len()
                + facts.map(text_bytes).sum::<usize>()
        };
        size_of_val(&self.loose[..])
            + size_of_val(&self.lines[..])
            + self.parts.iter().map(part).sum::<usize>()
    }
}

/// Bytes of the texts that a profile's facts hold.
fn text_bytes(facts: &Facts) -> usize {
    // Every member is named, so that a new one is not forgotten.
    let Facts {
        engine_version,
        label,
        fingerprint,
        failed,
        rules,
        seq: _,
        started_unix_ns: _,
        wall_ms: _,
        cpu_ms: _,
        result_rows: _,
        bytes_read: _,
        spilled_bytes: _,
        peak_memory_bytes: _,
        warnings: _,
    } = facts;
    let texts = [engine_version, label, fingerprint, failed].into_iter().flatten().chain(rules);
    texts.map(|text| size_of::<String>() + text.len()).sum()
}

struct Group<'a> {
    query_id: QueryId,
    events: Vec<(Seq, &'a str)>,
    report: Report,
}

/// A batch that is refused.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) error: ApiError,
    /// Its process, where its first line is sound.
    pub(crate) process: Option<Box<StreamProcess>>,
}

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        Self { error, process: None }
    }
}

/// Checks and packs the text of a batch.
///
/// # Errors
/// 400 with the line to blame, 413 for more than [`BATCH_QUERIES_MAX`] queries.
pub(crate) fn pack(text: &[u8], packer: &mut Packer, received_unix_ns: i64) -> Result<Packed, Refused> {
    let batch = Batch::open(text).map_err(|error| refused(&error))?;
    let process = StreamProcess::of(&batch.process, batch.process_line);
    match Grouped::read(batch.events, received_unix_ns) {
        Ok(grouped) => Ok(grouped.pack(process, packer)),
        Err(error) => Err(Refused { error, process: Some(Box::new(process)) }),
    }
}

/// The events of a batch by query.
#[derive(Default)]
struct Grouped<'a> {
    groups: Vec<Group<'a>>,
    loose: Vec<Seq>,
    /// Events whose seq stood in the batch before, with their lines.
    repeats: Vec<(Seq, &'a str)>,
    lines: Vec<(QueryId, usize)>,
}

impl<'a> Grouped<'a> {
    fn read(mut events: Events<'a>, received_unix_ns: i64) -> Result<Self, ApiError> {
        let Self { mut groups, mut loose, mut repeats, mut lines } = Self::default();
        let mut group_of: HashMap<QueryId, usize> = HashMap::new();
        let mut seen = HashSet::new();
        while let Some(event) = events.next() {
            let event = event.map_err(|error| refused(&error))?;
            if !seen.insert(event.seq) {
                repeats.push((event.seq, event.line));
                continue;
            }
            let Some(query_id) = event.kind.query_id() else {
                loose.push(event.seq);
                continue;
            };
            let group = *group_of.entry(query_id).or_insert_with(|| {
                groups.push(Group { query_id, events: Vec::new(), report: Report::default() });
                lines.push((query_id, events.line()));
                groups.len() - 1
            });
            if group == BATCH_QUERIES_MAX {
                let reason = format!("the batch tells of over {BATCH_QUERIES_MAX} queries, split it");
                return Err(ApiError::too_large(reason));
            }
            groups[group].add(event, received_unix_ns);
        }
        loose.sort_unstable();
        Ok(Self { groups, loose, repeats, lines })
    }

    fn pack(self, process: StreamProcess, packer: &mut Packer) -> Packed {
        let Self { groups, loose, repeats, lines } = self;
        let conflicting = conflicting(&groups, &repeats);
        let parts = groups.into_iter().map(|group| group.pack(packer)).collect();
        Packed { process, parts, loose, repeated: repeats.len() as u64, conflicting, lines }
    }
}

/// The seqs of repeats whose first event has other bytes.
fn conflicting(groups: &[Group<'_>], repeats: &[(Seq, &str)]) -> Vec<Seq> {
    if repeats.is_empty() {
        return Vec::new();
    }
    let first: HashMap<Seq, &str> = groups.iter().flat_map(|group| &group.events).copied().collect();
    let conflicts = repeats.iter().filter(|(seq, line)| first.get(seq).is_some_and(|first| first != line));
    conflicts.map(|(seq, _)| *seq).collect()
}

impl<'a> Group<'a> {
    fn add(&mut self, event: Event<'a>, received_unix_ns: i64) {
        let made_unix_ns = self.query_id.made_unix_ns();
        if self.events.is_empty() {
            self.report.engine = event.engine.map(Cow::into_owned);
            self.report.guessed_start_unix_ns = made_unix_ns.unwrap_or(received_unix_ns);
        }
        self.events.push((event.seq, event.line));
        let seq = event.seq;
        match event.kind {
            EventKind::Started(_, profile) => {
                lowest(&mut self.report.started, seq, || Facts::of(seq, &profile))
            }
            EventKind::Finished(_, profile) => {
                lowest(&mut self.report.finished, seq, || Facts::of(seq, &profile))
            }
            EventKind::Progress(_, elapsed_ms) if made_unix_ns.is_none() => {
                let start = received_unix_ns.saturating_sub((elapsed_ms * 1e6) as i64);
                self.report.guessed_start_unix_ns = self.report.guessed_start_unix_ns.min(start);
            }
            EventKind::Progress(..) | EventKind::Process(_) | EventKind::Other(_) => {}
        }
    }

    fn pack(mut self, packer: &mut Packer) -> QueryPart {
        self.events.sort_by_key(|(seq, _)| *seq);
        QueryPart {
            query_id: self.query_id,
            seqs: self.events.iter().map(|(seq, _)| *seq).collect(),
            gzip: packer.pack(self.events.iter().map(|(_, line)| line.as_bytes())),
            report: self.report,
        }
    }
}

/// Keeps the facts of the lowest seq.
fn lowest(kept: &mut Option<Facts>, seq: Seq, facts: impl FnOnce() -> Facts) {
    if kept.as_ref().is_none_or(|kept| seq < kept.seq) {
        *kept = Some(facts());
    }
}

fn refused(error: &BatchError) -> ApiError {
    ApiError::invalid(error.kind.to_string()).at_line(error.line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use queryscope_store::{lines_of, unpack};

    const PROCESS: &str = r#"{"schema":"polars-telemetry/events@1","seq":1,"type":"process","id":"210de94c-dce3-44f0-9cd3-2604c74dbeea","host":"h"}"#;
    const QUERY: &str = "4f0de94c-dce3-44f0-9cd3-2604c74dbeea";

    fn progress(seq: u64, query: &str, elapsed_ms: f64) -> String {
        format!(
            r#"{{"schema":"polars-telemetry/events@1","seq":{seq},"type":"query.progress","query_id":"{query}","elapsed_ms":{elapsed_ms},"nodes":{{}}}}"#
        )
    }

    fn packed(lines: &[String]) -> Packed {
        let text = format!("{PROCESS}\n{}", lines.join("\n"));
        pack(text.as_bytes(), &mut Packer::new(), 10_000_000_000).expect("a batch")
    }

    #[test]
    fn events_are_packed_by_query_in_the_order_of_seqs() {
        let other = QUERY.replace('4', "5");
        let lines = [progress(9, QUERY, 1.0), progress(4, &other, 1.0), progress(3, QUERY, 1.0)];
        let packed = packed(&lines);
        let part = &packed.parts[0];
        assert_eq!((packed.parts.len(), part.query_id.to_string().as_str()), (2, QUERY));
        assert_eq!(part.seqs.iter().map(|seq| seq.get()).collect::<Vec<_>>(), [3, 9]);
        let unpacked = unpack(&part.gzip).expect("sound");
        assert_eq!(lines_of(&unpacked).collect::<Vec<_>>(), [lines[2].as_bytes(), lines[0].as_bytes()]);
        assert_eq!(part.report.engine.as_deref(), Some("polars"));
    }

    #[test]
    fn of_one_seq_the_first_event_is_taken() {
        let lines = [1.0, 2.0, 1.0].map(|elapsed_ms| progress(3, QUERY, elapsed_ms));
        let packed = packed(&lines);
        assert_eq!((packed.repeated, packed.parts[0].seqs.len()), (2, 1));
        assert_eq!(packed.conflicting, packed.parts[0].seqs, "the second has other bytes, the third has not");
    }

    #[test]
    fn events_of_no_query_are_remembered_alone() {
        let loose = |seq| format!(r#"{{"schema":"polars-telemetry/events@1","seq":{seq},"type":"x"}}"#);
        let packed = packed(&[loose(7), loose(5)]);
        assert!(packed.parts.is_empty());
        assert_eq!(packed.loose.iter().map(|seq| seq.get()).collect::<Vec<_>>(), [5, 7]);
    }

    #[test]
    fn a_batch_tells_of_so_many_queries_and_no_more() {
        let event = |n: usize| {
            format!(
                r#"{{"schema":"x-telemetry/events@1","seq":{},"type":"x","query_id":"{n:08x}-1bd9-77b2-97ab-860dd7026506"}}"#,
                n + 2
            )
        };
        let mut text =
            format!("{PROCESS}\n") + &(0..BATCH_QUERIES_MAX).map(event).collect::<Vec<_>>().join("\n");
        let packed = pack(text.as_bytes(), &mut Packer::new(), 0).expect("a batch");
        assert_eq!(packed.parts.len(), BATCH_QUERIES_MAX);
        assert!(packed.bytes() > BATCH_QUERIES_MAX * (size_of::<QueryPart>() + 20), "{}", packed.bytes());
        text = text + "\n" + &event(BATCH_QUERIES_MAX);
        let Refused { error, process } =
            pack(text.as_bytes(), &mut Packer::new(), 0).expect_err("one too many");
        assert_eq!(process.expect("its first line is sound").host, "h");
        assert_eq!((error.status().as_u16(), error.line()), (413, None), "{error}");
    }

    #[test]
    fn a_start_is_guessed_from_the_sample() {
        let packed = packed(&[progress(3, QUERY, 4_000.0)]);
        assert_eq!(packed.parts[0].report.guessed_start_unix_ns, 6_000_000_000);
    }
}

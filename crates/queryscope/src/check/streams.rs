//! Every stream against what is stored of it.

use std::collections::HashMap;

use queryscope_protocol::StreamId;
use queryscope_store::{SeqRange, StoreAudit};

use super::seqs::SeqRuns;
use super::{Findings, Subject};

const PAGE: usize = 1000;

/// Judges all streams; gives back what has been seen of each.
pub(crate) async fn check(
    store: &dyn StoreAudit,
    stored: &HashMap<StreamId, SeqRuns>,
    findings: &mut Findings,
) -> HashMap<StreamId, Vec<SeqRange>> {
    let mut streams = HashMap::new();
    let mut after = None;
    loop {
        let page = match store.streams(after, PAGE).await {
            Ok(page) => page,
            Err(error) => {
                let error = anyhow::Error::from(error);
                findings.problem(&Subject::Store, &format!("the streams cannot be read: {error:#}"));
                return streams;
            }
        };
        let Some(last) = page.last() else { break };
        after = Some(last.stream_id);
        for stream in page {
            let subject = Subject::Stream(stream.stream_id);
            if let Some([before, next]) =
                stream.seen.array_windows().find(|[before, next]| before.last.saturating_add(1) >= next.first)
            {
                let text = format!("its seen ranges {before:?} and {next:?} touch");
                findings.problem(&subject, &text);
            }
            if let Some(stored) = stored.get(&stream.stream_id) {
                judge(&subject, stored, &stream.seen, findings);
            }
            streams.insert(stream.stream_id, stream.seen);
        }
    }
    for stream in stored.keys().filter(|stream| !streams.contains_key(stream)) {
        findings.problem(&Subject::Stream(*stream), "it has queries and is not there");
    }
    streams
}

/// Whether a seq has been seen.
pub(crate) fn has_seen(seen: &[SeqRange], seq: u64) -> bool {
    let at = seen.partition_point(|run| run.last < seq);
    seen.get(at).is_some_and(|run| run.first <= seq)
}

fn judge(subject: &Subject, stored: &SeqRuns, seen: &[SeqRange], findings: &mut Findings) {
    for seq in stored.runs().flat_map(|(first, last)| first..=last) {
        if !has_seen(seen, seq) {
            findings.problem(subject, &format!("event {seq} is stored and not marked as seen"));
        }
    }
}

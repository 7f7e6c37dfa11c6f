//! Every stream against what is stored of it.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Result;
use queryscope_protocol::{Seq, StreamId};
use queryscope_store::{Run, Store};

use super::Findings;

const PAGE: usize = 1000;

/// Judges all streams; gives back how many there are.
pub(crate) async fn check(
    store: &Arc<dyn Store>,
    stored: &HashMap<StreamId, Vec<Seq>>,
    findings: &mut Findings,
) -> Result<u64> {
    let mut streams = 0;
    let mut known = 0;
    let mut after = None;
    loop {
        let page = store.streams(after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.stream_id);
        for stream in &page {
            streams += 1;
            if let Some(pair) =
                stream.seen.windows(2).find(|pair| pair[0].last.saturating_add(1) >= pair[1].first)
            {
                findings.problem(&format!("stream {}: its seen ranges {pair:?} touch", stream.stream_id));
            }
            let Some(seqs) = stored.get(&stream.stream_id) else { continue };
            known += 1;
            judge(stream.stream_id, seqs, &stream.seen, findings);
        }
    }
    if known < stored.len() {
        findings.problem(&format!("{} streams of queries are missing", stored.len() - known));
    }
    Ok(streams)
}

fn judge(stream: StreamId, seqs: &[Seq], seen: &[Run], findings: &mut Findings) {
    let mut seqs = seqs.to_vec();
    seqs.sort_unstable();
    for pair in seqs.windows(2).filter(|pair| pair[0] == pair[1]) {
        findings.problem(&format!("stream {stream}: event {} is stored twice", pair[0]));
    }
    for seq in seqs {
        let at = seen.partition_point(|run| run.last < seq.get());
        if seen.get(at).is_none_or(|run| run.first > seq.get()) {
            findings.problem(&format!("stream {stream}: event {seq} is stored and not marked as seen"));
        }
    }
}

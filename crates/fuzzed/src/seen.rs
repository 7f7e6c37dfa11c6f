//! Seen events as disjoint ranges.

use std::collections::BTreeSet;

use queryscope_protocol::Seq;
use queryscope_store::{Run, SeenChange, runs_of};

/// Batches of seqs are added to a seen set; each batch is up to eight bytes, a byte a seq.
///
/// # Panics
/// When the ranges do not say what a set of all seqs says.
pub fn seen(bytes: &[u8]) {
    let Some((place, batches)) = bytes.split_first() else { return };
    // At the bottom, in the middle, or up to the largest seq.
    let lowest = match place % 3 {
        0 => 1,
        1 => u64::from(u32::MAX) - 128,
        _ => Seq::MAX - 255,
    };
    let mut ranges: Vec<Run> = Vec::new();
    let mut model: BTreeSet<u64> = BTreeSet::new();
    for batch in batches.chunks(8) {
        let seqs: BTreeSet<u64> = batch.iter().map(|byte| lowest + u64::from(*byte)).collect();
        let numbered = seqs.iter().map(|seq| Seq::new(*seq).expect("a seq"));
        let mut fresh = BTreeSet::new();
        for run in runs_of(numbered) {
            let near = run.neighbourhood();
            let touches = |range: &Run| range.last >= near.first && range.first <= near.last;
            let touching: Vec<Run> = ranges.iter().copied().filter(touches).collect();
            let change = SeenChange::of(run, &touching);
            ranges.retain(|range| !touches(range));
            ranges.push(change.merged);
            ranges.sort_unstable();
            fresh.extend(change.fresh.iter().flat_map(|run| run.first..=run.last));
        }
        let expected: BTreeSet<u64> = seqs.difference(&model).copied().collect();
        assert_eq!(fresh, expected);
        model.extend(seqs);
        let joined = runs_of(model.iter().map(|seq| Seq::new(*seq).expect("a seq")));
        assert_eq!(ranges, joined, "ranges are disjoint, joined and complete");
    }
}

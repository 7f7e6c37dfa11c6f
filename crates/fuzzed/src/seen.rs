//! Seen events as disjoint ranges.

use std::collections::BTreeSet;

use queryscope_protocol::Seq;
use queryscope_store::{SeenChange, SeqRange, seq_ranges};

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
    let mut ranges: Vec<SeqRange> = Vec::new();
    let mut model: BTreeSet<u64> = BTreeSet::new();
    for batch in batches.chunks(8) {
        let seqs: BTreeSet<u64> = batch.iter().map(|byte| lowest + u64::from(*byte)).collect();
        let numbered = seqs.iter().map(|seq| Seq::new(*seq).expect("a seq"));
        let mut fresh = BTreeSet::new();
        for sent in seq_ranges(numbered) {
            let near = sent.neighbourhood();
            let touches = |range: &SeqRange| range.last >= near.first && range.first <= near.last;
            let touching: Vec<SeqRange> = ranges.iter().copied().filter(touches).collect();
            let change = SeenChange::of(sent, &touching);
            ranges.retain(|range| !touches(range));
            ranges.push(change.merged);
            ranges.sort_unstable();
            fresh.extend(change.fresh.iter().flat_map(|sent| sent.first..=sent.last));
        }
        let expected: BTreeSet<u64> = seqs.difference(&model).copied().collect();
        assert_eq!(fresh, expected);
        model.extend(seqs);
        let joined = seq_ranges(model.iter().map(|seq| Seq::new(*seq).expect("a seq")));
        assert_eq!(ranges, joined, "ranges are disjoint, joined and complete");
    }
}

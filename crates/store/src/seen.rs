//! Which events of a stream have been seen, as disjoint ranges of seqs.
//!
//! A sender numbers its events without gaps, so a stream that has sent a million events is one range. A store
//! keeps the ranges as rows and, for each range of a batch, reads only the ranges that touch
//! it: the cost of a batch does not depend on how long its stream is.

use queryscope_protocol::Seq;

/// Consecutive seqs, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeqRange {
    /// First seq.
    pub first: u64,
    /// Last seq.
    pub last: u64,
}

impl SeqRange {
    /// The seqs next to the range, between which every range that touches it begins or ends.
    #[must_use]
    pub fn neighbourhood(self) -> Self {
        Self { first: self.first.saturating_sub(1), last: self.last.saturating_add(1) }
    }
}

/// The ranges of ascending seqs.
pub fn seq_ranges(seqs: impl IntoIterator<Item = Seq>) -> Vec<SeqRange> {
    let mut ranges: Vec<SeqRange> = Vec::new();
    for seq in seqs {
        let seq = seq.get();
        match ranges.last_mut() {
            Some(sent) if seq <= sent.last.saturating_add(1) => sent.last = sent.last.max(seq),
            _ => ranges.push(SeqRange { first: seq, last: seq }),
        }
    }
    ranges
}

/// What one range changes in a seen set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenChange {
    /// The parts of the sent range that had not been seen, ascending.
    pub fresh: Vec<SeqRange>,
    /// The range that takes the place of all that touched the sent one.
    pub merged: SeqRange,
}

impl SeenChange {
    /// Adds a range to the ranges that touch it (ascending and disjoint, as read from the store).
    pub fn of(sent: SeqRange, touching: &[SeqRange]) -> Self {
        let mut fresh = Vec::new();
        let mut merged = sent;
        let mut next = sent.first;
        for range in touching {
            if range.first > next {
                fresh.push(SeqRange { first: next, last: range.first.min(sent.last.saturating_add(1)) - 1 });
            }
            next = next.max(range.last.saturating_add(1));
            merged = SeqRange { first: merged.first.min(range.first), last: merged.last.max(range.last) };
        }
        if next <= sent.last {
            fresh.push(SeqRange { first: next, last: sent.last });
        }
        Self { fresh, merged }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn seq(number: u64) -> Seq {
        Seq::new(number).expect("a seq")
    }

    #[test]
    fn ranges_join_neighbours_and_repeats() {
        let ranges = seq_ranges([1, 2, 2, 3, 7, 9, 10].map(seq));
        assert_eq!(ranges, [(1, 3), (7, 7), (9, 10)].map(|(first, last)| SeqRange { first, last }));
    }

    #[test]
    fn the_largest_seq_has_no_neighbour_beyond() {
        let top = SeqRange { first: Seq::MAX, last: Seq::MAX };
        let change = SeenChange::of(top, &[top]);
        assert_eq!((change.fresh, change.merged), (vec![], top));
    }

    /// A store of ranges as a database keeps them.
    #[derive(Default)]
    struct Ranges(Vec<SeqRange>);

    impl Ranges {
        fn add(&mut self, sent: SeqRange) -> Vec<SeqRange> {
            let near = sent.neighbourhood();
            let touches = |range: &SeqRange| range.last >= near.first && range.first <= near.last;
            let touching: Vec<SeqRange> = self.0.iter().copied().filter(touches).collect();
            let change = SeenChange::of(sent, &touching);
            self.0.retain(|range| !touches(range));
            self.0.push(change.merged);
            self.0.sort_unstable();
            change.fresh
        }
    }

    proptest! {
        #[test]
        fn ranges_say_what_a_set_says(
            batches in prop::collection::vec(prop::collection::btree_set(1_u64..60, 1..12), 1..30)
        ) {
            let mut ranges = Ranges::default();
            let mut model = BTreeSet::new();
            for batch in batches {
                let mut fresh = BTreeSet::new();
                for sent in seq_ranges(batch.iter().copied().map(seq)) {
                    for part in ranges.add(sent) {
                        fresh.extend(part.first..=part.last);
                    }
                }
                let expected: BTreeSet<u64> = batch.difference(&model).copied().collect();
                prop_assert_eq!(fresh, expected);
                model.extend(batch);
                let kept: Vec<SeqRange> = seq_ranges(model.iter().copied().map(seq));
                prop_assert_eq!(&ranges.0, &kept, "ranges are disjoint, joined and complete");
            }
        }
    }
}

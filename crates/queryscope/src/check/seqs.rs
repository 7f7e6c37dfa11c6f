//! Sets of seqs that are mostly consecutive.

use std::collections::BTreeMap;

use queryscope_protocol::Seq;

/// A set of seqs as its runs: the last of each by its first.
#[derive(Debug, Default, Clone)]
pub(crate) struct SeqRuns(BTreeMap<u64, u64>);

impl SeqRuns {
    /// Adds a seq; `false` when it was there.
    pub(crate) fn insert(&mut self, seq: Seq) -> bool {
        let seq = seq.get();
        let before = self.0.range(..=seq).next_back().map(|(first, last)| (*first, *last));
        if before.is_some_and(|(_, last)| last >= seq) {
            return false;
        }
        let first = before.filter(|(_, last)| *last + 1 == seq).map_or(seq, |(first, _)| first);
        let last = self.0.remove(&(seq + 1)).unwrap_or(seq);
        self.0.insert(first, last);
        true
    }

    /// First and last of each run, ascending.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().map(|(first, last)| (*first, *last))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn runs_say_what_a_set_says() {
        let mut runs = SeqRuns::default();
        let mut set = BTreeSet::new();
        // Every order of neighbours: before, behind, between, again.
        for number in [5, 3, 4, 9, 10, 8, 4, 7, 6, 1, 20, 9] {
            let seq = Seq::new(number).expect("a seq");
            assert_eq!(runs.insert(seq), set.insert(number), "{number}");
            let held: Vec<u64> = runs.runs().flat_map(|(first, last)| first..=last).collect();
            assert_eq!(held, set.iter().copied().collect::<Vec<_>>());
        }
        assert_eq!(runs.runs().collect::<Vec<_>>(), [(1, 1), (3, 10), (20, 20)]);
    }
}

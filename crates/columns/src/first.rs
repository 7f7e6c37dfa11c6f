//! The first entries of an answer, without sorting all of them.

/// Entries among which the first so many are looked for, by their ranks; those of one rank come together.
#[derive(Debug)]
pub(crate) struct First<R, T> {
    wanted: Option<usize>,
    /// Entries before this rank are on an earlier page.
    after: Option<R>,
    /// Entries of that rank: names decide whether they are on an earlier page.
    tied: Vec<(R, T)>,
    kept: Vec<(R, T)>,
    /// What ranks behind this is not among the first.
    last: Option<R>,
    trim_at: usize,
    /// How many entries the last [`trim`](Self::trim) kept.
    trimmed: usize,
}

impl<R: Ord + Copy, T> First<R, T> {
    /// The first so many after a rank, and all others of the last one's rank; all where the number is left out.
    pub(crate) fn new(wanted: Option<usize>, after: Option<R>) -> Self {
        let trim_at = wanted.map_or(usize::MAX, |wanted| wanted.saturating_mul(2).saturating_add(64));
        Self { wanted, after, tied: Vec::new(), kept: Vec::new(), last: None, trim_at, trimmed: 0 }
    }

    /// Whether an entry of this rank may be among them.
    pub(crate) fn takes(&self, rank: R) -> bool {
        self.after.is_none_or(|after| rank >= after) && self.last.is_none_or(|last| rank <= last)
    }

    /// Adds an entry.
    pub(crate) fn push(&mut self, rank: R, entry: T) {
        if self.after == Some(rank) {
            self.tied.push((rank, entry));
        } else if self.takes(rank) {
            self.kept.push((rank, entry));
            if self.kept.len() >= self.trim_at {
                self.trim();
                // Where all are of one rank, none goes.
                self.trim_at = self.trim_at.max(self.kept.len().saturating_mul(2));
            }
        }
    }

    /// Whether nothing of this rank, nor what ranks behind it, is among them.
    pub(crate) fn is_behind(&self, rank: R) -> bool {
        self.last.is_some_and(|last| rank > last)
    }

    /// How many entries are held.
    pub(crate) fn len(&self) -> usize {
        self.tied.len() + self.kept.len()
    }

    /// Those that are among the first, in any order.
    pub(crate) fn into_entries(mut self) -> impl Iterator<Item = (R, T)> {
        self.trim();
        self.tied.into_iter().chain(self.kept)
    }

    /// The same as [`trim`](Self::trim), once there are half as many again: where all are of one rank none goes, and to
    /// look at each after every few would take time by the square of their number.
    pub(crate) fn trim_grown(&mut self) {
        if self.kept.len() > self.trimmed + self.trimmed / 2 {
            self.trim();
        }
    }

    /// Lets go of what is not among them.
    pub(crate) fn trim(&mut self) {
        let Some(wanted) = self.wanted.filter(|wanted| *wanted <= self.kept.len()) else { return };
        let Some(at) = wanted.checked_sub(1) else { return self.kept.clear() };
        let last = self.kept.select_nth_unstable_by_key(at, |(rank, _)| *rank).1.0;
        self.kept.retain(|(rank, _)| *rank <= last);
        self.last = Some(last);
        self.trimmed = self.kept.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(ranks: impl IntoIterator<Item = u32>, wanted: Option<usize>, after: Option<u32>) -> Vec<u32> {
        let mut first = First::new(wanted, after);
        for rank in ranks {
            first.push(rank, ());
        }
        let mut ranks: Vec<u32> = first.into_entries().map(|(rank, ())| rank).collect();
        ranks.sort_unstable();
        ranks
    }

    #[test]
    fn the_first_are_found_among_many() {
        let many = || (0..10_000).map(|n| n * 7_919 % 10_007);
        let mut all: Vec<u32> = many().collect();
        all.sort_unstable();
        assert_eq!(first(many(), None, None), all);
        assert_eq!(first(many(), Some(3), None), all[..3]);
        assert_eq!(first(many(), Some(3), Some(all[10])), all[10..14], "that rank and three after it");
        assert_eq!(first([5, 5, 6, 5], Some(1), None), [5, 5, 5]);
        assert_eq!(first([2; 1_000], Some(1), None).len(), 1_000);
        assert_eq!(first([1, 2], Some(9), Some(2)), [2]);
    }
}

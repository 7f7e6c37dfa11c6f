//! Which of two levels of times a few runs lie at: those that had no part in the change, such as slow runs of the
//! version before it.

use crate::stats::{deviation, median};

/// So many runs show a level; one alone may be an outlier.
const RUNS_MIN: usize = 2;
/// The part of the way to a level that counts as there.
const NEAR: f64 = 0.6;
/// How many standard errors the runs must lie from the other level.
const SURE: f64 = 4.0;
/// The least deviation of runs about their level, in logarithms.
const SPREAD_MIN: f64 = 0.02;

/// The levels before and after a change, in logarithms.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TwoLevels {
    before: f64,
    after: f64,
    /// Deviation of runs about their level: the larger one, since that of few runs may be small by luck.
    spread: f64,
}

impl TwoLevels {
    pub(crate) fn new(before: &[f64], after: &[f64], buffer: &mut Vec<f64>) -> Self {
        let mut of = |values: &[f64]| {
            buffer.clear();
            buffer.extend_from_slice(values);
            let middle = median(buffer);
            (middle, deviation(values, middle, buffer))
        };
        let ((before, first), (after, second)) = (of(before), of(after));
        Self { before, after, spread: first.max(second).max(SPREAD_MIN) }
    }

    /// Whether runs clearly take the time of those after.
    pub(crate) fn are_after(&self, values: impl Iterator<Item = f64>) -> bool {
        self.are_at(self.after, self.before, values)
    }

    /// Whether runs clearly take the time of those before.
    pub(crate) fn are_before(&self, values: impl Iterator<Item = f64>) -> bool {
        self.are_at(self.before, self.after, values)
    }

    /// Whether runs lie at a level and not at the other one. Of an even number the middle run nearer the other level
    /// speaks for all, so that one outlier of two shows nothing.
    fn are_at(&self, level: f64, other: f64, values: impl Iterator<Item = f64>) -> bool {
        let way = level - other;
        let mut far: Vec<f64> = values.map(|value| (value - other) * way.signum()).collect();
        if far.len() < RUNS_MIN {
            return false;
        }
        far.sort_unstable_by(f64::total_cmp);
        far[(far.len() - 1) / 2] >= (NEAR * way.abs()).max(SURE * self.spread / (far.len() as f64).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(spread: f64) -> TwoLevels {
        let about = |middle: f64| [-1.0, -0.5, 0.0, 0.5, 1.0].map(|step: f64| middle + step * spread);
        TwoLevels::new(&about(0.0), &about(0.7), &mut Vec::new())
    }

    #[test]
    fn two_runs_show_a_level_and_one_does_not() {
        let levels = levels(0.03);
        assert!(levels.are_after([0.7, 0.65].into_iter()) && levels.are_before([0.0, 0.1].into_iter()));
        assert!(!levels.are_after([0.7].into_iter()) && !levels.are_before([0.0].into_iter()));
        assert!(!levels.are_after([3.0, 0.0].into_iter()), "one outlier of two");
        assert!(!levels.are_after([0.3, 0.35].into_iter()), "between both");
        assert!(!levels.are_after(std::iter::empty()));
    }

    #[test]
    fn where_runs_vary_as_much_few_of_them_show_nothing() {
        let levels = levels(0.6);
        assert!(!levels.are_after([0.7, 0.7].into_iter()));
        assert!(levels.are_after([0.7; 12].into_iter()));
    }
}

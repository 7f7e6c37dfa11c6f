//! Could luck alone have moved these times?
//!
//! The one-sided Mann-Whitney U test (H. B. Mann and D. R. Whitney, "On a Test of Whether one of Two Random
//! Variables is Stochastically Larger than the Other", Annals of Mathematical Statistics 18 (1947), 50-60).
//! U counts the pairs of a value of the first and a value of the second sample in which the first is larger,
//! an equal pair as a half. If both samples came from one distribution, every arrangement of their values
//! would be as likely as any other; the probability is that of a U at least as extreme as the one seen.
//!
//! It is computed
//! - exactly, by counting arrangements, where no two values are equal, one sample has at most
//!   [`EXACT_SMALLER_MAX`] values, and the other at most [`EXACT_LARGER_MAX`];
//! - else from the normal distribution, with a correction for ties (Lehmann, *Nonparametrics*, 1975, section
//!   1.4) and a continuity correction of one half towards the mean.
//!
//! That is what SciPy's `mannwhitneyu(first, second, alternative=…, method="auto")` does, apart from the second
//! bound, which limits the work; the tests compare with its answers.

mod exact;

/// The exact probability is taken where one sample has at most so many values, as SciPy does, …
pub const EXACT_SMALLER_MAX: u64 = 8;
/// … and the other at most so many.
pub const EXACT_LARGER_MAX: u64 = 10_000;

/// How the first sample is suspected to differ from the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alternative {
    /// Its values are larger.
    Greater,
    /// Its values are smaller.
    Less,
}

/// Two samples, ranked against each other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RankTest {
    first: u64,
    second: u64,
    /// Twice U of the first sample: an equal pair counts a half.
    twice_u: u128,
    /// The sum of t³ - t over the groups of t equal values.
    ties: u128,
}

impl RankTest {
    /// Ranks two samples of finite numbers; `None` when one of them is empty. Sorts both.
    pub fn of_times(first: &mut [f64], second: &mut [f64]) -> Option<Self> {
        first.sort_unstable_by(f64::total_cmp);
        second.sort_unstable_by(f64::total_cmp);
        let (mut first, mut second) = (&*first, &*second);
        let mut test = Self::default();
        while let Some(least) = least_of(first, second) {
            test.rank(take_equal(&mut first, least), take_equal(&mut second, least));
        }
        (test.first > 0 && test.second > 0).then_some(test)
    }

    /// Adds the values that are equal, and larger than all added before.
    fn rank(&mut self, of_first: u64, of_second: u64) {
        let below_twice = 2 * u128::from(self.second) + u128::from(of_second);
        self.twice_u = self.twice_u.saturating_add(u128::from(of_first).saturating_mul(below_twice));
        self.first += of_first;
        self.second += of_second;
        let equal = u128::from(of_first) + u128::from(of_second);
        self.ties = self.ties.saturating_add(equal.saturating_pow(3) - equal);
    }

    /// U of the first sample: pairs in which its value is larger, equal ones as a half.
    pub fn u(&self) -> f64 {
        self.twice_u as f64 / 2.0
    }

    /// The probability of a U at least as far in the suspected direction if there were no difference: the exact
    /// one for small samples without ties, else that of the normal approximation.
    pub fn probability(&self, alternative: Alternative) -> f64 {
        let small = self.first.min(self.second) <= EXACT_SMALLER_MAX
            && self.first.max(self.second) <= EXACT_LARGER_MAX;
        let exact = if small { self.exact(alternative) } else { None };
        exact.unwrap_or_else(|| self.normal(alternative))
    }

    /// The exact probability; `None` with ties, and where there are 2^128 arrangements or more. Its work grows
    /// with the product of U (from the nearer end) and the size of the smaller sample.
    pub fn exact(&self, alternative: Alternative) -> Option<f64> {
        if self.ties > 0 {
            return None;
        }
        let pairs = u128::from(self.first) * u128::from(self.second);
        let u = self.twice_u / 2;
        // U is distributed symmetrically about half the pairs.
        let from_end = match alternative {
            Alternative::Greater => pairs - u,
            Alternative::Less => u,
        };
        exact::at_most(from_end, self.first, self.second)
    }

    /// The probability by the normal approximation.
    pub fn normal(&self, alternative: Alternative) -> f64 {
        let (first, second) = (self.first as f64, self.second as f64);
        let all = first + second;
        let tied = self.ties as f64 / (all * (all - 1.0));
        let deviation = (first * second / 12.0 * ((all + 1.0) - tied)).sqrt();
        if deviation.is_nan() || deviation <= 0.0 {
            // All values are equal: nothing speaks against luck.
            return 1.0;
        }
        let over_mean = self.u() - first * second / 2.0;
        let towards = match alternative {
            Alternative::Greater => over_mean,
            Alternative::Less => -over_mean,
        };
        let z = (towards - 0.5) / deviation;
        libm::erfc(z / std::f64::consts::SQRT_2) / 2.0
    }
}

/// The least value of two sorted samples.
fn least_of(first: &[f64], second: &[f64]) -> Option<f64> {
    match (first.first(), second.first()) {
        (Some(a), Some(b)) => Some(a.min(*b)),
        (least, None) | (None, least) => least.copied(),
    }
}

/// Takes the leading values equal to `value` off a sorted sample, and counts them.
fn take_equal(sample: &mut &[f64], value: f64) -> u64 {
    let equal = sample.iter().take_while(|other| **other <= value).count();
    *sample = &sample[equal..];
    equal as u64
}

#[cfg(test)]
mod tests;

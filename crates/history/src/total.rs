//! How much time did some runs take together?

/// A sum of wall times.
///
/// It is kept in whole nanoseconds, so that it does not depend on the order in which times were added, and what
/// is taken out again leaves nothing behind: a sum of floating point numbers has neither. Each time is rounded
/// to a nanosecond and counts as at most 2^64 - 1 of them, 584 years.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WallTotal {
    ns: u128,
}

impl WallTotal {
    /// The sum that was kept as a number of nanoseconds.
    pub const fn from_nanos(ns: u128) -> Self {
        Self { ns }
    }

    /// The sum in nanoseconds.
    pub const fn nanos(self) -> u128 {
        self.ns
    }

    /// The sum in milliseconds.
    pub fn wall_ms(self) -> f64 {
        self.ns as f64 / 1e6
    }

    /// Adds a time in milliseconds.
    pub fn add(&mut self, wall_ms: f64) {
        self.ns = self.ns.saturating_add(nanos(wall_ms));
    }

    /// Takes out a time that was added.
    pub fn remove(&mut self, wall_ms: f64) {
        self.ns = self.ns.saturating_sub(nanos(wall_ms));
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: Self) {
        self.ns = self.ns.saturating_add(other.ns);
    }
}

impl Extend<f64> for WallTotal {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, times_ms: I) {
        times_ms.into_iter().for_each(|wall_ms| self.add(wall_ms));
    }
}

fn nanos(wall_ms: f64) -> u128 {
    let ns = wall_ms * 1e6;
    if ns >= i64::MAX as f64 {
        return u128::from(ns as u64);
    }
    // As `round`, which is a call where the processor is not known to have it: half a nanosecond is rounded up.
    let whole = ns as i64;
    u128::from(whole.cast_unsigned() + u64::from(ns - whole as f64 >= 0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(times_ms: &[f64]) -> WallTotal {
        let mut total = WallTotal::default();
        total.extend(times_ms.iter().copied());
        total
    }

    #[test]
    fn decimals_add_up() {
        assert_eq!(total(&[]).wall_ms(), 0.0);
        assert_eq!(total(&[12.345_678]).wall_ms(), 12.345_678);
        assert_eq!(total(&[0.1; 10]).wall_ms(), 1.0, "in floating point 0.9999999999999999");
    }

    #[test]
    fn a_time_is_rounded_to_the_nearest_nanosecond() {
        for ns in [
            0.0,
            0.25,
            0.499_999_999_999_999_94,
            0.5,
            0.75,
            1.5,
            2.5,
            4_503_599_627_370_495.5,
            1e18,
            1e19,
            1e300,
        ] {
            assert_eq!(nanos(ns / 1e6), u128::from((ns / 1e6 * 1e6).round() as u64), "{ns}");
        }
    }

    #[test]
    fn order_does_not_matter() {
        assert_eq!(total(&[1e9, 1e-6, 0.1]), total(&[0.1, 1e9, 1e-6]));
        let mut merged = total(&[1e9]);
        merged.merge(total(&[1e-6, 0.1]));
        assert_eq!(merged, total(&[0.1, 1e9, 1e-6]));
    }

    #[test]
    fn what_is_taken_out_leaves_nothing() {
        let mut sum = total(&[1e9, 0.3, 1e300]);
        sum.remove(1e300);
        sum.remove(1e9);
        assert_eq!(sum, total(&[0.3]));
        assert_eq!(WallTotal::from_nanos(sum.nanos()), sum);
    }

    #[test]
    fn one_time_counts_as_at_most_584_years() {
        assert_eq!(total(&[1e300]).nanos(), u128::from(u64::MAX));
    }
}

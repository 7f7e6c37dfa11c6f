//! How much time did some runs take together?

use serde::{Serialize, Serializer};

/// A sum of wall times; in an answer, its milliseconds.
///
/// It is kept in whole nanoseconds, so that it does not depend on the order in which times were added: a sum of
/// floating point numbers does. Each time is rounded to a nanosecond. A time is ten years at most when it is sent;
/// earlier versions stored any, and such a time counts as what it is: the sum ends at 2^128 - 1 nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallTotal {
    ns: u128,
}

impl WallTotal {
    /// The sum in milliseconds.
    pub fn wall_ms(self) -> f64 {
        self.ns as f64 / 1e6
    }

    /// Adds a time in milliseconds, which is not negative.
    pub(crate) fn add(&mut self, wall_ms: f64) {
        self.ns = self.ns.saturating_add(nanos(wall_ms));
    }

    /// Adds another sum.
    pub(crate) fn merge(&mut self, other: Self) {
        self.ns = self.ns.saturating_add(other.ns);
    }
}

impl Serialize for WallTotal {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.wall_ms().serialize(to)
    }
}

impl Extend<f64> for WallTotal {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, times_ms: I) {
        times_ms.into_iter().for_each(|wall_ms| self.add(wall_ms));
    }
}

/// Half a nanosecond is rounded up.
fn nanos(wall_ms: f64) -> u128 {
    /// Here neighbouring numbers are one apart, so that the sum of this and a smaller number is rounded to a whole one.
    const WHOLE: f64 = (1_u64 << 52) as f64;
    let ns = wall_ms * 1e6;
    if ns >= WHOLE {
        return ns as u128;
    }
    // As `round`, which is a call where the processor is not known to have it. Of two whole numbers as near, the sum
    // is rounded to the even one.
    let nearest = ns + WHOLE;
    let up = ns - (nearest - WHOLE) >= 0.5;
    u128::from(nearest.to_bits() - WHOLE.to_bits() + u64::from(up))
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
            1_125_899_906_842_624.5,
            2_251_799_813_685_247.5,
            2_251_799_813_685_247.0 + 0.75,
            4_503_599_627_370_494.5,
            4_503_599_627_370_495.5,
            4_503_599_627_370_496.0,
            4_503_599_627_370_497.0,
            1e18,
            1e19,
            1e300,
        ] {
            assert_eq!(nanos(ns / 1e6), (ns / 1e6 * 1e6).round() as u128, "{ns}");
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
    fn a_time_that_nothing_ran_for_is_no_other_time() {
        assert_eq!(total(&[1e16]).wall_ms(), 1e16, "more than 2^64 ns");
        assert_eq!(total(&[1e16, 1e16, 5.0]).wall_ms(), 2e16 + 5.0);
        assert_eq!(total(&[1e308, 1e308]).ns, u128::MAX);
        let mut merged = total(&[1e308]);
        merged.merge(total(&[1e308]));
        assert_eq!(merged.ns, u128::MAX);
    }
}

//! Where is the middle of some times, and where their quartiles?
//!
//! A quantile is that of type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages" (The American
//! Statistician 50 (1996), 361-365), the default of NumPy, R and spreadsheets: of `n` ascending values
//! `x[0] ..= x[n - 1]`, the quantile `q` stands at the place `h = q (n - 1)`; between two values it is
//! interpolated linearly. The median is therefore the middle value, or the average of the two middle values.
//!
//! Values are found by selection, in O(n) time, and not by sorting all. They are finite numbers.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

/// Median and quartiles of some values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quartiles {
    /// A quarter of the values lies below.
    pub lower: f64,
    /// Half of the values lies below.
    pub median: f64,
    /// A quarter of the values lies above.
    pub upper: f64,
}

/// A median, or none, in eight bytes, also packed: an overview holds hundreds of them for each label.
#[derive(Clone, Copy, Deserialize)]
pub struct Median(f64);

impl Median {
    /// The median, if there is one.
    pub fn get(self) -> Option<f64> {
        (!self.0.is_nan()).then_some(self.0)
    }
}

impl From<Option<f64>> for Median {
    fn from(median: Option<f64>) -> Self {
        Self(median.unwrap_or(f64::NAN))
    }
}

impl Serialize for Median {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() { self.get().serialize(to) } else { self.0.serialize(to) }
    }
}

impl Default for Median {
    fn default() -> Self {
        Self::from(None)
    }
}

impl PartialEq for Median {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl fmt::Debug for Median {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

/// The median: the middle value, or the average of the two middle values. `None` of nothing. Reorders the values.
pub fn median(values: &mut [f64]) -> Option<f64> {
    let count = values.len() as u64;
    let mut ascending = Ascending { values, from: 0 };
    (count > 0).then(|| quarter(count, 2, |index| ascending.value_at(index)))
}

/// Median and quartiles (type 7, see above). `None` of nothing. Reorders the values.
pub fn quartiles(values: &mut [f64]) -> Option<Quartiles> {
    let count = values.len() as u64;
    let mut ascending = Ascending { values, from: 0 };
    let mut quarter = |quarters| quarter(count, quarters, |index| ascending.value_at(index));
    (count > 0).then(|| Quartiles { lower: quarter(1), median: quarter(2), upper: quarter(3) })
}

/// The value below which so many of a hundred lie (type 7, see above). `None` of nothing. Reorders the values.
pub(crate) fn quantile(values: &mut [f64], hundredths: u64) -> Option<f64> {
    let place = (values.len() as u64).checked_sub(1)? * hundredths;
    let (index, part) = (place / 100, place % 100);
    let mut ascending = Ascending { values, from: 0 };
    let below = ascending.value_at(index);
    if part == 0 {
        return Some(below);
    }
    let above = ascending.value_at(index + 1);
    Some(if part == 50 {
        f64::midpoint(below, above)
    } else {
        below + (above - below) * (part as f64 / 100.0)
    })
}

/// The value at a number of quarters of the way through `count` values. The place is found in integers: in
/// floating point it would be off for many values.
fn quarter(count: u64, quarters: u64, mut value_at: impl FnMut(u64) -> f64) -> f64 {
    let place = u128::from(count - 1) * u128::from(quarters);
    let index = (place / 4) as u64;
    let below = value_at(index);
    match place % 4 {
        0 => below,
        2 => f64::midpoint(below, value_at(index + 1)),
        part => below + (value_at(index + 1) - below) * (part as f64 / 4.0),
    }
}

/// Values whose order is found as far as it is asked for: what is less than the last one asked for lies before it,
/// and is not looked at for a larger one.
struct Ascending<'v> {
    values: &'v mut [f64],
    from: usize,
}

impl Ascending<'_> {
    fn value_at(&mut self, index: u64) -> f64 {
        let index = index as usize;
        let from = if index < self.from { 0 } else { self.from };
        self.from = index;
        *self.values[from..].select_nth_unstable_by(index - from, f64::total_cmp).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_or_the_average_of_both_middles() {
        assert_eq!(median(&mut []), None);
        assert_eq!(median(&mut [7.0]), Some(7.0));
        assert_eq!(median(&mut [9.0, 1.0]), Some(5.0));
        assert_eq!(median(&mut [9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [9.0, 1.0, 2.0, 4.0]), Some(3.0));
    }

    #[test]
    fn the_average_of_the_largest_numbers_is_finite() {
        assert_eq!(median(&mut [f64::MAX, f64::MAX]), Some(f64::MAX));
    }

    #[test]
    fn any_hundredth_lies_between_values() {
        assert_eq!(quantile(&mut [], 95), None);
        assert_eq!(quantile(&mut [7.0], 95), Some(7.0));
        assert_eq!(quantile(&mut [0.0, 10.0], 95), Some(9.5));
        assert_eq!(quantile(&mut [1.0, 2.0, 4.0, 9.0], 50), median(&mut [1.0, 2.0, 4.0, 9.0]));
        assert_eq!(quantile(&mut [1.0, 2.0, 4.0], 100), Some(4.0));
    }

    fn check(values: &[f64], expected: Option<(f64, f64, f64)>) {
        let expected = expected.map(|(lower, median, upper)| Quartiles { lower, median, upper });
        assert_eq!(quartiles(&mut values.to_vec()), expected, "{values:?}");
    }

    #[test]
    fn quartiles_lie_between_values() {
        check(&[], None);
        check(&[3.0], Some((3.0, 3.0, 3.0)));
        check(&[4.0, 0.0], Some((1.0, 2.0, 3.0)));
        check(&[4.0, 0.0, 2.0], Some((1.0, 2.0, 3.0)));
        check(&[0.0, 4.0, 8.0, 12.0], Some((3.0, 6.0, 9.0)));
        check(&[5.0, 1.0, 4.0, 2.0, 3.0], Some((2.0, 3.0, 4.0)));
    }

    #[test]
    fn equal_values_have_no_band() {
        check(&[0.1; 6], Some((0.1, 0.1, 0.1)));
    }
}

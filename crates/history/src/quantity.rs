//! Figures of which there are many, such as one of each run or of each node of a run: two bytes each.

/// A figure: absent, or a whole number rounded to 11 binary digits, that is within 0.05 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Quantity(u16);

impl Quantity {
    /// The figure is not known.
    pub const NONE: Self = Self(0);

    /// Rounds a number.
    pub fn new(value: u64) -> Self {
        if value < 2047 {
            return Self(value as u16 + 1);
        }
        // Eleven digits are left: the first is 1 and need not be kept.
        let mut shift = 64 - value.leading_zeros() - 11;
        let mut digits = value >> shift;
        if shift > 0 && value >> (shift - 1) & 1 == 1 {
            digits += 1;
            if digits == 2048 {
                digits = 1024;
                shift += 1;
            }
        }
        Self(((u64::from(shift) + 1) * 1024 + digits - 1024) as u16 + 1)
    }

    /// Rounds a time in milliseconds to nanoseconds. One that is below zero, or no number, is not known.
    pub fn from_ms(time_ms: Option<f64>) -> Self {
        time_ms.filter(|ms| ms.is_finite() && *ms >= 0.0).map(|ms| (ms * 1e6).round() as u64).into()
    }

    /// Rounds a whole number. One that is below zero is not known.
    pub fn from_whole(number: Option<i64>) -> Self {
        number.and_then(|number| u64::try_from(number).ok()).into()
    }

    /// The rounded number.
    pub fn get(self) -> Option<u64> {
        let code = u64::from(self.0.checked_sub(1)?);
        if code < 2048 {
            return Some(code);
        }
        let shift = code / 1024 - 1;
        Some((code % 1024 + 1024).checked_shl(shift as u32).filter(|_| shift <= 53).unwrap_or(u64::MAX))
    }

    /// The two bytes it is kept as.
    pub fn code(self) -> u16 {
        self.0
    }

    /// What two bytes stand for.
    pub fn from_code(code: u16) -> Self {
        Self(code)
    }

    /// Whether it stands for one whole number alone, or for none.
    pub fn is_exact(self) -> bool {
        self.0 <= 2048
    }

    /// The rounded number, for a calculation.
    pub fn value(self) -> Option<f64> {
        self.get().map(|value| value as f64)
    }
}

impl From<Option<u64>> for Quantity {
    fn from(value: Option<u64>) -> Self {
        value.map_or(Self::NONE, Self::new)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn small_numbers_are_exact() {
        for value in 0..2048 {
            assert_eq!(Quantity::new(value).get(), Some(value));
            assert!(Quantity::new(value).is_exact());
        }
        assert!(Quantity::NONE.is_exact() && !Quantity::new(2048).is_exact());
        assert_eq!(Quantity::NONE.get(), None);
        assert_eq!(Quantity::default(), Quantity::NONE);
    }

    #[test]
    fn times_are_nanoseconds() {
        let kept = |time_ms| Quantity::from_ms(Some(time_ms)).get();
        assert_eq!((kept(0.001), kept(0.000_001_6), kept(-0.0)), (Some(1_000), Some(2), Some(0)));
        assert_eq!((kept(4.0), kept(4_001.0)), (Some(3_999_744), Some(4_001_366_016)));
        assert_eq!((kept(f64::MAX), kept(f64::INFINITY)), (Some(u64::MAX), None));
        assert_eq!((kept(-1.0), kept(f64::NAN), Quantity::from_ms(None).get()), (None, None, None));
    }

    proptest! {
        #[test]
        fn numbers_are_kept_within_a_twentieth_of_a_percent(value in any::<u64>(), shift in 0..64_u32) {
            let value = value >> shift;
            let kept = Quantity::new(value);
            let error = kept.get().expect("known").abs_diff(value);
            prop_assert!(error as f64 <= value as f64 / 2048.0, "{value} {kept:?}");
            prop_assert_eq!(Quantity::new(kept.get().expect("known")), kept);
        }
    }
}

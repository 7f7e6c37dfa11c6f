//! How many arrangements of two samples have a U of at most `u`?
//!
//! The numbers of arrangements by U are the coefficients of the Gaussian binomial `[m + n over m]` in `q`, the
//! product of `(1 - q^(n + i)) / (1 - q^i)` over `i` in `1..=m` (G. E. Andrews, *The Theory of Partitions*,
//! 1976, chapter 3). Multiplying and dividing by such a term is one pass over the coefficients up to `q^u`.
//!
//! All is done in integers modulo 2^128: intermediate coefficients may be negative or larger, the final ones are
//! at most the number of all arrangements, which is checked to be less.

/// The probability of a U of at most `u` for samples of these sizes without ties, neither of them empty; `None`
/// when there are 2^128 arrangements or more.
pub(super) fn at_most(u: u128, first: u64, second: u64) -> Option<f64> {
    let (smaller, larger) = (first.min(second), first.max(second));
    let all = arrangements(smaller, larger)?;
    let pairs = u128::from(smaller) * u128::from(larger);
    // Counted from the nearer end, which is less work and the same number.
    let count = if 2 * u < pairs {
        counted(u, smaller, larger)?
    } else if u < pairs {
        all - counted(pairs - u - 1, smaller, larger)?
    } else {
        all
    };
    Some(count as f64 / all as f64)
}

/// The number of arrangements with a U of at most `u`.
fn counted(u: u128, smaller: u64, larger: u64) -> Option<u128> {
    let mut by_u = vec![0_u128; usize::try_from(u).ok()?.checked_add(1)?];
    by_u[0] = 1;
    for step in 1..=smaller {
        let (times, over) = (usize::try_from(larger + step).ok()?, usize::try_from(step).ok()?);
        for high in (times..by_u.len()).rev() {
            by_u[high] = by_u[high].wrapping_sub(by_u[high - times]);
        }
        for high in over..by_u.len() {
            by_u[high] = by_u[high].wrapping_add(by_u[high - over]);
        }
    }
    Some(by_u.into_iter().fold(0, u128::wrapping_add))
}

/// The binomial coefficient `smaller + larger` over `smaller`.
fn arrangements(smaller: u64, larger: u64) -> Option<u128> {
    let mut all = 1_u128;
    for step in 1..=u128::from(smaller) {
        let times = u128::from(larger) + step;
        // The product is divisible by the step. Dividing first leaves only results that are too large to overflow.
        let common = gcd(all, step);
        all = (all / common).checked_mul(times / (step / common))?;
    }
    Some(all)
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrangements_are_binomials() {
        assert_eq!(arrangements(1, 1), Some(2));
        assert_eq!(arrangements(3, 5), Some(56));
        assert_eq!(arrangements(8, 200), Some(75_824_205_888_366));
        assert_eq!(arrangements(65, 66), Some(188_694_833_082_770_476_622_296_176_145_946_360_850));
        assert_eq!(arrangements(66, 66), None);
    }

    #[test]
    fn small_samples_are_counted_by_hand() {
        // Of two and two: U is 0, 1, 2, 2, 3 or 4.
        for (u, count) in [(0, 1.0), (1, 2.0), (2, 4.0), (3, 5.0), (4, 6.0), (5, 6.0)] {
            assert_eq!(at_most(u, 2, 2), Some(count / 6.0), "U <= {u}");
        }
    }

    #[test]
    fn the_order_of_sizes_does_not_matter() {
        for u in 0..=21 {
            assert_eq!(at_most(u, 3, 7), at_most(u, 7, 3));
        }
    }

    #[test]
    fn all_arrangements_are_counted() {
        for (first, second) in [(1, 1), (1, 9), (4, 6), (8, 8), (65, 66)] {
            let pairs = u128::from(first * second);
            assert_eq!(counted(pairs, first, second), arrangements(first, second));
        }
    }
}

use proptest::prelude::*;

use super::*;
use crate::quantile::quartiles;

fn histogram(times: &[f64]) -> Histogram {
    times.iter().copied().collect()
}

#[test]
fn of_nothing_nothing_is_known() {
    let none = Histogram::default();
    assert!(none.is_empty());
    assert_eq!((none.count(), none.median(), none.quantile(0.5), none.quartiles()), (0, None, None, None));
}

#[test]
fn a_bucket_is_a_64th_of_a_power_of_two() {
    let next: f64 = 1.0 + 1.0 / 64.0;
    assert_eq!(index_of(1.0), index_of(next.next_down()));
    assert_ne!(index_of(1.0), index_of(next));
    assert_eq!(histogram(&[1.0]).median(), Some(1.0 + 1.0 / 128.0));
}

#[test]
fn the_ends_of_the_range() {
    for (ms, given) in [(0.0, 0.0), (-0.0, 0.0), (Histogram::LEAST_MS.next_down(), 0.0)] {
        assert_eq!(histogram(&[ms]).median(), Some(given), "{ms}");
    }
    for ms in [Histogram::LEAST_MS, f64::MAX] {
        let given = histogram(&[ms]).median().expect("one time");
        assert!(
            (given - ms).abs() <= ms * Histogram::RELATIVE_ERROR && given > 0.0,
            "{ms} is given as {given}"
        );
    }
    assert_eq!(index_of(f64::MAX), Some(LAST_INDEX));
}

#[test]
fn what_is_no_time_is_not_counted() {
    let mut histogram = histogram(&[1.0]);
    for ms in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(!histogram.add(ms) && !histogram.remove(ms), "{ms}");
    }
    assert_eq!(histogram.count(), 1);
}

#[test]
fn only_what_is_there_is_removed() {
    let mut histogram = histogram(&[1.0, 8.0]);
    assert!(!histogram.remove(4.0));
    assert!(histogram.remove(8.0));
    assert!(!histogram.remove(8.0));
    assert_eq!(histogram, [1.0].into_iter().collect());
}

#[test]
fn a_quantile_outside_is_that_of_the_nearer_end() {
    let two = histogram(&[0.0, 1.0]);
    assert_eq!(two.quantile(-1.0), Some(0.0));
    assert_eq!(two.quantile(7.0), two.quantile(1.0));
}

/// Times of every size, with some that are equal.
fn times() -> impl Strategy<Value = Vec<f64>> {
    let time =
        prop_oneof![0.0..10.0_f64, 0.0..1e9_f64, (-19..40_i32).prop_map(|exponent| 2_f64.powi(exponent))];
    prop::collection::vec(time, 1..60)
}

fn near(given: f64, exact: f64) -> bool {
    // What lies below the range is given as 0; the last factor is for rounding between two values.
    let bound = (exact * Histogram::RELATIVE_ERROR).max(Histogram::LEAST_MS);
    (given - exact).abs() <= bound * (1.0 + 1e-12)
}

proptest! {
    #[test]
    fn quantiles_are_off_by_at_most_a_128th(mut times in times(), part in 0.0..=1.0_f64) {
        let given = histogram(&times);
        let exact = quartiles(&mut times).expect("not empty");
        let rough = given.quartiles().expect("not empty");
        for (rough, exact) in [(rough.lower, exact.lower), (rough.median, exact.median), (rough.upper, exact.upper)] {
            prop_assert!(near(rough, exact), "{} for {}", rough, exact);
        }
        prop_assert_eq!(given.median(), Some(rough.median));

        times.sort_unstable_by(f64::total_cmp);
        let place = (times.len() - 1) as f64 * part;
        let (low, high) = (times[place.floor() as usize], times[place.ceil() as usize]);
        let exact = low * (1.0 - place.fract()) + high * place.fract();
        let rough = given.quantile(part).expect("not empty");
        prop_assert!(near(rough, exact), "{} for {} at {}", rough, exact, part);
    }

    #[test]
    fn merging_is_adding_all(first in times(), second in times()) {
        let mut merged = histogram(&first);
        merged.merge(&histogram(&second));
        prop_assert_eq!(merged, histogram(&[first, second].concat()));
    }

    #[test]
    fn removing_leaves_what_was_there_before(kept in times(), gone in times()) {
        let mut both = histogram(&[&gone[..], &kept].concat());
        for ms in gone {
            prop_assert!(both.remove(ms));
        }
        prop_assert_eq!(both.count(), kept.len() as u64);
        prop_assert_eq!(both, histogram(&kept));
    }
}

use super::*;

fn ranked(first: &[f64], second: &[f64]) -> RankTest {
    RankTest::of_times(&mut first.to_vec(), &mut second.to_vec()).expect("two samples")
}

#[test]
fn an_empty_sample_has_no_test() {
    for (first, second) in [(&[][..], &[1.0][..]), (&[1.0], &[]), (&[], &[])] {
        assert_eq!(RankTest::of_times(&mut first.to_vec(), &mut second.to_vec()), None);
    }
}

#[test]
fn u_counts_pairs_and_halves() {
    assert_eq!(ranked(&[3.0, 4.0], &[1.0, 2.0]).u(), 4.0);
    assert_eq!(ranked(&[1.0, 4.0], &[2.0, 3.0]).u(), 2.0);
    assert_eq!(ranked(&[2.0, 4.0], &[2.0, 3.0]).u(), 2.5);
    assert_eq!(ranked(&[0.0], &[-0.0]).u(), 0.5, "zeros of both signs are equal");
}

#[test]
fn three_above_five_is_one_arrangement_of_56() {
    let test = ranked(&[11.0, 12.0, 13.0], &[1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(test.probability(Alternative::Greater), 1.0 / 56.0);
    assert_eq!(test.probability(Alternative::Less), 1.0);
}

#[test]
fn ties_take_the_normal_approximation() {
    let test = ranked(&[2.0, 3.0], &[1.0, 2.0]);
    assert_eq!(test.exact(Alternative::Greater), None);
    assert_eq!(test.probability(Alternative::Greater), test.normal(Alternative::Greater));
}

#[test]
fn the_exact_probability_is_taken_up_to_8_and_10_000() {
    let test = |first: u64, second: u64| RankTest { first, second, twice_u: 0, ties: 0 };
    let is_exact = |test: RankTest| {
        let probability = test.probability(Alternative::Less);
        assert_ne!(
            test.exact(Alternative::Less),
            Some(test.normal(Alternative::Less)),
            "they can be told apart"
        );
        probability != test.normal(Alternative::Less)
    };
    for (first, second, exact) in
        [(8, 9, true), (9, 8, true), (9, 9, false), (1, 10_000, true), (10_001, 1, false)]
    {
        assert_eq!(is_exact(test(first, second)), exact, "{first} and {second}");
    }
}

#[test]
fn equal_values_speak_for_luck() {
    for count in [1, 5, 10_000] {
        let test = ranked(&vec![0.1; count], &vec![0.1; 2 * count]);
        for alternative in [Alternative::Greater, Alternative::Less] {
            assert_eq!(test.probability(alternative), 1.0, "{count}");
        }
    }
}

#[test]
fn a_probability_far_out_is_not_zero() {
    let first: Vec<f64> = (0..200).map(|n| f64::from(n) + 1000.0).collect();
    let second: Vec<f64> = (0..200).map(f64::from).collect();
    let probability = ranked(&first, &second).probability(Alternative::Greater);
    assert!(probability > 0.0 && probability < 1e-60, "{probability}");
}

#[test]
fn exact_work_at_its_largest_is_bearable() {
    // The middle of the largest samples: 40,000 coefficients, eight times.
    let test = RankTest { first: 8, second: EXACT_LARGER_MAX, twice_u: 8 * 10_000, ties: 0 };
    let middle = test.exact(Alternative::Less).expect("few enough arrangements");
    assert!((middle - 0.5).abs() < 1e-4, "{middle}");
}

//! What SciPy and NumPy say of the same samples; `fixtures/rank_test.py` wrote it.

use queryscope_history::{Alternative, RankTest, median, quartiles};
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    rank_test: Vec<Case>,
    quantiles: Vec<Quantiles>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    first: Vec<f64>,
    second: Vec<f64>,
    u: f64,
    greater: Probabilities,
    less: Probabilities,
}

#[derive(Deserialize)]
struct Probabilities {
    auto: f64,
    asymptotic: f64,
    /// Only where there are no ties, and fewer than 2^128 arrangements.
    exact: Option<f64>,
}

#[derive(Deserialize)]
struct Quantiles {
    times: Vec<f64>,
    median: f64,
    quartiles: [f64; 3],
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("../fixtures/rank_test.json")).expect("a fixture")
}

#[track_caller]
fn check(what: &str, ours: f64, theirs: f64) {
    let off = (ours - theirs).abs() / theirs;
    assert!(off < 1e-11, "{what}: {ours} here, {theirs} there: off by {off:e}");
}

#[test]
fn the_rank_test_says_what_scipy_says() {
    let cases = fixture().rank_test;
    assert!(cases.len() > 150, "{} cases", cases.len());
    let mut exact = 0;
    for Case { name, mut first, mut second, u, greater, less } in cases {
        let test = RankTest::of_times(&mut first, &mut second).expect("two samples");
        let name = format!("{name}, {} and {}", first.len(), second.len());
        assert_eq!(test.u(), u, "{name}");
        for (alternative, theirs) in [(Alternative::Greater, greater), (Alternative::Less, less)] {
            let name = format!("{name}, {alternative:?}");
            check(&format!("{name}, auto"), test.probability(alternative), theirs.auto);
            check(&format!("{name}, normal"), test.normal(alternative), theirs.asymptotic);
            assert_eq!(test.exact(alternative).is_some(), theirs.exact.is_some(), "{name}");
            if let (Some(ours), Some(theirs)) = (test.exact(alternative), theirs.exact) {
                check(&format!("{name}, exact"), ours, theirs);
                exact += 1;
            }
        }
    }
    assert!(exact > 100, "{exact} exact ones");
}

#[test]
fn quantiles_are_those_of_numpy() {
    for Quantiles { mut times, median: middle, quartiles: [lower, quartile, upper] } in fixture().quantiles {
        assert_eq!(median(&mut times), Some(middle));
        let ours = quartiles(&mut times).expect("not empty");
        check("lower", ours.lower, lower);
        check("median", ours.median, quartile);
        check("upper", ours.upper, upper);
    }
}

//! The statistics against SciPy and ruptures (`fixtures/statistics.py`).

use queryscope_diagnosis::stats;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

const FIXTURE: &str = include_str!("../fixtures/statistics.json");

#[derive(Deserialize)]
struct Interval {
    values: Vec<f64>,
    median: f64,
    deviation: f64,
    bounds: Option<(f64, f64)>,
}

#[derive(Deserialize)]
struct Beta {
    a: f64,
    b: f64,
    x: f64,
    value: f64,
}

#[derive(Deserialize)]
struct Student {
    t: f64,
    freedom: f64,
    tail: f64,
}

#[derive(Deserialize)]
struct Normal {
    z: f64,
    tail: f64,
}

#[derive(Deserialize)]
struct Moderated {
    first: Vec<f64>,
    second: Vec<f64>,
    tail: f64,
}

#[derive(Deserialize)]
struct Dominance {
    u: f64,
    first: usize,
    second: usize,
    delta: f64,
}

#[derive(Deserialize)]
struct Ranks {
    values: Vec<f64>,
    ranks: Vec<f64>,
}

#[derive(Deserialize)]
struct Failures {
    failed: usize,
    runs: usize,
    before_failed: usize,
    before: usize,
    tail: f64,
}

#[derive(Deserialize)]
struct Cut {
    values: Vec<f64>,
    least: usize,
    place: usize,
    gain: f64,
}

fn each<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let all: Value = serde_json::from_str(FIXTURE).expect("JSON");
    let entries: Vec<T> = serde_json::from_value(all[name].clone()).expect(name);
    assert!(entries.len() >= 3, "{name}");
    entries
}

#[track_caller]
fn near(ours: f64, theirs: f64, what: &str) {
    let error = (ours - theirs).abs() / theirs.abs().max(1e-300);
    assert!(ours == theirs || error < 1e-9, "{what}: {ours} is not {theirs}");
}

#[test]
fn medians_and_their_intervals() {
    for entry in each::<Interval>("intervals") {
        let count = entry.values.len();
        near(stats::median(&mut entry.values.clone()), entry.median, "median");
        let deviation = stats::deviation(&entry.values, entry.median, &mut Vec::new());
        near(deviation, entry.deviation, "deviation");
        let mut values = entry.values.clone();
        let (median, low, high) = stats::median_interval(&mut values).expect("values");
        near(median, entry.median, "median");
        match entry.bounds {
            Some(interval) => assert_eq!((low, high), interval, "{count} values"),
            None => assert_eq!((low, high), (values[0], values[count - 1]), "{count} values"),
        }
    }
    assert_eq!(stats::median_interval(&mut []), None);
}

#[test]
fn tails_of_distributions() {
    for Beta { a, b, x, value } in each("beta") {
        near(stats::incomplete_beta(a, b, x), value, "incomplete beta");
    }
    for Student { t, freedom, tail } in each("students") {
        near(stats::student_tail(t, freedom), tail, "Student");
    }
    for Normal { z, tail } in each("normals") {
        near(stats::normal_tail(z), tail, "normal");
        assert!((stats::normal_quantile(tail) - z).abs() < 1e-6, "{z}");
    }
}

#[test]
fn tests_of_two_samples() {
    for Moderated { first, second, tail } in each("moderated") {
        near(stats::moderated_t(&first, &second), tail, "moderated t");
    }
    for Dominance { u, first, second, delta } in each("dominance") {
        assert!((stats::cliffs_delta(u, first, second) - delta).abs() < 1e-12);
    }
    for entry in each::<Ranks>("ranks") {
        let mut ranks = Vec::new();
        stats::midranks(&entry.values, &mut Vec::new(), &mut ranks);
        assert_eq!(ranks, entry.ranks);
    }
}

#[test]
fn failures_beyond_luck() {
    for Failures { failed, runs, before_failed, before, tail } in each("failures") {
        let ours = stats::failures_tail(failed, runs, before_failed, before);
        assert!((ours - tail).abs() <= 1e-7 * tail, "{failed} of {runs}: {ours} is not {tail}");
    }
}

#[test]
fn the_best_cut() {
    for entry in each::<Cut>("cuts") {
        let (cut, gain) = stats::best_cut(&entry.values, entry.least).expect("long enough");
        assert_eq!(cut, entry.place);
        near(gain, entry.gain, "gain");
    }
    assert_eq!(stats::best_cut(&[1.0, 2.0], 2), None);
}

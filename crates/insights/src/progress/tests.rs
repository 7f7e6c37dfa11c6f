use proptest::prelude::*;

use super::*;

fn tenths() -> Vec<f64> {
    (1..=40).map(|n| f64::from(n) * 100.0).collect()
}

#[test]
fn too_few_runs_say_nothing() {
    assert_eq!(progress(1.0, &[2.0; MIN_RUNS - 1]), None);
    assert!(progress(1.0, &[2.0; MIN_RUNS]).is_some());
}

#[test]
fn the_longer_runs_say_what_may_come() {
    let now = progress(2000.0, &tenths()).expect("a basis");
    assert_eq!((now.runs, now.longer_than, now.usual_wall_ms), (40, 20, 2050.0));
    assert_eq!(now.remaining_ms, Some([200.0, 1000.0, 1800.0]));
    assert_eq!(now.done, Some([2000.0 / 3800.0, 2000.0 / 3000.0]));
}

#[test]
fn who_has_outlasted_the_others_is_predicted_nothing() {
    let late = progress(3800.0, &tenths()).expect("a basis");
    assert_eq!((late.longer_than, late.remaining_ms, late.done), (38, None, None));
    let last = progress(3799.0, &tenths()).expect("a basis");
    assert_eq!((last.longer_than, last.remaining_ms.is_some()), (37, true));
}

proptest! {
    #[test]
    fn it_is_an_interval(elapsed in 0.0..100.0_f64, walls in prop::collection::vec(0.0..200.0_f64, 5..60)) {
        let now = progress(elapsed, &walls).expect("a basis");
        prop_assert!(now.longer_than <= now.runs);
        if let (Some([p10, p50, p90]), Some([low, high])) = (now.remaining_ms, now.done) {
            prop_assert!(0.0 < p10 && p10 <= p50 && p50 <= p90);
            prop_assert!(0.0 <= low && low <= high && high < 1.0);
        }
    }
}

//! What comes after a faster time: that is over, or it is the usual one by then.

use queryscope_diagnosis::Kind;

use crate::told::Told;

/// Runs of so many milliseconds over so many rows.
fn over(told: &mut Told, count: usize, wall_ms: f64, rows: f64) {
    for _ in 0..count {
        let run = told.made(wall_ms, rows);
        told.take(run);
    }
}

/// The first runs of a query are slow, as those with cold caches; then it gets slower than it was since.
#[test]
fn a_slowdown_after_a_cold_start_is_called_by_the_runs_since_that() {
    for (cold, warm) in [(5, 7), (5, 12), (6, 6), (6, 18), (8, 15)] {
        for rows in [1e6, 3e6] {
            for times in [1.7, 2.5, 4.0, 7.0] {
                let mut told = Told::new();
                over(&mut told, cold, 250.0, 1e6);
                over(&mut told, warm, 120.0, 1e6);
                over(&mut told, 8, 120.0 * times, rows);
                let said = format!("{cold}, {warm}, {rows}, {times}: {}", told.lines());
                let change = told.change();
                assert_eq!((change.kind, change.cost.runs), (Kind::Slower, 8), "{said}");
                assert_eq!(change.before.runs, warm as u64, "{said}");
                assert!((change.factor.expect("medians") / times - 1.0).abs() < 0.1, "{said}");
            }
        }
    }
}

#[test]
fn as_long_a_time_as_before_is_no_faster_one_whatever_is_read() {
    let mut told = Told::new();
    over(&mut told, 40, 250.0, 1e6);
    over(&mut told, 10, 120.0, 1e6);
    assert_eq!(told.open(), [(Kind::Faster, 10)]);
    over(&mut told, 6, 250.0, 3e6);
    assert_eq!(told.open(), [], "{}", told.lines());
}

#[test]
fn a_query_that_grew_until_it_took_as_long_as_before_is_no_faster_one() {
    let mut told = Told::new();
    over(&mut told, 40, 200.0, 1e6);
    over(&mut told, 15, 120.0, 1e6);
    for more in (0..80).map(|run| 1.0 + f64::from(run) * 0.03) {
        over(&mut told, 1, 120.0 * more, 1e6 * more);
    }
    assert!(told.open().iter().all(|(kind, _)| *kind != Kind::Faster), "{:?} {}", told.open(), told.lines());
}

//! When a running run is late.

use crate::limits::{LATE_FACTOR, LATE_MS_MIN, LATE_RUNS_MIN};

/// By how much a run is late.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Late {
    /// What nine tenths of the earlier runs took at most, in milliseconds.
    pub p90_ms: f64,
    /// The time of the run so far, by that.
    pub factor: f64,
    /// The time of the run beyond that, in milliseconds.
    pub over_ms: f64,
}

/// Whether a run that has run so long is late by the wall times of earlier ones, in milliseconds; `None` where it is
/// not, or too few are known.
///
/// It is later than all of them, and by a margin past nine tenths: a query whose times scatter is not late each time
/// that it is the slowest so far.
pub fn late(elapsed_ms: f64, earlier_ms: &[f64]) -> Option<Late> {
    let mut walls: Vec<f64> = earlier_ms.iter().copied().filter(|wall_ms| wall_ms.is_finite()).collect();
    if walls.len() < LATE_RUNS_MIN {
        return None;
    }
    walls.sort_by(f64::total_cmp);
    let rank = (walls.len() * 9).div_ceil(10);
    let (p90_ms, longest_ms) = (walls[rank - 1], walls[walls.len() - 1]);
    let over_ms = elapsed_ms - p90_ms;
    let is_late = elapsed_ms > longest_ms && over_ms >= LATE_MS_MIN && elapsed_ms >= LATE_FACTOR * p90_ms;
    (is_late && p90_ms > 0.0).then(|| Late { p90_ms, factor: elapsed_ms / p90_ms, over_ms })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_late_past_all_earlier_ones_by_a_margin() {
        let earlier: Vec<f64> = (1..=20).map(|n| 40_000.0 + f64::from(n) * 100.0).collect();
        assert_eq!(late(45_000.0, &earlier), None, "longer than all, by little");
        assert_eq!(late(62_000.0, &earlier), None, "1.48 times nine tenths of them");
        let found = late(83_600.0, &earlier).expect("late");
        assert_eq!(found, Late { p90_ms: 41_800.0, factor: 2.0, over_ms: 41_800.0 });
        assert_eq!(late(83_600.0, &earlier[..7]), None, "too few");
        // One earlier run took as long: this one may, too.
        let with_one: Vec<f64> = earlier.iter().copied().chain([90_000.0]).collect();
        assert_eq!(late(83_600.0, &with_one), None);
        assert!(late(90_001.0, &with_one).is_some());
    }

    #[test]
    fn short_runs_are_late_only_by_seconds() {
        let earlier = [100.0; 30];
        assert_eq!(late(5_000.0, &earlier), None);
        assert!(late(10_100.0, &earlier).is_some());
        assert_eq!(late(1e9, &[f64::NAN; 30]), None);
        assert_eq!(late(1e9, &[0.0; 30]), None);
    }
}

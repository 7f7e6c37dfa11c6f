//! The verdict of `/api/overview`: do the runs of a label take longer lately than they usually do?
//!
//! Medians say by how much, and a rank test (`rank_test.rs`) says whether chance explains it. What pages call slower is
//! another statistic: a change, which `queryscope-diagnosis` finds.

use serde::{Deserialize, Serialize};

use crate::limits::{SPREAD_RATIO, USUAL_RUNS_MIN, VERDICT_PROBABILITY, VERDICT_RATIO, VERDICT_RUNS_MIN};
use crate::quantile::{Quartiles, quartiles};
use crate::rank_test::{Alternative, RankTest};

/// Whether a label is slower or faster than usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Verdict {
    /// Slower than usual.
    Slower,
    /// Faster than usual.
    Faster,
}

/// The times of the lately runs beside those of the usual runs, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Comparison {
    /// Median of the usual times; unknown for fewer than [`USUAL_RUNS_MIN`].
    pub usual_wall_ms: Option<f64>,
    /// Lower and upper quartile of the usual times; unknown where the median is.
    pub usual_band_ms: Option<[f64; 2]>,
    /// Median of the lately times; unknown when there are none.
    pub recent_wall_ms: Option<f64>,
    /// Lower and upper quartile of the lately times, where [`USUAL_RUNS_MIN`] or more of them lie that far apart that
    /// their median says little: the upper one is at least [`SPREAD_RATIO`] times the lower one.
    pub recent_spread_ms: Option<[f64; 2]>,
    /// The lately median divided by the usual one; unknown when one of them is, or the usual one is 0.
    pub ratio: Option<f64>,
    /// Whether there are [`USUAL_RUNS_MIN`] usual and [`VERDICT_RUNS_MIN`] lately times: enough to be judged by.
    pub judged: bool,
    /// Given when three things hold:
    /// - the times are enough to be judged by;
    /// - the ratio is at least [`VERDICT_RATIO`], or at most one divided by it;
    /// - the one-sided [`RankTest`] in that direction gives less than [`VERDICT_PROBABILITY`].
    pub verdict: Option<Verdict>,
}

impl Comparison {
    /// Compares times. Reorders both.
    pub fn of_times(recent: &mut [f64], usual: &mut [f64]) -> Self {
        let lately = quartiles(recent);
        let recent_wall_ms = lately.map(|lately| lately.median);
        let is_spread =
            |lately: &Quartiles| lately.upper > 0.0 && lately.upper >= SPREAD_RATIO * lately.lower;
        let spread = lately.filter(|lately| recent.len() >= USUAL_RUNS_MIN && is_spread(lately));
        let band = quartiles(usual).filter(|_| usual.len() >= USUAL_RUNS_MIN);
        let usual_wall_ms = band.map(|band| band.median);
        let ratio = recent_wall_ms
            .zip(usual_wall_ms)
            .and_then(|(recent, usual)| Some(recent / usual).filter(|ratio| ratio.is_finite()));
        let judged = band.is_some() && recent.len() >= VERDICT_RUNS_MIN;
        let suspicion = ratio.filter(|_| judged).and_then(suspicion);
        let verdict = suspicion.and_then(|(verdict, alternative)| {
            // Asked only where the medians have moved enough.
            let test = RankTest::of_times(recent, usual)?;
            (test.probability(alternative) < VERDICT_PROBABILITY).then_some(verdict)
        });
        Self {
            usual_wall_ms,
            usual_band_ms: band.map(|band| [band.lower, band.upper]),
            recent_wall_ms,
            recent_spread_ms: spread.map(|lately| [lately.lower, lately.upper]),
            ratio,
            judged,
            verdict,
        }
    }
}

/// What a ratio suggests, if it has moved enough.
fn suspicion(ratio: f64) -> Option<(Verdict, Alternative)> {
    if ratio >= VERDICT_RATIO {
        Some((Verdict::Slower, Alternative::Greater))
    } else if ratio <= 1.0 / VERDICT_RATIO {
        Some((Verdict::Faster, Alternative::Less))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(recent: &[f64], usual: &[f64]) -> Comparison {
        Comparison::of_times(&mut recent.to_vec(), &mut usual.to_vec())
    }

    fn check(recent: &[f64], usual: &[f64], ratio: Option<f64>, verdict: Option<Verdict>) {
        let compared = compare(recent, usual);
        assert_eq!((compared.ratio, compared.verdict), (ratio, verdict), "{recent:?} after {usual:?}");
    }

    /// Ten times around 100, none equal.
    const USUAL: [f64; 10] = [95.0, 96.0, 97.0, 98.0, 99.0, 101.0, 102.0, 103.0, 104.0, 105.0];

    #[test]
    fn a_usual_time_is_known_from_5_runs_on() {
        let four = compare(&[7.0], &[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(four, Comparison { recent_wall_ms: Some(7.0), ..Comparison::default() });
        let five = compare(&[7.0], &[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!((five.usual_wall_ms, five.usual_band_ms), (Some(3.0), Some([2.0, 4.0])));
        assert_eq!(five.ratio, Some(7.0 / 3.0));
    }

    #[test]
    fn a_verdict_needs_3_runs_lately() {
        let usual: Vec<f64> = (0..200).map(|n| 100.0 + f64::from(n) / 100.0).collect();
        let median = 100.995;
        check(&[900.0, 901.0], &usual, Some(900.5 / median), None);
        assert!(!compare(&[900.0, 901.0], &usual).judged && compare(&[900.0, 901.0, 902.0], &usual).judged);
        assert!(!compare(&[900.0, 901.0, 902.0], &usual[..4]).judged, "4 usual times are too few");
        assert!(compare(&[100.0; 3], &usual[..5]).judged, "also where nothing moved");
        check(&[900.0, 901.0, 902.0], &usual, Some(901.0 / median), Some(Verdict::Slower));
    }

    #[test]
    fn a_factor_of_exactly_1_5_is_enough() {
        check(&[149.0, 150.0, 151.0], &USUAL, Some(1.5), Some(Verdict::Slower));
        check(&[149.0, 149.999, 151.0], &USUAL, Some(1.49999), None);
        let high = USUAL.map(|ms| ms * 1.5);
        check(&[91.0, 100.0, 107.0], &high, Some(100.0 / 150.0), Some(Verdict::Faster));
        check(&[91.0, 100.001, 107.0], &high, Some(100.001 / 150.0), None);
    }

    #[test]
    fn luck_must_be_under_1_percent() {
        // Three values above all of n others: 1 arrangement of (n + 3 over 3), 56 for 5, 120 for 7, 84 for 6.
        for (usual, verdict) in [(5, None), (6, None), (7, Some(Verdict::Slower))] {
            check(&[300.0, 301.0, 302.0], &USUAL[..usual], compare(&[301.0], &USUAL[..usual]).ratio, verdict);
        }
        // The median has moved, but among the usual times are some as long.
        let mixed = [10.0, 11.0, 12.0, 13.0, 14.0, 90.0, 91.0, 92.0, 93.0];
        check(&[20.0, 50.0, 51.0], &mixed, Some(50.0 / 14.0), None);
    }

    #[test]
    fn the_quartiles_of_lately_are_told_where_the_median_says_little() {
        let spread = |recent: &[f64]| compare(recent, &USUAL).recent_spread_ms;
        let two_plans = [2.0, 2.2, 2.4, 45_000.0, 45_010.0, 45_020.0];
        assert_eq!(spread(&two_plans), Some([2.25, 45_007.5]));
        assert_eq!(spread(&two_plans[1..5]), None, "too few");
        assert_eq!(spread(&[10.0, 10.0, 20.0, 40.0, 40.0]), Some([10.0, 40.0]));
        assert_eq!(spread(&[10.0, 10.0, 20.0, 39.9, 40.0]), None);
        assert_eq!((spread(&[0.0; 9]), spread(&[0.0, 0.0, 0.0, 5.0, 5.0])), (None, Some([0.0, 5.0])));
    }

    #[test]
    fn nothing_is_said_where_there_is_nothing() {
        check(&[], &USUAL, None, None);
        check(&[1.0, 2.0, 3.0], &[], None, None);
        check(&[1.0, 2.0, 3.0], &[0.0; 10], None, None);
        check(&[0.0; 3], &[0.0; 10], None, None);
    }

    #[test]
    fn a_query_that_now_takes_no_time_is_faster() {
        check(&[0.0; 3], &USUAL, Some(0.0), Some(Verdict::Faster));
    }
}

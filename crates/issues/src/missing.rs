//! Queries that did not run when they usually do.
//!
//! The problem: most queries stop now and then, at night, on weekends or for good, and each of these looks like a
//! query that is missing. The mechanism has two steps. A query is overdue where most of the gaps between its starts are
//! alike, and the time since its last start is longer than these. It is missing where it ran in the same hours of the
//! days before, and of the week before: what pauses at night or on a weekend did not. An irregular query is never
//! overdue, and one of less than a week is never missing.

use crate::limits::{
    MISSING_ALIKE_PARTS, MISSING_DAYS_LACKING_MAX, MISSING_RUNS_MIN, MISSING_SLACK_NS, MISSING_TOLERANCE,
};

const DAY_NS: i64 = 86_400_000_000_000;
/// Days of a week: of this shift nearly all rhythms are alike.
const WEEK_DAYS: i64 = 7;
/// Days that are looked back.
const DAYS: i64 = 14;

/// How often a query runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rhythm {
    /// Median of the gaps between starts, in nanoseconds.
    pub every_ns: i64,
    /// So long after a start the next one is overdue, in nanoseconds.
    pub limit_ns: i64,
}

/// The rhythm of starts in ascending order, in Unix nanoseconds; `None` where they are too few, or irregular.
pub fn rhythm(starts: &[i64]) -> Option<Rhythm> {
    if starts.len() < MISSING_RUNS_MIN {
        return None;
    }
    let mut gaps: Vec<i64> = starts.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    gaps.sort_unstable();
    let every_ns = gaps[gaps.len() / 2];
    let is_alike = |gap: &i64| *gap >= every_ns / 2 && *gap <= every_ns / 2 * 3;
    let alike: Vec<i64> = gaps.iter().copied().filter(is_alike).collect();
    let (parts, whole) = MISSING_ALIKE_PARTS;
    if every_ns <= 0 || alike.len() * whole < gaps.len() * parts {
        return None;
    }
    let long = alike[(alike.len() * 9 / 10).min(alike.len() - 1)];
    let limit_ns = (long as f64 * MISSING_TOLERANCE) as i64 + MISSING_SLACK_NS;
    Some(Rhythm { every_ns, limit_ns })
}

impl Rhythm {
    /// The times in which a query that is not missing would have run: those since its last start, so many days before,
    /// less what a start may come later than another day. They begin half a gap after that start, which may itself have
    /// come later on another day. Each is open at its begin and closed at its end.
    pub fn windows_before(
        self,
        last_unix_ns: i64,
        now_unix_ns: i64,
    ) -> impl Iterator<Item = (i64, (i64, i64))> {
        let after = last_unix_ns.saturating_add(self.every_ns / 2);
        let until = now_unix_ns.saturating_sub(self.limit_ns.saturating_sub(self.every_ns));
        (1..=DAYS).map(move |days| {
            let shift = days * DAY_NS;
            (days, (after.saturating_sub(shift), until.saturating_sub(shift)))
        })
    }
}

/// Whether a query is missing that is overdue. `ran` says whether it ran in the window of so many days before;
/// `first_unix_ns` is its first start that is known.
pub fn is_missing(
    first_unix_ns: i64,
    last_unix_ns: i64,
    now_unix_ns: i64,
    ran: impl Fn(i64) -> bool,
) -> bool {
    let is_known = |days: i64| first_unix_ns <= last_unix_ns.saturating_sub(days * DAY_NS);
    if !is_known(WEEK_DAYS) || !ran(WEEK_DAYS) || (is_known(2 * WEEK_DAYS) && !ran(2 * WEEK_DAYS)) {
        return false;
    }
    let is_weekend = |unix_ns: i64| (unix_ns.div_euclid(DAY_NS) + 3).rem_euclid(WEEK_DAYS) >= 5;
    let is_alike = |days: &i64| is_weekend(now_unix_ns - days * DAY_NS) == is_weekend(now_unix_ns);
    let lacking = (1..WEEK_DAYS).filter(is_alike).filter(|days| !ran(*days)).count();
    lacking <= MISSING_DAYS_LACKING_MAX
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOUR_NS: i64 = DAY_NS / 24;
    const MINUTE_NS: i64 = HOUR_NS / 60;
    /// Monday, 2 November 2026, 00:00 UTC.
    const MONDAY: i64 = 1_793_577_600_000_000_000;

    /// Whether a query of these starts is missing at a time.
    fn missing(starts: &[i64], now: i64) -> bool {
        let known: Vec<i64> = starts.iter().copied().filter(|start| *start <= now).collect();
        let last_few = &known[known.len().saturating_sub(60)..];
        let (Some(rhythm), Some(&last), Some(&first)) = (rhythm(last_few), known.last(), known.first())
        else {
            return false;
        };
        let windows: Vec<(i64, (i64, i64))> = rhythm.windows_before(last, now).collect();
        let ran = |days: i64| {
            let (_, (after, until)) = windows[days as usize - 1];
            known.iter().any(|start| *start > after && *start <= until)
        };
        now - last > rhythm.limit_ns && is_missing(first, last, now, ran)
    }

    /// The first time within so many days after the last start when it is missing, looked at every five minutes.
    fn first_missing(starts: &[i64], days: i64) -> Option<i64> {
        let last = *starts.last().expect("a start");
        (0..days * 288).map(|step| last + step * 5 * MINUTE_NS).find(|now| missing(starts, *now))
    }

    /// Whether it ever is while it runs.
    fn ever_missing(starts: &[i64]) -> bool {
        let until = *starts.last().expect("a start");
        let mut now = starts[0];
        while now < until {
            if missing(starts, now) {
                return true;
            }
            now += 17 * MINUTE_NS;
        }
        false
    }

    fn every(gap: i64, days: i64) -> Vec<i64> {
        (0..days * DAY_NS / gap).map(|n| MONDAY + n * gap).collect()
    }

    #[test]
    fn a_query_that_ends_is_missing_soon_after_it_is_due() {
        for (gap, days, soon) in
            [(10 * MINUTE_NS, 9, 0.4), (HOUR_NS, 10, 1.5), (6 * HOUR_NS, 20, 8.0), (DAY_NS, 25, 31.0)]
        {
            let starts = every(gap, days);
            let found = first_missing(&starts, 3).expect("it is missing");
            let after = (found - starts.last().expect("a start")) as f64 / HOUR_NS as f64;
            assert!(after <= soon && after * HOUR_NS as f64 > gap as f64, "every {gap}: after {after} h");
        }
    }

    #[test]
    fn a_query_of_a_few_runs_or_days_is_never_missing() {
        assert_eq!(first_missing(&every(DAY_NS, 11), 5), None);
        assert_eq!(first_missing(&every(HOUR_NS, 6), 5), None);
        assert_eq!(rhythm(&[]), None);
        assert_eq!(rhythm(&[5; 40]), None);
    }

    #[test]
    fn weekends_and_nights_are_no_absence() {
        let is_weekday = |start: &i64| (start - MONDAY) / DAY_NS % 7 < 5;
        let is_day = |start: &i64| (8..20).contains(&((start - MONDAY) / HOUR_NS % 24));
        let daily: Vec<i64> = every(DAY_NS, 40).into_iter().filter(is_weekday).collect();
        let hourly: Vec<i64> = every(HOUR_NS, 30).into_iter().filter(is_weekday).filter(is_day).collect();
        let minutes: Vec<i64> = every(10 * MINUTE_NS, 24).into_iter().filter(is_day).collect();
        for starts in [daily, hourly.clone(), minutes] {
            assert!(!ever_missing(&starts), "{} starts", starts.len());
        }
        // Starts of a day come somewhat earlier or later than those of another.
        let uneven: Vec<i64> = hourly
            .iter()
            .zip((0..).map(|n: i64| n * 7 % 11 - 5))
            .map(|(start, minutes)| start + minutes * MINUTE_NS)
            .collect();
        assert!(!ever_missing(&uneven));
        // It does not come back on the Monday.
        let until = MONDAY + 28 * DAY_NS;
        let ended: Vec<i64> = hourly.into_iter().filter(|start| *start < until).collect();
        let found = first_missing(&ended, 6).expect("it is missing");
        let after = (found - until) as f64 / HOUR_NS as f64;
        assert!((8.0..11.0).contains(&after), "{after} h after midnight on Monday");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 48, ..ProptestConfig::default() })]

        #[test]
        fn an_irregular_query_is_rarely_missing(gaps in proptest::collection::vec(0.0..1.0_f64, 200..400)) {
            // A Poisson process of a run every two hours, over weeks.
            let mut at = MONDAY;
            let starts: Vec<i64> = gaps
                .iter()
                .map(|uniform| {
                    at += (-(1.0 - uniform).max(1e-9).ln() * 2.0 * HOUR_NS as f64) as i64;
                    at
                })
                .collect();
            prop_assert!(!ever_missing(&starts));
            prop_assert_eq!(first_missing(&starts, 4), None);
        }

        #[test]
        fn a_regular_query_with_jitter_is_never_missing_while_it_runs(
            jitter in proptest::collection::vec(-0.1..0.1_f64, 300),
            every in prop_oneof![Just(30 * MINUTE_NS), Just(HOUR_NS), Just(3 * HOUR_NS)],
        ) {
            let mut at = MONDAY;
            let starts: Vec<i64> = jitter
                .iter()
                .map(|part| {
                    at += every + (every as f64 * part) as i64;
                    at
                })
                .collect();
            prop_assert!(!ever_missing(&starts));
        }
    }
}

//! When queries run and how busy it is then.

use std::f64::consts::TAU;
use std::time::Duration;

use rand::RngExt;
use rand::rngs::StdRng;

const NS_PER_SECOND: i64 = 1_000_000_000;
const NS_PER_HOUR: i64 = 3600 * NS_PER_SECOND;
const NS_PER_DAY: i64 = 24 * NS_PER_HOUR;
/// 1970 began on a Thursday; days of the week count from Monday.
const WEEKDAY_OF_DAY_0: i64 = 3;
/// A scheduler starts a job up to this long after it is due.
const LATE_NS_MAX: i64 = 4 * NS_PER_SECOND;
/// On demand, a query starts at most once in a slot of this length.
const SLOT_NS: i64 = 300 * NS_PER_SECOND;

/// When the queries of a label run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Schedule {
    /// Every so often, this long after midnight UTC.
    Every(Duration, Duration),
    /// When somebody asks: so many times on a workday, mostly by day.
    OnDemand(f64),
}

impl Schedule {
    /// Start times from `since_unix_ns` on and before `until_unix_ns`, in order.
    pub(super) fn starts(self, rng: &mut StdRng, since_unix_ns: i64, until_unix_ns: i64) -> Vec<i64> {
        let (step, first, chance) = match self {
            Self::Every(every, after) => {
                let every = every.as_nanos() as i64;
                (every, after.as_nanos() as i64 % every, None)
            }
            Self::OnDemand(a_day) => (SLOT_NS, 0, Some(a_day * SLOT_NS as f64 / NS_PER_DAY as f64)),
        };
        let mut starts = Vec::new();
        let mut due = since_unix_ns - (since_unix_ns - first).rem_euclid(step);
        while due < until_unix_ns {
            let start = match chance {
                None => Some(due + rng.random_range(0..LATE_NS_MAX)),
                Some(chance) if rng.random_bool((chance * interest(due)).min(1.0)) => {
                    Some(due + rng.random_range(0..SLOT_NS))
                }
                Some(_) => None,
            };
            starts.extend(start.filter(|start| (since_unix_ns..until_unix_ns).contains(start)));
            due += step;
        }
        starts
    }
}

/// How much longer than usual everything takes at a time, because of all that runs next to it: at most 1.2, in
/// the early afternoon of a workday.
pub(super) fn load(unix_ns: i64) -> f64 {
    let (weekday, hour) = clock(unix_ns);
    let weight = if weekday < 5 { 0.2 } else { 0.05 };
    1.0 + weight * ((hour - 14.0) / 24.0 * TAU).cos().max(0.0)
}

/// How often people ask at a time, compared with the mean of a workday.
fn interest(unix_ns: i64) -> f64 {
    let (weekday, hour) = clock(unix_ns);
    let by_hour = match hour {
        7.0..19.0 => 1.75,
        5.0..7.0 | 19.0..23.0 => 0.4,
        _ => 0.09,
    };
    if weekday < 5 { by_hour } else { by_hour * 0.25 }
}

/// The day of the week from 0, and the hour of the day.
fn clock(unix_ns: i64) -> (i64, f64) {
    let weekday = (unix_ns.div_euclid(NS_PER_DAY) + WEEKDAY_OF_DAY_0).rem_euclid(7);
    (weekday, unix_ns.rem_euclid(NS_PER_DAY) as f64 / NS_PER_HOUR as f64)
}

/// A factor around 1, as run times scatter: log-normal with the median 1.
pub(super) fn log_normal(rng: &mut StdRng, sigma: f64) -> f64 {
    // Box and Muller's way from two uniform numbers to a normal one; the first must not be 0.
    let (a, b): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
    let normal = (-2.0 * a.ln()).sqrt() * (TAU * b).cos();
    (sigma * normal).exp()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// A Monday's midnight.
    const MONDAY_UNIX_NS: i64 = 1_799_625_600 * NS_PER_SECOND;

    fn starts(schedule: Schedule, days: i64) -> Vec<i64> {
        let mut rng = StdRng::seed_from_u64(1);
        schedule.starts(&mut rng, MONDAY_UNIX_NS, MONDAY_UNIX_NS + days * NS_PER_DAY)
    }

    #[test]
    fn jobs_start_when_due_or_a_little_later() {
        let daily = Schedule::Every(Duration::from_hours(24), Duration::from_mins(135));
        let starts = starts(daily, 7);
        assert_eq!(starts.len(), 7);
        for (day, start) in (0..).zip(starts) {
            let late = start - (MONDAY_UNIX_NS + day * NS_PER_DAY + 135 * 60 * NS_PER_SECOND);
            assert!((0..LATE_NS_MAX).contains(&late), "{late}");
        }
    }

    #[test]
    fn people_ask_by_day_and_on_workdays() {
        let starts = starts(Schedule::OnDemand(100.0), 70);
        assert!(starts.is_sorted());
        let workdays = starts.iter().filter(|start| clock(**start).0 < 5).count();
        assert!((4_500..5_500).contains(&workdays), "{workdays} in 50 days");
        let by_day = starts.iter().filter(|start| (7.0..19.0).contains(&clock(**start).1)).count();
        assert!(by_day * 10 > starts.len() * 8, "{by_day} of {}", starts.len());
    }

    #[test]
    fn it_is_busy_in_the_afternoon() {
        let at = |hour: i64| load(MONDAY_UNIX_NS + hour * NS_PER_HOUR);
        assert!(at(14) > 1.19 && at(14) < 1.21, "{}", at(14));
        assert!(at(10) > at(3), "{} {}", at(10), at(3));
        assert!(load(MONDAY_UNIX_NS - NS_PER_HOUR * 10) < 1.06, "a Sunday");
    }

    #[test]
    fn factors_scatter_around_1() {
        let mut rng = StdRng::seed_from_u64(1);
        let mut factors: Vec<f64> = (0..10_001).map(|_| log_normal(&mut rng, 0.3)).collect();
        factors.sort_by(f64::total_cmp);
        let (low, median, high) = (factors[1587], factors[5000], factors[8413]);
        assert!((0.97..1.03).contains(&median), "{median}");
        assert!((-0.33..-0.27).contains(&low.ln()) && (0.27..0.33).contains(&high.ln()), "{low} {high}");
    }
}

//! What is known to move the time of a run: where and when it ran, and how many rows it read.
//!
//! A change of the query is a change of the time that is left when those are taken out. The model is
//! multiplicative, so it is additive in logarithms: a level for each host, weekday or weekend, quarter of the
//! day, and hour of it, found one after the other as medians of what the ones before left (median polish, J. W. Tukey,
//! *Exploratory Data Analysis*, 1977, chapter 11), and a slope for the rows read. A level counts from
//! [`STRATUM_RUNS_MIN`](crate::limits::STRATUM_RUNS_MIN) runs on and is drawn towards none the more the fewer
//! runs it has and the less hosts differ (the positive-part estimator of James and Stein, 1961). The slope has
//! the prior that twice the rows take twice the time.

use std::collections::BTreeMap;

use crate::limits::STRATUM_RUNS_MIN;
use crate::series::Point;
use crate::stats::{deviation, median};

/// A day in nanoseconds.
pub(crate) const DAY_NS: i64 = 86_400_000_000_000;
/// How far, in logarithms, a slope may lie from 1 before a run is seen (standard deviation).
const SLOPE_PRIOR: f64 = 0.4;

/// The strata of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Stratum {
    Host(u32),
    Weekend(bool),
    Quarter(u8),
    Hour(u8),
}

/// Whether a moment lies on a Saturday or Sunday, in UTC.
pub(crate) fn is_weekend(unix_ns: i64) -> bool {
    // The first of January 1970 was a Thursday.
    matches!((unix_ns.div_euclid(DAY_NS) + 3).rem_euclid(7), 5 | 6)
}

/// The quarter of the day of a moment, in UTC.
fn quarter(unix_ns: i64) -> u8 {
    unix_ns.div_euclid(DAY_NS / 4).rem_euclid(4) as u8
}

/// The hour of the day of a moment, in UTC.
fn hour(unix_ns: i64) -> u8 {
    unix_ns.div_euclid(DAY_NS / 24).rem_euclid(24) as u8
}

fn strata(point: &Point) -> [Stratum; 4] {
    [
        Stratum::Host(point.host),
        Stratum::Weekend(is_weekend(point.started_unix_ns)),
        Stratum::Quarter(quarter(point.started_unix_ns)),
        Stratum::Hour(hour(point.started_unix_ns)),
    ]
}

/// What the strata and the rows of a run make of its time.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Adjustment {
    levels: Vec<(Stratum, f64)>,
    /// Slope of the logarithm of time by that of rows, and the rows it is about.
    slope: f64,
    rows: Option<f64>,
}

impl Adjustment {
    /// From runs of a time in which nothing is suspected to have changed.
    pub(crate) fn fit(points: &[Point], scratch: &mut Scratch) -> Self {
        let mut fitted = Self::default();
        let rest = &mut scratch.rest;
        rest.clear();
        rest.extend(points.iter().map(|point| point.wall));
        let middle = median(&mut rest.clone());
        fitted.fit_rows(points, middle, scratch);
        for factor in 0..4 {
            let mut by_level: BTreeMap<Stratum, Vec<f64>> = BTreeMap::new();
            for (point, &rest) in points.iter().zip(&scratch.rest) {
                by_level.entry(strata(point)[factor]).or_default().push(rest);
            }
            if by_level.len() < 2 {
                continue;
            }
            let all = median(&mut scratch.rest.clone());
            let spread = deviation(&scratch.rest, all, &mut scratch.buffer).max(1e-3);
            let mut found = Vec::new();
            for (level, mut values) in by_level {
                if values.len() < STRATUM_RUNS_MIN {
                    continue;
                }
                let effect = median(&mut values) - all;
                // A median of n values is as uncertain as a mean of 2 n / pi.
                let uncertain = spread * spread * std::f64::consts::FRAC_PI_2 / values.len() as f64;
                let kept = (1.0 - uncertain / (effect * effect)).max(0.0);
                if effect.abs() > 2.0 * uncertain.sqrt() {
                    found.push((level, effect * kept));
                }
            }
            if found.is_empty() {
                continue;
            }
            for (point, rest) in points.iter().zip(&mut scratch.rest) {
                let own = strata(point)[factor];
                *rest -= found.iter().find(|(level, _)| *level == own).map_or(0.0, |(_, effect)| *effect);
            }
            fitted.levels.extend(found);
        }
        fitted
    }

    fn fit_rows(&mut self, points: &[Point], middle: f64, scratch: &mut Scratch) {
        scratch.buffer.clear();
        scratch.buffer.extend(points.iter().filter_map(Point::known_rows));
        if scratch.buffer.len() < points.len().div_ceil(2) || scratch.buffer.is_empty() {
            return;
        }
        let rows = median(&mut scratch.buffer);
        let spread = deviation(&scratch.rest, middle, &mut scratch.buffer).max(0.02);
        let bound = 3.0 * spread;
        let (mut xy, mut xx) = (0.0, 0.0);
        for point in points {
            let Some(x) = point.known_rows() else { continue };
            let x = (x - rows).clamp(-3.0, 3.0);
            xy += x * (point.wall - middle - x).clamp(-bound, bound);
            xx += x * x;
        }
        let prior = (spread / SLOPE_PRIOR).powi(2);
        self.slope = (1.0 + xy / (xx + prior)).clamp(0.0, 1.6);
        self.rows = Some(rows);
        for (point, rest) in points.iter().zip(&mut scratch.rest) {
            *rest -= point.known_rows().map_or(0.0, |x| self.slope * (x - rows));
        }
    }

    /// The logarithm of a run's time without what its strata and its rows make of it.
    pub(crate) fn rest(&self, point: &Point) -> f64 {
        let by_rows = point.known_rows().zip(self.rows).map_or(0.0, |(x, rows)| self.slope * (x - rows));
        point.wall - self.level(point) - by_rows
    }

    /// The same, its rows left in.
    pub(crate) fn rest_with_rows(&self, point: &Point) -> f64 {
        point.wall - self.level(point)
    }

    /// What the hour and the quarter of the day make of it.
    pub(crate) fn of_the_day(&self, point: &Point) -> f64 {
        let [_host, _weekend, of_the_day @ ..] = strata(point);
        self.levels_of(&of_the_day)
    }

    fn level(&self, point: &Point) -> f64 {
        self.levels_of(&strata(point))
    }

    fn levels_of(&self, own: &[Stratum]) -> f64 {
        self.levels.iter().filter(|(level, _)| own.contains(level)).map(|(_, effect)| effect).sum()
    }
}

/// Memory that is used again.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) rest: Vec<f64>,
    pub(crate) buffer: Vec<f64>,
}

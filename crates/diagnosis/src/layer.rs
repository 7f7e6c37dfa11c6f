//! An open change of time: both sides, and the evidence that it is over.

use std::sync::Arc;

use queryscope_protocol::QueryId;

use crate::adjust::{Adjustment, Scratch};
use crate::cause::OtherHosts;
use crate::change::{Change, Kind};
use crate::features::RunFeatures;
use crate::limits::{AFTER_RUNS_MIN, RECOVERY_EVIDENCE};
use crate::series::{Entry, Point, Series};
use crate::stats::{deviation, median};

/// The most a single run may say for or against recovery.
const EVIDENCE_A_RUN: f64 = 3.0;
/// From here on runs on other hosts changed as well: 1.1 times the time, in logarithms.
const OTHERS_MOVED: f64 = 0.095;

/// An open change of time.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    pub(crate) change: Change,
    /// First run after it.
    pub(crate) since: (i64, QueryId),
    /// Environment of its runs.
    pub(crate) environment: u32,
    /// The one host it is about.
    pub(crate) host: Option<u32>,
    /// Whether times are compared whatever rows were read: the rows are the change, or another plan makes them.
    pub(crate) by_rows: bool,
    /// Runs before it, oldest first.
    pub(crate) before: Arc<Vec<RunFeatures>>,
    /// Those of them that failed are counted alone.
    pub(crate) before_failed: u64,
    /// Runs since it that finished.
    pub(crate) runs: u64,
    /// Those that failed.
    pub(crate) failed: u64,
    /// Wall and CPU time over the usual, in milliseconds.
    pub(crate) extra_wall_ms: f64,
    pub(crate) extra_cpu_ms: f64,
    pub(crate) levels: Levels,
    /// The largest shift between them.
    pub(crate) peak: f64,
    pub(crate) adjustment: Adjustment,
    /// Evidence that runs are as before, and the first run of it.
    pub(crate) evidence: f64,
    pub(crate) quiet_since: Option<(i64, QueryId)>,
    /// At how many runs the causes are judged anew.
    pub(crate) next_refresh: u64,
}

/// Where the two sides lie, in logarithms.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Levels {
    pub(crate) before: f64,
    pub(crate) after: f64,
    pub(crate) spread: f64,
}

impl Levels {
    pub(crate) fn of(before: &[f64], after: &[f64], scratch: &mut Scratch) -> Self {
        let mut middle = |values: &[f64]| {
            scratch.rest.clear();
            scratch.rest.extend_from_slice(values);
            median(&mut scratch.rest)
        };
        let (then, now) = (middle(before), middle(after));
        let spread = deviation(before, then, &mut scratch.buffer).max(0.05);
        Self { before: then, after: now, spread }
    }
}

impl Layer {
    /// A change that was just found, with nothing counted yet.
    pub(crate) fn new(kind: Kind, since: (i64, QueryId), confirmed_unix_ns: i64, environment: u32) -> Self {
        Self {
            change: Change::new(kind, since, confirmed_unix_ns),
            since,
            environment,
            host: None,
            by_rows: false,
            before: Arc::default(),
            before_failed: 0,
            runs: 0,
            failed: 0,
            extra_wall_ms: 0.0,
            extra_cpu_ms: 0.0,
            levels: Levels::default(),
            peak: 0.0,
            adjustment: Adjustment::default(),
            evidence: 0.0,
            quiet_since: None,
            next_refresh: 0,
        }
    }

    /// Adds what a run cost over the usual.
    pub(crate) fn pay(&mut self, point: &Point) {
        let over = |side: Option<f64>, ns: f64| side.map_or(0.0, |usual| ns / 1e6 - usual);
        self.extra_wall_ms += over(self.change.before.median_wall_ms, point.wall.exp());
        if !point.cpu.is_nan() {
            self.extra_cpu_ms += over(self.change.before.median_cpu_ms, f64::from(point.cpu));
        }
    }

    /// Says what it cost until a moment. In its first day, what it costs a day is what its runs cost, times the runs a
    /// day.
    pub(crate) fn settle_cost(&mut self, until_unix_ns: i64, series: &Series) {
        let days = (until_unix_ns - self.since.0) as f64 / 86_400e9;
        let wall_ms_a_day = if days < 1.0 {
            let runs = self.runs.max(1) as f64;
            self.extra_wall_ms / runs * series.runs_a_day_of(|point| self.is_about(point)).max(runs)
        } else {
            self.extra_wall_ms / days
        };
        let cost = &mut self.change.cost;
        cost.runs = self.runs;
        cost.extra_wall_ms = self.extra_wall_ms;
        cost.extra_cpu_ms = self.extra_cpu_ms;
        cost.wall_ms_a_day = wall_ms_a_day;
    }

    /// A run's time as the layer's levels count it.
    pub(crate) fn value(&self, point: &Point) -> f64 {
        if self.by_rows { self.adjustment.rest_with_rows(point) } else { self.adjustment.rest(point) }
    }

    /// The times of the runs before it; of one host, of those there.
    pub(crate) fn values_before(&self) -> Vec<f64> {
        let points = self.before.iter().map(Point::new);
        points.filter(|point| self.is_about(point)).map(|point| self.value(&point)).collect()
    }

    pub(crate) fn is_about(&self, point: &Point) -> bool {
        point.environment == self.environment && self.host.is_none_or(|host| host == point.host)
    }

    /// Whether a new run makes it certain that runs are as they were before: the cumulative sum of logarithms
    /// of likelihood ratios (E. S. Page, "Continuous Inspection Schemes", Biometrika 41 (1954)) of the two
    /// levels, each bounded so that no single run decides.
    pub(crate) fn recovers(&mut self, point: &Point) -> bool {
        let Levels { before, after, spread } = self.levels;
        let mut value = self.value(point);
        if self.change.kind == Kind::Faster {
            // What reads more rows in as long a time is no faster run.
            value = value.max(self.adjustment.rest_with_rows(point));
        }
        // A level a third of the way back is none of the two.
        let (near, far) = (before + (after - before) / 4.0, after);
        let ratio_of =
            |value: f64| ((value - far).powi(2) - (value - near).powi(2)) / (2.0 * spread * spread);
        // A run that its hour alone makes one of before says nothing: what an hour takes is known from few runs.
        let at_any_hour = ratio_of(value + self.adjustment.of_the_day(point)).max(0.0);
        let ratio = ratio_of(value).min(at_any_hour);
        self.evidence = (self.evidence + ratio.clamp(-EVIDENCE_A_RUN, EVIDENCE_A_RUN)).max(0.0);
        if self.evidence <= 0.0 {
            self.quiet_since = None;
        } else if self.quiet_since.is_none() {
            self.quiet_since = Some(point.place());
        }
        self.evidence >= RECOVERY_EVIDENCE
    }
}

/// The one host whose runs changed while those of the others did not, or hardly.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OneHost {
    pub(crate) host: u32,
    pub(crate) others: OtherHosts,
}

pub(crate) fn the_one_host(layer: &Layer, after: &[&Entry]) -> Option<OneHost> {
    let mut hosts: Vec<u32> = after.iter().map(|entry| entry.point.host).collect();
    hosts.sort_unstable();
    hosts.dedup();
    if hosts.len() < 2 {
        return layer.host.map(|host| OneHost { host, others: OtherHosts::AsBefore });
    }
    let before: Vec<Point> = layer.before.iter().map(Point::new).collect();
    let shift = |on: &dyn Fn(u32) -> bool| {
        let mut now: Vec<f64> = after
            .iter()
            .filter(|entry| on(entry.point.host))
            .map(|entry| layer.value(&entry.point))
            .collect();
        let of = |point: &&Point| on(point.host);
        let mut then: Vec<f64> = before.iter().filter(of).map(|point| layer.value(point)).collect();
        if then.len() < AFTER_RUNS_MIN {
            then = before.iter().map(|point| layer.value(point)).collect();
        }
        (now.len() >= 2 && !then.is_empty()).then(|| median(&mut now) - median(&mut then))
    };
    hosts.into_iter().filter(|&host| host != 0).find_map(|host| {
        let (own, others) = (shift(&|each| each == host), shift(&|each| each != host));
        let Some(others) = others else {
            return (layer.host == Some(host)).then_some(OneHost { host, others: OtherHosts::AsBefore });
        };
        // A host that was named stays so until the others show half of the shift.
        let part = if layer.host == Some(host) { 0.4 } else { 0.3 };
        let own = own.filter(|own| own * layer.change.kind.sign() > 0.0 && own.abs() >= 0.2)?;
        let moved = others * own.signum();
        let others = if moved.abs() < OTHERS_MOVED { OtherHosts::AsBefore } else { OtherHosts::Moved };
        (moved < own.abs() * part).then_some(OneHost { host, others })
    })
}

impl Kind {
    fn sign(self) -> f64 {
        if self == Self::Faster { -1.0 } else { 1.0 }
    }
}

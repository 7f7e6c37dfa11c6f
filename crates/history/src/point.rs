//! Runs whose names are numbers: what many runs are told from.

use std::collections::HashMap;
use std::sync::Arc;

use queryscope_protocol::QueryId;

use crate::failure::Failure;
use crate::run::Run;

/// A run in 32 bytes; what it ran and where are numbers in [`Names`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// When it started, in Unix nanoseconds.
    pub started_unix_ns: i64,
    /// Its part in medians and totals, in milliseconds; NaN where it has none ([`Run::time_ms`]).
    pub time_ms: f64,
    /// Tells runs of one start apart: of two, the one with the larger number is the later one.
    pub number: u32,
    /// Number of its plan.
    pub plan: u32,
    /// Number of its service.
    pub service: u32,
    /// Whether it failed.
    pub failure: Failure,
}

impl Point {
    /// Its time, if it has one.
    pub(crate) fn time(&self) -> Option<f64> {
        (!self.time_ms.is_nan()).then_some(self.time_ms)
    }

    /// Its place among others.
    pub(crate) fn place(&self) -> Place {
        (self.started_unix_ns, self.number)
    }
}

/// Start and number of a run: runs stand in this order.
pub(crate) type Place = (i64, u32);

/// The names behind the numbers of some [`Point`]s.
#[derive(Debug, Clone, Default)]
pub struct Names<'a> {
    /// Plans by number.
    pub plans: Vec<PlanNames<'a>>,
    /// Services by number; shared by the labels they are told of.
    pub services: Arc<[Option<&'a str>]>,
}

/// The names of a plan, and of what warned where it ran. Two numbers may stand for plans of one fingerprint.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct PlanNames<'a> {
    /// Stands for the hash of the plan: equal where that is.
    pub fingerprint: Option<i64>,
    /// Names of the insights that warned.
    pub rules: Vec<&'a str>,
}

/// Runs as points, in order.
pub(crate) struct Numbered<'a> {
    pub(crate) points: Vec<Point>,
    pub(crate) names: Names<'a>,
    /// What the numbers of fingerprints stand for.
    pub(crate) fingerprints: Vec<&'a str>,
    /// The run of each point's number.
    pub(crate) query_ids: Vec<QueryId>,
}

impl<'a> Numbered<'a> {
    pub(crate) fn of(runs: impl IntoIterator<Item = Run<'a>>) -> Self {
        let mut ordered: Vec<Run<'a>> = runs.into_iter().collect();
        ordered.sort_unstable_by_key(Run::place);
        let (mut plans, mut services) = (Numbers::default(), Numbers::default());
        let mut fingerprints = Numbers::default();
        let points = ordered.iter().zip(0..).map(|(run, number)| Point {
            started_unix_ns: run.started_unix_ns,
            time_ms: run.time_ms().unwrap_or(f64::NAN),
            number,
            plan: plans.of(PlanNames {
                fingerprint: run.fingerprint.map(|text| fingerprints.of(text).into()),
                rules: run.rules.to_vec(),
            }),
            service: services.of(run.service),
            failure: Failure::of(run.status),
        });
        let points = points.collect();
        Self {
            points,
            names: Names { plans: plans.values, services: services.values.into() },
            fingerprints: fingerprints.values,
            query_ids: ordered.iter().map(|run| run.query_id).collect(),
        }
    }
}

struct Numbers<T> {
    known: HashMap<T, u32>,
    values: Vec<T>,
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self { known: HashMap::new(), values: Vec::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Numbers<T> {
    fn of(&mut self, value: T) -> u32 {
        let next = self.values.len() as u32;
        let number = *self.known.entry(value.clone()).or_insert(next);
        if number == next {
            self.values.push(value);
        }
        number
    }
}

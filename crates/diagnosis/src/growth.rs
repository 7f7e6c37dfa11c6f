//! Runs that take longer because their input has slowly grown: no regression, but worth knowing.

use std::sync::Arc;

use queryscope_protocol::QueryId;

use crate::cause::{self, Sides};
use crate::change::{CauseKind, Change, Kind, State, Transition};
use crate::features::RunFeatures;
use crate::series::{Entry, Load, Point, Series};
use crate::stats::median;

/// Runs at both ends of the window that are compared.
const ENDS: usize = 15;
/// Of these, the last ones must be as large: rows that are fewer again have not grown.
const LATEST: usize = 3;
/// Rows, and time, must have grown by this much, in logarithms.
const GROWN: f64 = 0.30;
/// Below this, in logarithms, growth is over.
const SHRUNK: f64 = 0.12;
/// So many of the last runs may have as few rows as the first ones: inputs that take turns have not grown.
const SMALL_MAX: usize = 1;
/// Of so many runs one asks for the causes again, where the time did not go with the rows.
const ASKED_EVERY: u128 = 8;
/// How far time may have grown other than with the rows, in logarithms.
const APART: f64 = 0.25;

/// Growth that is told.
#[derive(Debug, Clone)]
pub(crate) struct Growth {
    pub(crate) change: Change,
    pub(crate) environment: u32,
    /// Runs before it began.
    pub(crate) before: Arc<Vec<RunFeatures>>,
    pub(crate) runs: u64,
}

impl Growth {
    pub(crate) fn observe(
        open: &mut Option<Self>,
        series: &mut Series,
        point: &Point,
        slower: bool,
        ended_unix_ns: i64,
        load: Load<'_>,
        told: &mut Vec<Transition>,
    ) {
        if point.rows.is_nan() || open.as_ref().is_some_and(|growth| growth.environment != point.environment)
        {
            return;
        }
        if let Some(growth) = open {
            growth.runs += 1;
            if !growth.runs.is_power_of_two() && growth.runs % 32 != 0 {
                return;
            }
            series.load(load);
            let last: Vec<&RunFeatures> =
                usable(series, point.environment).rev().take(ENDS).filter_map(Entry::run).collect();
            let before: Vec<&RunFeatures> = growth.before.iter().collect();
            let (then, now) = (rows(&before), rows(&last));
            let runs_a_day = runs_a_day(series, point.environment);
            if now - then < SHRUNK || slower {
                // What is told stays what it was while it lasted.
                growth.change.state = if slower { State::Superseded } else { State::Recovered };
                growth.change.recovered_unix_ns = (!slower).then_some(ended_unix_ns);
                told.extend(open.take().map(|growth| Transition::Closed(growth.change)));
            } else {
                let mut change = growth.change.clone();
                tell(&mut change, &before, &last, runs_a_day);
                // While the time goes elsewhere, what was told of the rows stays.
                if is_of_rows(&change) {
                    growth.change = change;
                    told.push(Transition::Updated(growth.change.clone()));
                }
            }
            return;
        }
        if slower || series.entries.len() < 2 * ENDS {
            return;
        }
        let points: Vec<&Point> = usable(series, point.environment).map(|entry| &entry.point).collect();
        let Some(since) = grew_since(&points) else { return };
        let had_grown = grew_since(&points[..points.len() - 1]).is_some();
        if had_grown && !is_asked(point) {
            return;
        }
        series.load(load);
        let runs: Vec<&RunFeatures> = usable(series, point.environment).filter_map(Entry::run).collect();
        let count = runs.len();
        if count < 2 * ENDS {
            return;
        }
        let before = Arc::new(runs[..ENDS].iter().map(|&run| run.clone()).collect());
        let mut growth = Self {
            change: Change::new(Kind::DataGrew, since, ended_unix_ns),
            environment: point.environment,
            before,
            runs: 0,
        };
        let runs_a_day = runs_a_day(series, point.environment);
        tell(&mut growth.change, &runs[..ENDS], &runs[count - ENDS..], runs_a_day);
        if !is_of_rows(&growth.change) {
            return;
        }
        growth.change.environment = series.environment(point.environment);
        told.push(Transition::Opened(growth.change.clone()));
        *open = Some(growth);
    }
}

/// Since which run rows have grown, and the time with them.
fn grew_since(points: &[&Point]) -> Option<(i64, QueryId)> {
    let count = points.len();
    if count < 2 * ENDS {
        return None;
    }
    let middle = |points: &[&Point], of: fn(&Point) -> f64| {
        let mut values: Vec<f64> =
            points.iter().map(|point| of(point)).filter(|value| !value.is_nan()).collect();
        median(&mut values)
    };
    let (first, last) = (&points[..ENDS], &points[count - ENDS..]);
    let grown = |of: fn(&Point) -> f64| middle(last, of) - middle(first, of);
    let (by_rows, by_time) = (grown(|point| point.rows), grown(|point| point.wall));
    if !(by_rows >= GROWN && by_time >= GROWN * 0.8 && by_time - by_rows * 1.2 < APART) {
        return None;
    }
    let small = middle(first, |point| point.rows);
    if middle(&last[ENDS - LATEST..], |point| point.rows) - small < GROWN {
        return None;
    }
    let is_small = |point: &&&Point| point.rows < small + by_rows / 4.0;
    if last.iter().filter(is_small).count() > SMALL_MAX {
        return None;
    }
    let last_small = points[..count - ENDS].iter().rposition(|point| is_small(&point)).unwrap_or(0);
    Some(points[last_small + 1].place())
}

/// Whether rows are what most of the time went with.
fn is_of_rows(change: &Change) -> bool {
    change.causes.first().is_some_and(|cause| cause.cause == CauseKind::MoreRows)
}

/// Whether growth that was not told when the rows had grown is looked at again at this run: causes need the features
/// of all runs.
fn is_asked(point: &Point) -> bool {
    point.query_id.uuid().as_u128().is_multiple_of(ASKED_EVERY)
}

fn usable(series: &Series, environment: u32) -> impl DoubleEndedIterator<Item = &Entry> {
    series.finished().filter(move |entry| !entry.episode && entry.point.environment == environment)
}

/// Runs a day of those that are compared.
fn runs_a_day(series: &Series, environment: u32) -> f64 {
    let part = usable(series, environment).count() as f64 / (series.entries.len() as f64).max(1.0);
    series.runs_a_day() * part
}

fn tell(change: &mut Change, before: &[&RunFeatures], after: &[&RunFeatures], runs_a_day: f64) {
    let explained = cause::explain(Kind::DataGrew, &Sides { before, after, others: &[], one_host: None });
    change.before = explained.before;
    change.after = explained.after;
    change.factor = explained.factor;
    change.causes = explained.causes;
    change.examples = explained.examples;
    // What runs cost in sum depends on how large the input was at each: what they cost now is known.
    let extra_ms =
        change.after.median_wall_ms.zip(change.before.median_wall_ms).map(|(now, then)| now - then);
    change.cost.wall_ms_a_day = extra_ms.unwrap_or(0.0).max(0.0) * runs_a_day;
}

fn rows(runs: &[&RunFeatures]) -> f64 {
    let known = runs.iter().filter_map(|run| run.rows_read.filter(|&rows| rows > 0));
    median(&mut known.map(|rows| (rows as f64).ln()).collect::<Vec<f64>>())
}

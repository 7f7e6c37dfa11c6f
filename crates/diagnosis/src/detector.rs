//! The detector of one query: takes its ended runs one after the other and says what changed.

use std::sync::Arc;

use queryscope_protocol::QueryId;

use crate::adjust;
use crate::cause::{self, Sides};
use crate::change::{Change, Kind, State, Transition};
use crate::failing::Failing;
use crate::features::{RunFeatures, Status};
use crate::growth::Growth;
use crate::layer::{Layer, Levels, the_one_host};
use crate::limits::{
    AFTER_RUNS_MIN, ALARMS_A_DAY, BEFORE_RUNS_KEPT, BEFORE_RUNS_MIN, DELTA_MIN, LAYERS_MAX,
    MARKED_PROBABILITY, STRATUM_RUNS_MIN,
};
use crate::marks::marks;
use crate::scan::{self, SEARCHED_RUNS_MIN, Spending, Split, locate};
use crate::search::{Found, dominance, search};
use crate::series::{Entry, Point, Series};
use crate::stats::median;

/// So many runs since a faster change make its time the usual one.
const ACCEPTED_RUNS: u64 = 20;
/// Runs since a change while its start may still move.
const MOVES_UNTIL: u64 = 40;
/// Least runs after a change of one host without a mark, while the other hosts run as usual.
const HOST_RUNS_MIN: usize = 4;
/// The least shift of one host alone, in logarithms.
const HOST_SHIFT: f64 = 0.3;
/// A change of no more runs than this, once over, is what the query does at times.
const SHORT_RUNS: usize = 12;
/// What is left of a shift that faded.
const FADED: f64 = 0.4;
/// Runs since a change from which on it may fade.
const FADES_FROM: u64 = 10;

/// What is known of one query (project, service and label).
#[derive(Debug, Clone, Default)]
pub struct Detector {
    pub(crate) series: Series,
    pub(crate) layers: Vec<Layer>,
    pub(crate) failing: Option<Failing>,
    pub(crate) growth: Option<Growth>,
    /// The first run after the last change that is over: no change begins before it any more.
    pub(crate) settled: Option<(i64, QueryId)>,
}

/// Memory that evaluations of any queries use one after the other.
#[derive(Debug, Default)]
pub struct Workspace {
    pub(crate) scan: scan::Scratch,
    pub(crate) adjust: adjust::Scratch,
    pub(crate) points: Vec<Point>,
    pub(crate) values: Vec<f64>,
    pub(crate) rows: Vec<f64>,
}

impl Detector {
    /// Takes an ended run, and says what it changed. A run that is older than the last 500 changes nothing.
    pub fn observe(&mut self, run: RunFeatures, workspace: &mut Workspace) -> Vec<Transition> {
        let point = Point::new(&run);
        let status = run.status;
        let ended_unix_ns = run.started_unix_ns.saturating_add_unsigned(run.wall_ns);
        if !self.series.add(run) {
            return Vec::new();
        }
        let mut told = Vec::new();
        if status == Status::Cancelled {
            return told;
        }
        Failing::observe(&mut self.failing, &self.series, &point, status, ended_unix_ns, &mut told);
        if status == Status::Failed {
            for layer in self.layers.iter_mut().filter(|layer| layer.is_about(&point)) {
                layer.failed += 1;
                layer.change.after.failed = layer.failed;
                layer.change.after.runs = layer.runs + layer.failed;
            }
            return told;
        }
        self.follow(&point, ended_unix_ns, workspace, &mut told);
        if self.layers.last().is_none_or(|layer| layer.since <= point.place()) {
            self.look(&point, ended_unix_ns, workspace, &mut told);
        }
        let slower = self.layers.iter().any(|layer| layer.change.kind == Kind::Slower);
        Growth::observe(&mut self.growth, &self.series, &point, slower, ended_unix_ns, &mut told);
        told
    }

    /// The open changes: at most one of each kind, the one of time first.
    pub fn open(&self) -> impl Iterator<Item = &Change> {
        let time = self.layers.last().map(|layer| &layer.change);
        time.into_iter()
            .chain(self.failing.as_ref().map(|failing| &failing.change))
            .chain(self.growth.as_ref().map(|growth| &growth.change))
    }

    /// Ended runs in the window.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = &RunFeatures> {
        self.series.entries.iter().map(|entry| &entry.run)
    }

    /// The runs that say what is usual: those since the last change that is over or, while runs are slower,
    /// those before. Remaining times are told from the others ([`current`](Self::current)).
    pub fn usual(&self) -> Vec<&RunFeatures> {
        match self.layers.last() {
            Some(layer) if layer.change.kind == Kind::Slower => layer.before.iter().collect(),
            Some(layer) => self.since(layer).map(|entry| &entry.run).collect(),
            None => self.series.finished().filter(|entry| !entry.episode).map(|entry| &entry.run).collect(),
        }
    }

    /// The runs that are as a run of now will be: those since the open change, or the usual ones.
    pub fn current(&self) -> Vec<&RunFeatures> {
        match self.layers.last() {
            Some(layer) => self.since(layer).map(|entry| &entry.run).collect(),
            None => self.usual(),
        }
    }

    fn since(&self, layer: &Layer) -> impl Iterator<Item = &Entry> {
        let since = layer.since;
        let (environment, host) = (layer.environment, layer.host);
        self.series.finished().filter(move |entry| {
            entry.point.place() >= since
                && entry.point.environment == environment
                && host.is_none_or(|host| host == entry.point.host)
        })
    }

    /// Brings the open change of time up to date with a run that finished.
    fn follow(
        &mut self,
        point: &Point,
        ended_unix_ns: i64,
        workspace: &mut Workspace,
        told: &mut Vec<Transition>,
    ) {
        let Some(layer) = self.layers.last_mut() else { return };
        if !layer.is_about(point) || point.place() < layer.since {
            return;
        }
        layer.runs += 1;
        layer.pay(point);
        layer.change.after.runs = layer.runs + layer.failed;
        layer.settle_cost(ended_unix_ns);
        // A faster time that lasts is the usual one: what comes after is a change of its own.
        let settled = layer.change.kind == Kind::Faster && layer.runs > ACCEPTED_RUNS;
        if !settled && layer.recovers(point) {
            let Some(host) = self.still_changed_on() else {
                self.recover(ended_unix_ns, told);
                return;
            };
            let at = self.layers.len() - 1;
            let layer = &mut self.layers[at];
            layer.host = Some(host);
            layer.evidence = 0.0;
            layer.quiet_since = None;
            self.refresh(at, workspace);
            told.push(Transition::Updated(self.layers[at].change.clone()));
            return;
        }
        if layer.runs >= layer.next_refresh {
            let at = self.layers.len() - 1;
            self.refresh(at, workspace);
            if self.has_faded(at) {
                self.recover(ended_unix_ns, told);
            } else {
                told.push(Transition::Updated(self.layers[at].change.clone()));
            }
        }
    }

    /// The host whose last runs are still as they were called, while those of the others are as usual.
    fn still_changed_on(&self) -> Option<u32> {
        let layer = self.layers.last()?;
        let quiet = layer.quiet_since?;
        let since: Vec<Point> =
            self.since(layer).map(|entry| entry.point).filter(|point| point.place() >= quiet).collect();
        let middle = f64::midpoint(layer.levels.before, layer.levels.after);
        let sign = (layer.levels.after - layer.levels.before).signum();
        let changed = |host: u32| {
            let own = since.iter().filter(|point| point.host == host);
            let mut values: Vec<f64> = own.map(|point| layer.value(point)).collect();
            values.len() >= 2 && (median(&mut values) - middle) * sign > 0.0
        };
        let known = |host: u32| {
            let before = layer.before.iter().filter(|run| crate::series::number(run.host.as_ref()) == host);
            before.count() >= AFTER_RUNS_MIN
        };
        since
            .iter()
            .map(|point| point.host)
            .filter(|&host| host != 0)
            .find(|&host| known(host) && changed(host))
    }

    /// Whether what was called has mixed with runs as before: the last runs are less than [`FADED`] as far from
    /// the usual as those that were called, and could as well be usual ones.
    fn has_faded(&self, at: usize) -> bool {
        let layer = &self.layers[at];
        let shift = layer.levels.after - layer.levels.before;
        if layer.runs < FADES_FROM || shift.abs() >= FADED * layer.peak.abs() {
            return false;
        }
        let about = |run: &&RunFeatures| {
            layer.host.is_none_or(|host| crate::series::number(run.host.as_ref()) == host)
        };
        let before: Vec<f64> =
            layer.before.iter().filter(about).map(|run| layer.value(&Point::new(run))).collect();
        let mut after: Vec<f64> = self.since(layer).map(|entry| layer.value(&entry.point)).collect();
        let last = after.split_off(after.len().saturating_sub(60));
        before.is_empty()
            || last.is_empty()
            || dominance(&last, &before) * layer.peak.signum() < DELTA_MIN / 4.0
    }

    fn recover(&mut self, ended_unix_ns: i64, told: &mut Vec<Transition>) {
        let Some(mut layer) = self.layers.pop() else { return };
        layer.change.state = State::Recovered;
        layer.change.recovered_unix_ns = Some(ended_unix_ns);
        layer.settle_cost(ended_unix_ns);
        let until = layer.quiet_since.unwrap_or(layer.since);
        let lasted = self.since(&layer).filter(|entry| entry.point.place() < until).count();
        self.settled = Some(until);
        // A short one is kept in mind as what the query does at times; a long one says nothing of what is
        // usual.
        if lasted > SHORT_RUNS {
            for entry in &mut self.series.entries {
                let place = entry.point.place();
                entry.episode |= place >= layer.since && place < until && layer.is_about(&entry.point);
            }
        }
        told.push(Transition::Closed(layer.change));
        if let Some(below) = self.layers.last_mut() {
            below.change.state = State::Open;
            below.evidence = 0.0;
            below.quiet_since = None;
            told.push(Transition::Opened(below.change.clone()));
        }
    }

    /// Looks whether the last runs are others than those before.
    fn look(
        &mut self,
        point: &Point,
        ended_unix_ns: i64,
        workspace: &mut Workspace,
        told: &mut Vec<Transition>,
    ) {
        let top = self.layers.last();
        let from = top.map(|layer| layer.since);
        let usable = |entry: &&Entry| {
            !entry.episode
                && entry.point.environment == point.environment
                && from.is_none_or(|from| entry.point.place() >= from)
        };
        let on_host = |entry: &&Entry| entry.point.host == point.host;
        let whole = top.is_none_or(|layer| layer.host.is_none());
        let spending = self.spending();
        let mut found = None;
        if whole {
            let entries: Vec<&Entry> = self.series.finished().filter(usable).collect();
            found = search(&entries, spending, workspace, self.settled, from.is_some());
        }
        if found.is_none() && point.host != 0 && top.is_none() {
            let entries: Vec<&Entry> = self.series.finished().filter(usable).filter(on_host).collect();
            let all = self.series.finished().filter(usable).count();
            if entries.len() >= STRATUM_RUNS_MIN && entries.len() * 20 <= all * 19 {
                // The host's runs are looked at beside all runs: both share the allowance.
                let half = Spending {
                    least: HOST_RUNS_MIN,
                    searched: spending.searched / 2.0,
                    marked: spending.marked / 2.0,
                };
                let found_here = search(&entries, half, workspace, self.settled, false);
                found = found_here
                    .filter(|found| self.is_alone(found, point))
                    .map(|found| Found { host: Some(point.host), ..found });
            }
        }
        let Some(found) = found else { return };
        let kind = if found.shift > 0.0 { Kind::Slower } else { Kind::Faster };
        if let Some(top) = self.layers.last() {
            // What got better while it is slower is followed as recovery; what was faster got still faster.
            let stacks =
                top.change.kind == Kind::Slower && kind == Kind::Slower && self.layers.len() < LAYERS_MAX;
            let replaces = top.change.kind == Kind::Faster && top.runs > ACCEPTED_RUNS / 2;
            if !(stacks || replaces) {
                return;
            }
        }
        self.open_layer(kind, &found, point, ended_unix_ns, workspace, told);
    }

    /// Whether a change of one host is large, and either has as many runs as any change needs or is not shared
    /// by the runs of other hosts meanwhile.
    fn is_alone(&self, found: &Found, point: &Point) -> bool {
        let since = |entry: &&Entry| {
            !entry.episode
                && entry.point.place() >= found.since
                && entry.point.environment == point.environment
        };
        let own = self.series.finished().filter(since).filter(|entry| entry.point.host == point.host).count();
        if found.shift.abs() < HOST_SHIFT {
            return false;
        }
        let others: Vec<f64> = self
            .series
            .finished()
            .filter(since)
            .filter(|entry| entry.point.host != point.host)
            .map(|entry| found.adjustment.rest(&entry.point))
            .collect();
        let usual = self.series.finished().filter(|entry| !entry.episode && entry.point.host != point.host);
        let mut usual: Vec<f64> = usual
            .filter(|entry| entry.point.place() < found.since && entry.point.environment == point.environment)
            .map(|entry| found.adjustment.rest(&entry.point))
            .collect();
        let middle = median(&mut usual);
        let as_usual =
            others.iter().all(|other| (other - middle) * found.shift.signum() < 0.4 * found.shift.abs());
        // Where runs are as slow at times, on any host, a few in a row on one are luck.
        let before = self
            .series
            .finished()
            .filter(|entry| !entry.episode && entry.point.place() < found.since)
            .map(|entry| found.adjustment.rest(&entry.point));
        let far = |value: f64| (value - middle) * found.shift.signum() >= 0.6 * found.shift.abs();
        let (known, as_far) =
            before.fold((0, 0), |(all, far_ones), value| (all + 1, far_ones + usize::from(far(value))));
        if as_far * 100 > known * 3 && own < 2 * SEARCHED_RUNS_MIN {
            return false;
        }
        own >= SEARCHED_RUNS_MIN || !others.is_empty() && !usual.is_empty() && as_usual
    }

    fn spending(&self) -> Spending {
        let a_run = ALARMS_A_DAY / self.series.runs_a_day().max(1.0);
        Spending { least: SEARCHED_RUNS_MIN, searched: a_run, marked: MARKED_PROBABILITY }
    }

    fn open_layer(
        &mut self,
        kind: Kind,
        found: &Found,
        point: &Point,
        ended_unix_ns: i64,
        workspace: &mut Workspace,
        told: &mut Vec<Transition>,
    ) {
        let since = found.since;
        let mut before = Vec::new();
        let mut before_failed = 0;
        let kept = self.layers.last().filter(|layer| layer.change.kind == Kind::Slower);
        if let Some(layer) = kept {
            before.clone_from(&layer.before);
            before_failed = layer.before_failed;
        } else {
            let from = self.layers.last().map(|layer| layer.since);
            let about = |entry: &&Entry| {
                entry.point.place() < since
                    && !entry.episode
                    && from.is_none_or(|from| entry.point.place() >= from)
                    && entry.point.environment == point.environment
                    && found.host.is_none_or(|host| host == entry.point.host)
            };
            let ended = self.series.entries.iter().rev().filter(about).take(BEFORE_RUNS_KEPT);
            for entry in ended {
                match entry.run.status {
                    Status::Finished => before.push(entry.run.clone()),
                    Status::Failed => before_failed += 1,
                    Status::Cancelled => {}
                }
            }
            before.reverse();
        }
        let mut layer = Layer {
            change: Change::new(kind, since, ended_unix_ns),
            since,
            environment: point.environment,
            host: found.host,
            by_rows: found.by_rows,
            before,
            before_failed,
            runs: 0,
            failed: 0,
            extra_wall_ms: 0.0,
            extra_cpu_ms: 0.0,
            levels: Levels::default(),
            peak: 0.0,
            adjustment: found.adjustment.clone(),
            evidence: 0.0,
            quiet_since: None,
            next_refresh: 0,
        };
        if let Some(top) = self.layers.last_mut() {
            top.change.state = State::Superseded;
            told.push(Transition::Closed(top.change.clone()));
            if top.change.kind == Kind::Faster {
                self.layers.pop();
            }
        }
        layer.change.state = State::Open;
        self.layers.push(layer);
        let at = self.layers.len() - 1;
        self.refresh(at, workspace);
        told.push(Transition::Opened(self.layers[at].change.clone()));
    }

    /// Counts both sides anew and explains the difference; where few runs came since, its start may move.
    fn refresh(&mut self, at: usize, workspace: &mut Workspace) {
        let layer = &self.layers[at];
        if layer.runs <= MOVES_UNTIL && layer.runs > 0 && layer.evidence <= 0.0 {
            self.relocate(at, workspace);
        }
        self.widen(at);
        let layer = &self.layers[at];
        let about = |entry: &&Entry| {
            layer.environment == entry.point.environment && entry.point.place() >= layer.since
        };
        let everywhere: Vec<&Entry> = self.series.finished().filter(about).collect();
        let host = the_one_host(layer, &everywhere);
        let after: Vec<&Entry> = everywhere
            .iter()
            .copied()
            .filter(|entry| host.is_none_or(|host| host == entry.point.host))
            .collect();
        let others: Vec<&RunFeatures> = everywhere
            .iter()
            .filter(|entry| host.is_some_and(|host| host != entry.point.host))
            .map(|entry| &entry.run)
            .collect();
        let before: Vec<&RunFeatures> = layer
            .before
            .iter()
            .filter(|run| host.is_none_or(|host| crate::series::number(run.host.as_ref()) == host))
            .collect();
        // A host that never ran the query before is compared with the others.
        let before = if before.len() >= AFTER_RUNS_MIN { before } else { layer.before.iter().collect() };
        let runs: Vec<&RunFeatures> = after.iter().map(|entry| &entry.run).collect();
        let sides = Sides { before: &before, after: &runs, others: &others, host: host.is_some() };
        let explained = cause::explain(layer.change.kind, &sides);
        let then: Vec<f64> = before.iter().map(|run| layer.value(&Point::new(run))).collect();
        let last = after.len().saturating_sub(60);
        let now: Vec<f64> = after[last..].iter().map(|entry| layer.value(&entry.point)).collect();
        let levels = Levels::of(&then, &now, &mut workspace.adjust);
        let newest =
            after.last().map(|entry| entry.run.started_unix_ns.saturating_add_unsigned(entry.run.wall_ns));
        let recounted: Vec<Point> = after.iter().map(|entry| entry.point).collect();
        let layer = &mut self.layers[at];
        layer.host = host;
        layer.levels = levels;
        let shift = levels.after - levels.before;
        if shift.abs() > layer.peak.abs() || layer.runs <= 2 * AFTER_RUNS_MIN as u64 {
            layer.peak = shift;
        }
        layer.change.before = explained.before;
        layer.change.before.failed = layer.before_failed;
        layer.change.before.runs += layer.before_failed;
        layer.change.after = explained.after;
        layer.change.after.failed = layer.failed;
        layer.change.factor = explained.factor;
        layer.change.causes = explained.causes;
        layer.change.harmless = explained.harmless;
        layer.change.examples = explained.examples;
        // While all runs since are in the window their cost is counted whole.
        if layer.runs <= MOVES_UNTIL {
            layer.runs = 0;
            (layer.extra_wall_ms, layer.extra_cpu_ms) = (0.0, 0.0);
            for point in &recounted {
                layer.runs += 1;
                layer.pay(point);
            }
        }
        layer.change.after.runs = layer.runs + layer.failed;
        layer.settle_cost(newest.unwrap_or(layer.since.0));
        layer.next_refresh = layer.runs + 1 + layer.runs / 5;
    }

    /// A change that was found on one host may be one of all: then the runs before are those of all hosts.
    fn widen(&mut self, at: usize) {
        let layer = &self.layers[at];
        let Some(host) = layer.host else { return };
        let inside = |entry: &&Entry| {
            entry.point.environment == layer.environment && !entry.episode && entry.point.host != host
        };
        let others = |after: bool| {
            self.series
                .finished()
                .filter(inside)
                .filter(move |entry| (entry.point.place() >= layer.since) == after)
        };
        if others(true).count() < 2 {
            return;
        }
        let known = layer.before.iter().any(|run| crate::series::number(run.host.as_ref()) != host);
        if known {
            return;
        }
        let mut before: Vec<RunFeatures> =
            others(false).rev().take(BEFORE_RUNS_KEPT).map(|entry| entry.run.clone()).collect();
        before.extend(layer.before.iter().cloned());
        before.sort_by_key(|run| (run.started_unix_ns, run.query_id));
        let surplus = before.len().saturating_sub(BEFORE_RUNS_KEPT);
        before.drain(..surplus);
        self.layers[at].before = before;
    }

    /// Searches the start of an open change again, now that more runs came after it.
    fn relocate(&mut self, at: usize, workspace: &mut Workspace) {
        let layer = &self.layers[at];
        let floor = at.checked_sub(1).map(|below| self.layers[below].since);
        let entries: Vec<&Entry> = self
            .series
            .finished()
            .filter(|entry| !entry.episode && layer.is_about(&entry.point))
            .filter(|entry| floor.is_none_or(|floor| entry.point.place() > floor))
            .collect();
        let points: Vec<Point> = entries.iter().map(|entry| entry.point).collect();
        let cut = points.partition_point(|point| point.place() < layer.since);
        if cut < BEFORE_RUNS_MIN || points.len() - cut < AFTER_RUNS_MIN {
            return;
        }
        let values: Vec<f64> = points.iter().map(|point| layer.value(point)).collect();
        let runs: Vec<&RunFeatures> = entries.iter().map(|entry| &entry.run).collect();
        let split = Split { cut, shift: layer.levels.after - layer.levels.before, probability: 0.0 };
        let moved = locate(&values, split, &marks(&points, &runs), &mut workspace.scan);
        if moved == cut || moved < BEFORE_RUNS_MIN || points.len() - moved < AFTER_RUNS_MIN {
            return;
        }
        let since = points[moved].place();
        let before: Vec<RunFeatures> =
            runs[moved.saturating_sub(BEFORE_RUNS_KEPT)..moved].iter().map(|&run| run.clone()).collect();
        let keeps = at > 0 && self.layers[at - 1].change.kind == Kind::Slower;
        let layer = &mut self.layers[at];
        layer.since = since;
        layer.change.since_unix_ns = since.0;
        layer.change.since_query_id = since.1.to_string();
        if !keeps {
            layer.before = before;
        }
    }
}

impl Layer {
    /// Adds what a run cost over the usual.
    fn pay(&mut self, point: &Point) {
        let usual = |side: Option<f64>, log: f64| side.map_or(0.0, |usual| log.exp() / 1e6 - usual);
        self.extra_wall_ms += usual(self.change.before.median_wall_ms, point.wall);
        if !point.cpu.is_nan() {
            self.extra_cpu_ms += usual(self.change.before.median_cpu_ms, point.cpu);
        }
    }

    fn settle_cost(&mut self, until_unix_ns: i64) {
        let days = ((until_unix_ns - self.since.0) as f64 / 86_400e9).max(1.0);
        let cost = &mut self.change.cost;
        cost.runs = self.runs;
        cost.extra_wall_ms = self.extra_wall_ms;
        cost.extra_cpu_ms = self.extra_cpu_ms;
        cost.wall_ms_a_day = self.extra_wall_ms / days;
    }
}

/// Gives runs that share a plan one copy of it.
pub fn share_plan(known: &Detector, plan: crate::plan::Plan) -> Arc<crate::plan::Plan> {
    let same = known.runs().rev().find(|run| run.plan.fingerprint == plan.fingerprint);
    same.map_or_else(|| Arc::new(plan), |run| Arc::clone(&run.plan))
}

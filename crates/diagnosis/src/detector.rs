//! The detector of one query: takes its ended runs one after the other and says what changed.

mod course;
mod recent;
mod upkeep;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use queryscope_protocol::QueryId;

pub(crate) use self::course::Course;
pub(crate) use self::recent::{Base, Over, Recent};
use crate::adjust::{self, DAY_NS, is_weekend};
use crate::change::{Change, Kind, State, Transition};
use crate::failing::Failing;
use crate::features::{RunFeatures, Status};
use crate::growth::Growth;
use crate::layer::{Layer, Levels};
use crate::limits::{
    AFTER_RUNS_MIN, ALARMS_A_DAY, DELTA_MIN, LAYERS_MAX, MARKED_PROBABILITY, SHORT_RUNS, STRATUM_RUNS_MIN,
};
use crate::machine::slows_all;
use crate::scan::{self, SEARCHED_RUNS_MIN, Spending, least_shift};
use crate::search::{Found, dominance, search};
use crate::series::{Entry, Load, Point, Series, number_of};
use crate::stats::median;

/// So many runs since a faster change make its time the usual one; as many as came before it do as well.
const ACCEPTED_RUNS: usize = 20;
/// Runs since a change while its start may still move.
const MOVES_UNTIL: u64 = 40;
/// Least runs after a change of one host without a mark, while the other hosts run as usual.
const HOST_RUNS_MIN: usize = 3;
/// The least shift of one host alone, in logarithms.
const HOST_SHIFT: f64 = 0.3;
/// What is left of a shift that faded.
const FADED: f64 = 0.4;
/// Runs since a change from which on it may fade.
const FADES_FROM: u64 = 10;

/// About the bytes of a run's versions, host and environment in memory.
const RUN_NAMES_BYTES: usize = 240;

/// What is known of one query (project, service and label).
#[derive(Debug, Clone, Default)]
pub struct Detector {
    pub(crate) series: Series,
    /// What lasts in each environment.
    pub(crate) courses: BTreeMap<u32, Course>,
    /// That of the environment of a run, while it is judged.
    pub(super) here: Course,
    pub(crate) recent: Recent,
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
        self.observe_with(run, workspace, &mut Vec::new)
    }

    /// The same for a detector that [let go](Self::let_go) of its runs' features: `load` gives them again, those of
    /// the whole window, where a change is explained.
    pub fn observe_with(
        &mut self,
        run: RunFeatures,
        workspace: &mut Workspace,
        load: Load<'_>,
    ) -> Vec<Transition> {
        let point = Point::new(&run);
        let status = run.status;
        let ended_unix_ns = run.started_unix_ns.saturating_add_unsigned(run.wall_ns);
        if !self.takes(run.started_unix_ns, run.query_id) {
            return Vec::new();
        }
        self.begin_anew();
        let behind = self.series.add(run);
        self.recent.order.extend(behind);
        let mut told = Vec::new();
        if status != Status::Cancelled && self.enter(point.environment) {
            self.judge(&point, ended_unix_ns, workspace, load, &mut told);
            self.leave(point.environment);
        }
        self.recent.note(&told);
        told
    }

    fn judge(
        &mut self,
        point: &Point,
        ended_unix_ns: i64,
        workspace: &mut Workspace,
        load: Load<'_>,
        told: &mut Vec<Transition>,
    ) {
        Failing::observe(&mut self.here.failing, &mut self.series, point, ended_unix_ns, load, told);
        if point.status == Status::Failed {
            for layer in self.here.layers.iter_mut().filter(|layer| layer.is_about(point)) {
                layer.failed += 1;
                layer.change.after.failed = layer.failed;
                layer.change.after.runs += 1;
            }
            return;
        }
        self.follow(point, ended_unix_ns, workspace, load, told);
        if self.here.layers.last().is_none_or(|layer| layer.since <= point.place()) {
            self.look(point, ended_unix_ns, workspace, load, told);
        }
        let slower = self.here.layers.iter().any(|layer| layer.change.kind == Kind::Slower);
        Growth::observe(&mut self.here.growth, &mut self.series, point, slower, ended_unix_ns, load, told);
    }

    /// Whether a run of this start and id is new to it and among the last 500: [`observe`](Self::observe) takes no
    /// other.
    pub fn takes(&self, started_unix_ns: i64, query_id: QueryId) -> bool {
        self.series.takes((started_unix_ns, query_id))
    }

    /// Lets go of the features of its runs: about 110 bytes a run are left.
    pub fn let_go(&mut self) {
        for entry in &mut self.series.entries {
            entry.run = None;
        }
    }

    /// About the bytes it takes in memory.
    pub fn bytes(&self) -> usize {
        let of = |run: &RunFeatures| size_of::<RunFeatures>() + size_of_val(&*run.nodes) + RUN_NAMES_BYTES;
        let window = self.series.entries.iter().filter_map(Entry::run).map(of).sum::<usize>();
        let courses = || self.courses.values();
        let layers = courses().flat_map(|course| &course.layers).flat_map(|layer| &*layer.before);
        let growth = courses().flat_map(|course| &course.growth).flat_map(|growth| &*growth.before);
        size_of::<Self>()
            + self.series.entries.capacity() * size_of::<Entry>()
            + window
            + layers.chain(growth).map(of).sum::<usize>()
            + self.recent.bytes()
    }

    /// The open changes: in each environment at most one of each kind, the one of time first.
    pub fn open(&self) -> impl Iterator<Item = &Change> {
        self.courses.values().flat_map(Course::open)
    }

    /// Ended runs in the window.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = &RunFeatures> {
        self.series.entries.iter().filter_map(Entry::run)
    }

    /// The open change of time that a run of this environment and host belongs to.
    fn layer_of(&self, environment: u32, host: u32) -> Option<&Layer> {
        let layers = &self.courses.get(&environment)?.layers;
        layers.iter().rev().find(|layer| layer.host.is_none_or(|changed| changed == host))
    }

    /// The runs that say what is usual in an environment, of a host: those since the last change that is over or, while
    /// runs are slower, those before. Remaining times are told from the others ([`current`](Self::current)).
    pub fn usual(&self, environment: Option<&str>, host: Option<&str>) -> Vec<&RunFeatures> {
        match self.layer_of(number_of(environment), number_of(host)) {
            Some(layer) if layer.change.kind == Kind::Slower => layer.before.iter().collect(),
            _ => self.current(environment, host),
        }
    }

    /// The runs that are as a run of now will be in an environment, on a host: those since the open change, or the
    /// usual ones. Those of another host that changed alone are none of them.
    pub fn current(&self, environment: Option<&str>, host: Option<&str>) -> Vec<&RunFeatures> {
        let environment = number_of(environment);
        if let Some(layer) = self.layer_of(environment, number_of(host)) {
            return self.since(layer).filter_map(Entry::run).collect();
        }
        let others = || self.courses.get(&environment).into_iter().flat_map(|course| &course.layers);
        let usual = |entry: &&Entry| {
            let point = &entry.point;
            !entry.episode
                && point.environment == environment
                && !others().any(|layer| layer.is_about(point) && point.place() >= layer.since)
        };
        self.series.finished().filter(usual).filter_map(Entry::run).collect()
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
        load: Load<'_>,
        told: &mut Vec<Transition>,
    ) {
        let Some(layer) = self.here.layers.last_mut() else { return };
        if !layer.is_about(point) || point.place() < layer.since {
            return;
        }
        layer.runs += 1;
        layer.pay(point);
        layer.settle_cost(ended_unix_ns, &self.series);
        // A faster time that lasts is the usual one: what comes after is a change of its own. Where its end seemed to
        // have begun, that is followed first.
        let settled = layer.change.kind == Kind::Faster
            && layer.runs > accepted_from(layer) as u64
            && layer.quiet_since.is_none();
        if !settled && layer.recovers(point) {
            let Some(host) = self.still_changed_on() else {
                self.end(point, ended_unix_ns, workspace, load, told);
                return;
            };
            let at = self.here.layers.len() - 1;
            let layer = &mut self.here.layers[at];
            layer.host = Some(host);
            layer.evidence = 0.0;
            layer.quiet_since = None;
            self.refresh(at, workspace, load);
            told.push(Transition::Updated(self.here.layers[at].change.clone()));
            return;
        }
        if layer.runs >= layer.next_refresh {
            let at = self.here.layers.len() - 1;
            self.refresh(at, workspace, load);
            if self.has_faded(at) || is_faster_no_more(&self.here.layers[at]) {
                self.end(point, ended_unix_ns, workspace, load, told);
            } else {
                told.push(Transition::Updated(self.here.layers[at].change.clone()));
            }
        }
    }

    /// The host whose last runs are still as they were called, while those of the others are as usual.
    fn still_changed_on(&self) -> Option<u32> {
        let layer = self.here.layers.last()?;
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
        // Where one host runs the query, nothing tells it from the query.
        if since.iter().all(|point| point.host == since[0].host) {
            return None;
        }
        since
            .iter()
            .map(|point| point.host)
            .filter(|&host| host != 0)
            .find(|&host| known(host) && changed(host))
    }

    /// Whether what was called has mixed with runs as before: the last runs are less than [`FADED`] as far from
    /// the usual as those that were called, and could as well be usual ones.
    fn has_faded(&self, at: usize) -> bool {
        let layer = &self.here.layers[at];
        let shift = layer.levels.after - layer.levels.before;
        if layer.runs < FADES_FROM || shift.abs() >= FADED * layer.peak.abs() {
            return false;
        }
        let before = layer.values_before();
        let mut after: Vec<f64> = self.since(layer).map(|entry| layer.value(&entry.point)).collect();
        let last = after.split_off(after.len().saturating_sub(60));
        before.is_empty()
            || last.is_empty()
            || dominance(&last, &before) * layer.peak.signum() < DELTA_MIN / 4.0
    }

    /// Ends the change of time, and opens what is left of it.
    fn end(
        &mut self,
        point: &Point,
        ended_unix_ns: i64,
        workspace: &mut Workspace,
        load: Load<'_>,
        told: &mut Vec<Transition>,
    ) {
        if let Some(rest) = self.recover(ended_unix_ns, told) {
            self.series.load(load);
            self.push_layer(rest, point, workspace, told);
        }
    }

    /// Ends the change of time, and says what is left where it is a slowdown that recovered in part: a change of its
    /// own, held against the runs before that slowdown.
    fn recover(&mut self, ended_unix_ns: i64, told: &mut Vec<Transition>) -> Option<Layer> {
        let mut layer = self.here.layers.pop()?;
        layer.change.state = State::Recovered;
        layer.change.recovered_unix_ns = Some(ended_unix_ns);
        layer.settle_cost(ended_unix_ns, &self.series);
        let until = layer.quiet_since.unwrap_or(layer.since);
        let lasted = self.since(&layer).filter(|entry| entry.point.place() < until).count();
        self.here.settled = Some(until);
        // A short one is kept in mind as what the query does at times, one of a first weekend as what weekends may do,
        // and one of hours that were so the day before as what these hours take; another long one says nothing of what
        // is usual, nor does a short one of which a part is left.
        let is_left = self.is_left_in_part(&layer, until);
        let mut rest = None;
        if let Some(hours) = self.hours_of_the_day_before(&layer, until) {
            for entry in self.series.entries.range_mut(hours) {
                entry.episode &= !layer.is_about(&entry.point);
            }
        } else if (lasted > SHORT_RUNS || is_left) && !self.was_first_weekend(&layer, until) {
            for entry in &mut self.series.entries {
                let place = entry.point.place();
                entry.episode |= place >= layer.since && place < until && layer.is_about(&entry.point);
            }
            rest = (is_left && layer.quiet_since.is_some()).then(|| Layer {
                host: layer.host,
                by_rows: layer.by_rows,
                before: Arc::clone(&layer.before),
                before_failed: layer.before_failed,
                adjustment: layer.adjustment.clone(),
                ..Layer::new(layer.change.kind, until, ended_unix_ns, layer.environment)
            });
        }
        told.push(Transition::Closed(layer.change));
        if let Some(below) = self.here.layers.last_mut() {
            below.change.state = State::Open;
            below.evidence = 0.0;
            below.quiet_since = None;
            told.push(Transition::Opened(below.change.clone()));
            return None;
        }
        rest
    }

    /// The runs of the day before, by place in the window, in the hours of a change of less than a day; `None` unless
    /// most of them ran while another change lasted that is over, and were as those of this one.
    fn hours_of_the_day_before(&self, layer: &Layer, until: (i64, QueryId)) -> Option<Range<usize>> {
        let (from, to) = (layer.since.0 - DAY_NS, until.0 - DAY_NS);
        if to >= layer.since.0 {
            return None;
        }
        let begins = |at: i64| self.series.entries.partition_point(|entry| entry.point.started_unix_ns < at);
        let hours = begins(from)..begins(to);
        let then = self.series.entries.range(hours.clone()).filter(|entry| layer.is_about(&entry.point));
        let finished: Vec<&Entry> = then.filter(|entry| entry.point.status == Status::Finished).collect();
        let mut alike: Vec<f64> =
            finished.iter().filter(|entry| entry.episode).map(|entry| layer.value(&entry.point)).collect();
        if alike.is_empty() || alike.len() * 2 < finished.len() {
            return None;
        }
        let Levels { before, after, .. } = layer.levels;
        let shift = median(&mut alike) - f64::midpoint(before, after);
        (shift * (after - before) > 0.0).then_some(hours)
    }

    /// Whether runs from a moment on are between those before a slowdown and those of it.
    fn is_left_in_part(&self, layer: &Layer, from: (i64, QueryId)) -> bool {
        let before = layer.values_before();
        let since = self.since(layer).filter(|entry| entry.point.place() >= from);
        let mut since: Vec<f64> = since.map(|entry| layer.value(&entry.point)).collect();
        layer.change.kind == Kind::Slower
            && !before.is_empty()
            && since.len() >= AFTER_RUNS_MIN
            && dominance(&since, &before) >= DELTA_MIN
            && median(&mut since) - layer.levels.before >= least_shift(since.len())
    }

    /// Whether a change began and ended with the first weekend of a query, or with its first weekdays.
    fn was_first_weekend(&self, layer: &Layer, until: (i64, QueryId)) -> bool {
        let weekend = is_weekend(layer.since.0);
        let alike = |entry: &Entry| is_weekend(entry.point.started_unix_ns) == weekend;
        let earlier = self.series.finished().filter(|entry| {
            entry.point.place() < layer.since && entry.point.environment == layer.environment && alike(entry)
        });
        weekend != is_weekend(until.0)
            && earlier.count() < STRATUM_RUNS_MIN
            && self.since(layer).all(|entry| entry.point.place() >= until || alike(entry))
    }

    /// Looks whether the last runs are others than those before.
    fn look(
        &mut self,
        point: &Point,
        ended_unix_ns: i64,
        workspace: &mut Workspace,
        load: Load<'_>,
        told: &mut Vec<Transition>,
    ) {
        let top = self.here.layers.last();
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
            let inner = top.is_some_and(|layer| layer.change.kind == Kind::Slower);
            found = search(&entries, spending, workspace, self.here.settled, inner);
        }
        if let Some(doubtful) = found.as_ref().filter(|found| found.is_doubtful) {
            self.series.load(load);
            let runs: Vec<&RunFeatures> =
                self.series.finished().filter(usable).filter_map(Entry::run).collect();
            let cut = runs.partition_point(|run| (run.started_unix_ns, run.query_id) < doubtful.since);
            found = found.filter(|_| !slows_all(&runs, cut));
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
                let found_here = search(&entries, half, workspace, self.here.settled, false);
                found = found_here
                    .filter(|found| self.is_alone(found, point, spending))
                    .map(|found| Found { host: Some(point.host), ..found });
            }
        }
        let Some(mut found) = found else { return };
        let kind = if found.shift > 0.0 { Kind::Slower } else { Kind::Faster };
        if let Some(top) = self.here.layers.last() {
            // What got better while it is slower is followed as recovery; what was faster got still faster.
            let stacks = top.change.kind == Kind::Slower
                && kind == Kind::Slower
                && self.here.layers.len() < LAYERS_MAX;
            // Until a faster time is the usual one, what is slower again is its end.
            let lasted = self.since(top).filter(|entry| entry.point.place() < found.since).count();
            let replaces = top.change.kind == Kind::Faster && lasted >= accepted_from(top);
            if !(stacks || replaces) {
                return;
            }
        }
        if kind == Kind::Slower {
            let Some(alike_days) = self.needs_alike_days(&found, point) else { return };
            found.alike_days = alike_days;
        }
        self.series.load(load);
        self.open_layer(kind, &found, point, ended_unix_ns, workspace, told);
    }

    /// Whether a change of one host is large, and either has as many runs as any change needs or is not shared
    /// by the runs of other hosts meanwhile.
    fn is_alone(&self, found: &Found, point: &Point, spending: Spending) -> bool {
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
            before.fold((0_u32, 0_u32), |(all, far_ones), value| (all + 1, far_ones + u32::from(far(value))));
        // How probable so many in a row are, where one more as slow would be as often as those before.
        let chance = (f64::from(as_far) + 2.0) / f64::from(known);
        if own < 2 * SEARCHED_RUNS_MIN && chance.powi(own as i32) > spending.searched / 10.0 {
            return false;
        }
        own >= SEARCHED_RUNS_MIN || !others.is_empty() && !usual.is_empty() && as_usual
    }

    fn spending(&self) -> Spending {
        let a_run = ALARMS_A_DAY / self.series.runs_a_day().max(1.0);
        Spending { least: SEARCHED_RUNS_MIN, searched: a_run, marked: MARKED_PROBABILITY }
    }
}

/// Runs since a faster change from which on its time is the usual one.
fn accepted_from(layer: &Layer) -> usize {
    layer.before.len().min(ACCEPTED_RUNS)
}

/// Whether runs since a faster change take as long as those before it, by now.
fn is_faster_no_more(layer: &Layer) -> bool {
    layer.change.kind == Kind::Faster && layer.change.factor.is_some_and(|factor| factor >= 1.0)
}

//! Opens a change of time, and keeps its figures, causes and start up to date as runs arrive.

use std::sync::Arc;

use super::{Detector, MOVES_UNTIL, Workspace};
use crate::adjust::is_weekend;
use crate::cause::{self, Sides};
use crate::change::{Change, Kind, State, Transition, id_of};
use crate::features::{RunFeatures, Status};
use crate::layer::{Layer, Levels, the_one_host};
use crate::limits::{AFTER_RUNS_MIN, BEFORE_RUNS_KEPT, BEFORE_RUNS_MIN, STRATUM_RUNS_MIN};
use crate::marks::marks;
use crate::scan::{Split, locate};
use crate::search::{Found, without_plans};
use crate::series::{Entry, Load, Point, number_of};
use crate::stats::median;

/// By how much, in logarithms, runs take longer before they are said to: 1.05 times the time.
const LEAST_LONGER: f64 = 0.049;

/// An open change is explained anew whenever it has this part more runs: what it says of its runs is at most as old.
const REFRESHED_PART: u64 = 20;

impl Detector {
    /// Start of the last run in the window before a change that finished, of those the change is about; in Unix
    /// nanoseconds.
    pub fn last_before(&self, change: &Change) -> Option<i64> {
        let environment = number_of(change.environment.as_deref());
        let host = change.host.as_deref().map(|host| number_of(Some(host)));
        let mut starts = self.series.finished().rev().map(|entry| &entry.point).filter(|point| {
            point.started_unix_ns < change.since_unix_ns
                && point.environment == environment
                && host.is_none_or(|host| host == point.host)
        });
        starts.next().map(|point| point.started_unix_ns)
    }

    pub(super) fn open_layer(
        &mut self,
        kind: Kind,
        found: &Found,
        point: &Point,
        ended_unix_ns: i64,
        workspace: &mut Workspace,
        told: &mut Vec<Transition>,
    ) {
        let kept = self.here.layers.last().filter(|layer| layer.change.kind == Kind::Slower);
        let (before, before_failed) = if let Some(layer) = kept {
            (Arc::clone(&layer.before), layer.before_failed)
        } else {
            let (before, failed) = self.before(found, point);
            (Arc::new(before), failed)
        };
        let layer = Layer {
            host: found.host,
            by_rows: found.by_rows,
            before,
            before_failed,
            adjustment: found.adjustment.clone(),
            ..Layer::new(kind, found.since, ended_unix_ns, point.environment)
        };
        if let Some(top) = self.here.layers.last_mut() {
            top.change.state = State::Superseded;
            told.push(Transition::Closed(top.change.clone()));
            if top.change.kind == Kind::Faster {
                self.here.layers.pop();
            }
        }
        self.push_layer(layer, point, workspace, told);
    }

    /// Takes a change up as the open one, and explains it. The features of the window are loaded.
    pub(super) fn push_layer(
        &mut self,
        mut layer: Layer,
        point: &Point,
        workspace: &mut Workspace,
        told: &mut Vec<Transition>,
    ) {
        layer.change = self.named(layer.change, point);
        layer.change.environment = self.series.environment(layer.environment);
        self.here.layers.push(layer);
        let at = self.here.layers.len() - 1;
        self.refresh(at, workspace, &mut Vec::new);
        told.push(Transition::Opened(self.here.layers[at].change.clone()));
    }

    /// The last runs before a change that was found, and how many of them failed.
    fn before(&self, found: &Found, point: &Point) -> (Vec<RunFeatures>, u64) {
        let (mut before, mut failed) = (Vec::new(), 0);
        let earlier = self.series.entries.iter().rev().filter(|entry| {
            entry.point.place() < found.since && self.is_compared(found, point, entry, found.alike_days)
        });
        for entry in earlier.take(BEFORE_RUNS_KEPT) {
            match entry.point.status {
                Status::Finished => before.extend(entry.run().cloned()),
                Status::Failed => failed += 1,
                Status::Cancelled => {}
            }
        }
        before.reverse();
        (before, failed)
    }

    /// Whether a change is held against a run, or is of it: of the same sort of day, where only such are.
    fn is_compared(&self, found: &Found, point: &Point, entry: &Entry, alike_days: bool) -> bool {
        let from = self.here.layers.last().map(|layer| layer.since);
        let day = |point: &Point| is_weekend(point.started_unix_ns);
        !entry.episode
            && from.is_none_or(|from| entry.point.place() >= from)
            && entry.point.environment == point.environment
            && found.host.is_none_or(|host| host == entry.point.host)
            && (!alike_days || day(&entry.point) == day(point))
    }

    /// Whether a slowdown that was found is to be held against runs of the same sort of day alone: against all runs
    /// those since take no longer. `None` where they do not take longer than these either, but for their hour: then
    /// nothing is said yet.
    pub(super) fn needs_alike_days(&self, found: &Found, point: &Point) -> Option<bool> {
        if self.here.layers.last().is_some_and(|layer| layer.change.kind == Kind::Slower) {
            return Some(false);
        }
        let walls = |is_after: bool, alike_days: bool| -> Vec<f64> {
            let is_one = |entry: &&Entry| {
                (entry.point.place() >= found.since) == is_after
                    && self.is_compared(found, point, entry, alike_days)
            };
            let side = self.series.finished().rev().filter(is_one).take(BEFORE_RUNS_KEPT);
            side.map(|entry| entry.point.wall).collect()
        };
        let now = median(&mut walls(true, false));
        let is_longer = |mut before: Vec<f64>| now - median(&mut before) >= LEAST_LONGER;
        if is_longer(walls(false, false)) {
            return Some(false);
        }
        let alike = walls(false, true);
        (alike.len() >= STRATUM_RUNS_MIN && is_longer(alike)).then_some(true)
    }

    /// A change has the id of the run it was found to begin at. Where that is the id of an earlier one, whose start has
    /// moved since, it has that of the run it was found with.
    fn named(&self, change: Change, point: &Point) -> Change {
        let layers = self.here.layers.iter().map(|layer| &layer.change.id);
        let is_taken = layers.chain(self.recent.over.iter().map(|over| &over.id)).any(|id| *id == change.id);
        if is_taken { Change { id: id_of(change.kind, point.query_id), ..change } } else { change }
    }

    /// Counts both sides anew and explains the difference; where few runs came since, its start may move.
    pub(super) fn refresh(&mut self, at: usize, workspace: &mut Workspace, load: Load<'_>) {
        self.series.load(load);
        let layer = &self.here.layers[at];
        if layer.runs <= MOVES_UNTIL && layer.runs > 0 && layer.evidence <= 0.0 {
            self.relocate(at, workspace);
        }
        self.widen(at);
        let layer = &self.here.layers[at];
        let about = |entry: &&Entry| {
            layer.environment == entry.point.environment && entry.point.place() >= layer.since
        };
        let everywhere: Vec<&Entry> = self.series.finished().filter(about).collect();
        let one = the_one_host(layer, &everywhere);
        let host = one.map(|one| one.host);
        let after: Vec<&Entry> = everywhere
            .iter()
            .copied()
            .filter(|entry| host.is_none_or(|host| host == entry.point.host))
            .collect();
        let others: Vec<&RunFeatures> = everywhere
            .iter()
            .filter(|entry| host.is_some_and(|host| host != entry.point.host))
            .filter_map(|entry| entry.run())
            .collect();
        let before: Vec<&RunFeatures> = layer
            .before
            .iter()
            .filter(|run| host.is_none_or(|host| crate::series::number(run.host.as_ref()) == host))
            .collect();
        // A host that never ran the query before is compared with the others.
        let before = if before.len() >= AFTER_RUNS_MIN { before } else { layer.before.iter().collect() };
        let runs: Vec<&RunFeatures> =
            without_recovery(layer, &after).iter().filter_map(|entry| entry.run()).collect();
        let one_host = one.map(|one| one.others);
        let sides = Sides { before: &before, after: &runs, others: &others, one_host };
        let explained = cause::explain(layer.change.kind, &sides);
        let then: Vec<f64> = before.iter().map(|run| layer.value(&Point::new(run))).collect();
        // What was slower still, for a while, is not where it lies.
        let lasting = after.iter().rev().filter(|entry| !entry.episode).take(60);
        let now: Vec<f64> = lasting.map(|entry| layer.value(&entry.point)).collect();
        let levels =
            if now.is_empty() { layer.levels } else { Levels::of(&then, &now, &mut workspace.adjust) };
        let newest = after.last().and_then(|entry| entry.run());
        let newest = newest.map(|run| run.started_unix_ns.saturating_add_unsigned(run.wall_ns));
        let named = runs.last().and_then(|run| run.host.as_deref()).map(str::to_owned);
        let recounted: Vec<Point> = after.iter().map(|entry| entry.point).collect();
        let layer = &mut self.here.layers[at];
        layer.host = host;
        layer.change.host = named.filter(|_| host.is_some());
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
        layer.change.after.runs += layer.failed;
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
        layer.settle_cost(newest.unwrap_or(layer.since.0), &self.series);
        layer.next_refresh = layer.runs + 1 + layer.runs / REFRESHED_PART;
    }

    /// A change that was found on one host may be one of all: then the runs before are those of all hosts.
    fn widen(&mut self, at: usize) {
        let layer = &self.here.layers[at];
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
            others(false).rev().take(BEFORE_RUNS_KEPT).filter_map(|entry| entry.run().cloned()).collect();
        before.extend(layer.before.iter().cloned());
        before.sort_by_key(|run| (run.started_unix_ns, run.query_id));
        let surplus = before.len().saturating_sub(BEFORE_RUNS_KEPT);
        before.drain(..surplus);
        self.here.layers[at].before = Arc::new(before);
    }

    /// Searches the start of an open change again, now that more runs came after it.
    fn relocate(&mut self, at: usize, workspace: &mut Workspace) {
        let layer = &self.here.layers[at];
        let floor = at.checked_sub(1).map(|below| self.here.layers[below].since);
        // Where few runs came before, those before them are of another change: that one replaced a faster time.
        let first = layer.before.first().filter(|_| layer.before.len() < BEFORE_RUNS_KEPT);
        let first = first.map(|run| (run.started_unix_ns, run.query_id));
        let entries: Vec<&Entry> = self
            .series
            .finished()
            .filter(|entry| !entry.episode && layer.is_about(&entry.point))
            .filter(|entry| floor.is_none_or(|floor| entry.point.place() > floor))
            .filter(|entry| first.is_none_or(|first| entry.point.place() >= first))
            .collect();
        let mut points: Vec<Point> = entries.iter().map(|entry| entry.point).collect();
        let cut = points.partition_point(|point| point.place() < layer.since);
        if cut < BEFORE_RUNS_MIN || points.len() - cut < AFTER_RUNS_MIN {
            return;
        }
        // As when it was found: rows that another plan makes explain nothing.
        without_plans(&mut points);
        let values: Vec<f64> = points.iter().map(|point| layer.value(point)).collect();
        let split = Split { cut, shift: layer.levels.after - layer.levels.before, probability: 0.0 };
        let moved = locate(&values, split, &marks(&points), &mut workspace.scan);
        if moved == cut || moved < BEFORE_RUNS_MIN || points.len() - moved < AFTER_RUNS_MIN {
            return;
        }
        let since = points[moved].place();
        // No later than the service was sure of it.
        if layer.change.confirmed_unix_ns.is_some_and(|confirmed| since.0 > confirmed) {
            return;
        }
        let before = &entries[moved.saturating_sub(BEFORE_RUNS_KEPT)..moved];
        let before: Vec<RunFeatures> = before.iter().filter_map(|entry| entry.run().cloned()).collect();
        let keeps = at > 0 && self.here.layers[at - 1].change.kind == Kind::Slower;
        let layer = &mut self.here.layers[at];
        layer.since = since;
        layer.change.begin_at(since);
        if !keeps {
            layer.before = Arc::new(before);
        }
    }
}

/// The runs since a change that say what it is: not those with which it seems to end, which may have the version or
/// the plan of before again.
fn without_recovery<'e, 'a>(layer: &Layer, after: &'e [&'a Entry]) -> &'e [&'a Entry] {
    let until = layer
        .quiet_since
        .map_or(after.len(), |quiet| after.partition_point(|entry| entry.point.place() < quiet));
    if until < AFTER_RUNS_MIN { after } else { &after[..until] }
}

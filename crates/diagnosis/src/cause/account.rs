//! What the difference of two middle runs is made of.
//!
//! A run plans, waits, and works: `W = P + Q + k B`, with `B` the time threads worked in its nodes and `k` wall
//! time for each of it. The difference has three terms:
//!
//! - planning, as counted;
//! - work: `k` times the difference of the busy time of each node. Of a node in both plans that is rows times
//!   time per row, halved between the two factors (Shapley's value for two); more rows are a cause of their own
//!   where they come from storage, and the plan's where a node below lets more through that did not. The rest
//!   is the plan's where the node is another, the program's where it calls user code, a spill's where it
//!   spills, and else slower per row. Busy time is wall time in the node: where it grows and the CPU time does
//!   not, threads were not let run;
//! - what is left has no work behind it (`rest.rs`): fewer threads, waits (those of a starved run are the processor's
//!   as far as they grew as its work did), one large partition, a spill's reads and writes, user code that no counter
//!   sees, or another plan, by the counters that moved. Where none did, it is unexplained. Where what is left goes the
//!   other way than the difference, more threads worked at a time, by their number.
//!
//! Rows have at most what their node takes. Work that came has at most what the run takes, where threads idled before.
//!
//! A run that calls code of the program waited at most for what those calls leave, where they were measured, or else
//! the CPU time of its process; without both, not at all.

use super::median_plan::{Medians, NodeMedians};
use super::per_row::{PerRow, SLOWER};
use super::words::{ROWS, count_words, factor_words, figure, ms_words};
use crate::change::{CauseKind, Figure, NodeRef};
use crate::plan::Matching;

/// A part of a difference.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) cause: CauseKind,
    pub(super) wall_ns: f64,
    pub(super) node: Option<NodeRef>,
    pub(super) evidence: Vec<Figure>,
    pub(super) sentence: String,
}

/// A counter that grew by this much moved.
pub(super) const MOVED: f64 = 1.25;
/// Rows that changed by less than this part are as before.
pub(super) const READS_AS_BEFORE: f64 = 0.05;
/// So many times the rows are beyond what a time for each row holds for.
const MANY_TIMES: f64 = 10.0;
/// What spills slower than this is slow for another reason: a disk writes a thousand times as fast.
const SPILLED_BYTES_A_SECOND: f64 = 65_536.0;
/// Reads of a starved run take longer as well, by up to so many times as much as its work.
pub(super) const STARVED_READS: f64 = 1.5;

/// The work of nodes, by what it is put down to, in busy nanoseconds.
#[derive(Debug, Default)]
struct Work {
    rows: Vec<(usize, f64)>,
    per_row: Vec<(usize, f64)>,
    plan: f64,
    spilling: Vec<(usize, f64)>,
    user_code: Vec<(usize, f64)>,
    waiting: Vec<(usize, f64)>,
    starved: f64,
    /// Wall time that planning takes longer for want of a processor.
    starved_planning: f64,
}

/// Threads were let run less than before, or more, and by how much the work took longer for that.
#[derive(Debug, Clone, Copy)]
pub(super) struct Starved {
    /// Whether it is one host that was slower at everything.
    pub(super) contended: bool,
    /// How many times as long they took for what they do now: below 1 where they were let run more.
    pub(super) slower: f64,
    /// The same work before and now, which is what is told: where there are more rows as well, these have a part of
    /// `slower`.
    pub(super) same_work: SameWork,
}

/// How long the nodes that both plans have are busy together, in nanoseconds, for as many rows as now.
#[derive(Debug, Clone, Copy)]
pub(super) struct SameWork {
    before: f64,
    after: f64,
}

impl SameWork {
    fn slower(self) -> f64 {
        if self.before > 0.0 { self.after / self.before } else { 1.0 }
    }
}

pub(super) struct Accounts<'m> {
    pub(super) then: &'m Medians,
    pub(super) now: &'m Medians,
    pub(super) matching: &'m Matching,
    /// By how much busy time grew over CPU time where all nodes did so, or fell: 1 where it did neither.
    pub(super) starved: f64,
    /// For each node, the node its additional rows come from: a scan, or what gives more rows of as many.
    pub(super) origins: Vec<usize>,
    /// For each node, whether a change of the plan below makes its additional rows.
    pub(super) fed: Vec<bool>,
    /// Whether the plans differ in more than the files they read.
    pub(super) replanned: bool,
}

pub(super) fn account(then: &Medians, now: &Medians, matching: &Matching, one_host: bool) -> Vec<Part> {
    let starved = starvation(then, now, matching);
    let (origins, fed) = (Vec::new(), Vec::new());
    let mut accounts = Accounts { then, now, matching, starved, origins, fed, replanned: false };
    accounts.replanned = accounts.is_replanned();
    (accounts.origins, accounts.fed) = accounts.row_origins();
    accounts.parts(one_host)
}

/// By how much the busy time grew more than the CPU time did, where all nodes did so, or fell: a processor that is
/// taken and one that is free again are told by the same figures. 1 where it did neither.
fn starvation(then: &Medians, now: &Medians, matching: &Matching) -> f64 {
    let freed = || starved_since(now, then, &matching.reversed()).map(f64::recip);
    starved_since(then, now, matching).or_else(freed).unwrap_or(1.0)
}

/// By how much the busy time grew more than the CPU time did, where all nodes did so.
fn starved_since(then: &Medians, now: &Medians, matching: &Matching) -> Option<f64> {
    let (over_then, over_now) = then.busy_over_cpu.zip(now.busy_over_cpu)?;
    if over_then <= 0.0 || over_now <= 0.0 {
        return None;
    }
    let grown = over_now / over_then;
    let slowest = PerRow::of(then, now, matching).least();
    let is_starved = grown >= 1.12 && slowest >= 1.0 + (grown - 1.0) * 0.4;
    (is_starved && !reads_explain(then, now, matching, grown)).then_some(grown)
}

/// By how much all nodes are slower alike, of those whose busy time a row grew by so much together.
fn slower_alike(then: &Medians, now: &Medians, matching: &Matching, per_row: f64) -> Option<f64> {
    let slower = PerRow::of(then, now, matching);
    let alike = slower.alike(per_row, then.busy()).or_else(|| slower.nearly_all());
    // Of a plan that works far more, that says little.
    alike.filter(|_| now.busy() >= SLOWER * (now.busy() - per_row))
}

/// Whether half of what nodes are busy longer are reads, which take longer than those of a run that is starved so much.
fn reads_explain(then: &Medians, now: &Medians, matching: &Matching, starved: f64) -> bool {
    let longer = now.nodes.iter().zip(&matching.of_new).filter_map(|(node, there)| {
        let before = then.nodes[(*there)?].waiting?;
        Some((node.waiting? - STARVED_READS * starved * before).max(0.0))
    });
    longer.sum::<f64>() >= 0.5 * (now.busy() - then.busy())
}

impl Accounts<'_> {
    fn parts(&self, one_host: bool) -> Vec<Part> {
        let (then, now) = (self.then, self.now);
        let mut parts = Vec::new();
        let planned = now.planning.zip(then.planning);
        let mut planning = planned.map_or(0.0, |(now, then)| now - then);
        let (busy_then, busy_now) = (then.busy(), now.busy());
        let difference = planned.map_or(now.wall - then.wall, |_| now.execution() - then.execution());
        let mut rest = difference;
        let mut work_of_plan = 0.0;
        let mut starved = None;
        if busy_then > 0.0 && busy_now > 0.0 {
            let waited = then.longest_wait();
            // Wall time for each time threads worked; what is left over then is what that changed by.
            let working = (then.execution() - waited).max(0.0);
            // Time in calls of the program's code is in no counter, and no work of the nodes.
            let working = if then.plan.calls_user_code() { working.min(busy_then) } else { working };
            let slope = working / busy_then;
            // Where no thread worked for a part of the time, that need not grow with the work: what is worked more
            // takes no longer than the run does now.
            let longest = now.execution() / (busy_now - busy_then).max(0.0);
            let slope = if slope > MOVED { slope.min(longest) } else { slope };
            let mut work = self.work();
            let all: f64 = (busy_now - busy_then) * slope;
            rest -= all;
            let per_row: f64 = work.per_row.iter().map(|(_, busy)| busy).sum();
            let is_starved = self.is_starved();
            let freed = || slower_alike(now, then, &self.matching.reversed(), -per_row).map(f64::recip);
            let alike = || slower_alike(then, now, self.matching, per_row).or_else(freed);
            let everywhere = if is_starved { None } else { alike() };
            if everywhere.is_some() {
                // Every node is slower alike, or faster: that is the processor, not a node.
                work.starved += per_row;
                work.per_row.clear();
            }
            // Planning is work as well: it takes longer by about as much as all nodes do, or has a reason of its own.
            let slower = everywhere.unwrap_or(self.starved);
            let of_starved = then.planning.unwrap_or(0.0) * (slower - 1.0);
            if planning * of_starved > 0.0 && planning.abs() <= 2.0 * of_starved.abs() {
                work.starved_planning = planning.signum() * planning.abs().min(of_starved.abs());
            }
            planning -= work.starved_planning;
            work_of_plan = work.plan * slope;
            let contended = one_host && everywhere.is_some();
            if everywhere.is_some() || is_starved {
                let slower = busy_now / (busy_now - work.starved);
                starved = Some(Starved { contended, slower, same_work: self.same_work() });
            }
            self.tell_work(&work, slope, starved, &mut parts);
        } else if busy_then <= 0.0 && busy_now <= 0.0 {
            rest -= self.tell_rows(difference, &mut parts);
        }
        if planning.abs() > 0.0 {
            let sentence = format!(
                "Planning takes {} instead of {}",
                ms_words(now.planning.unwrap_or(0.0) / 1e6),
                ms_words(then.planning.unwrap_or(0.0) / 1e6)
            );
            let evidence = vec![figure("planning", ms(then.planning), ms(now.planning), "ms")];
            self.push(CauseKind::Planning, planning, None, evidence, sentence, &mut parts);
        }
        self.tell_rest(rest, difference, work_of_plan, starved, &mut parts);
        parts
    }

    pub(super) fn is_starved(&self) -> bool {
        (self.starved - 1.0).abs() > 0.0
    }

    /// Of an engine that does not say how long its nodes work: the query counts as one node, which takes the rows that
    /// its scans read. How much of the difference that is.
    fn tell_rows(&self, difference: f64, parts: &mut Vec<Part>) -> f64 {
        let (then, now) = (self.then, self.now);
        let read = |here: usize| {
            let there = self.matching.of_new[here]
                .filter(|_| now.plan.nodes[here].inputs.is_empty() && !self.fed[here])
                .filter(|_| self.counts_reads(here))?;
            Some((here, then.nodes[there].read()?, now.nodes[here].read()?))
        };
        let scans: Vec<(usize, f64, f64)> = (0..now.nodes.len()).filter_map(read).collect();
        let most = scans.iter().max_by(|a, b| (a.2 - a.1).abs().total_cmp(&(b.2 - b.1).abs()));
        let Some(&(scan, ..)) = most else { return 0.0 };
        let (before, after) = scans.iter().fold((0.0, 0.0), |sum, scan| (sum.0 + scan.1, sum.1 + scan.2));
        let by_rows = time_of_rows((then.execution(), before), (now.execution(), after));
        let part = if by_rows * difference > 0.0 {
            by_rows.abs().min(difference.abs()).copysign(difference)
        } else {
            0.0
        };
        self.push_rows(scan, part, parts);
        part
    }

    /// Puts the change of the busy time down to nodes.
    fn work(&self) -> Work {
        let (then, now, matching) = (self.then, self.now, self.matching);
        let mut work = Work::default();
        let (origins, fed) = (&self.origins, &self.fed);
        let longer = now.busy() - then.busy();
        for (here, node) in now.nodes.iter().enumerate() {
            let planned = &now.plan.nodes[here];
            let busy = node.busy / self.starved;
            work.starved += node.busy - busy;
            let Some(there) = matching.of_new[here] else {
                if planned.user_code.is_some() {
                    work.user_code.push((here, busy));
                } else {
                    work.plan += busy;
                }
                continue;
            };
            let (before, old) = (&then.nodes[there], &then.plan.nodes[there]);
            let grown = busy - before.busy;
            let changed = self.is_changed(there, here);
            let by_rows = match (before.rows(), node.rows()) {
                (Some(x0), Some(x1)) if x0 > 0.0 && x1 > 0.0 => time_of_rows((before.busy, x0), (busy, x1)),
                (Some(_), Some(_)) => grown,
                _ => 0.0,
            };
            if fed[here] || self.replanned && self.reads_as_before(origins[here], by_rows) {
                work.plan += by_rows;
            } else {
                work.rows.push((origins[here], by_rows));
            }
            let rest = grown - by_rows;
            if rest > 0.0 && spills_more(before.spilled, node.spilled, rest) {
                work.spilling.push((here, rest));
            } else if planned.user_code.is_some() && planned.user_code != old.user_code {
                work.user_code.push((here, rest));
            } else if changed && (old.kind != planned.kind || rest * longer > 0.0) {
                work.plan += rest;
            } else if planned.user_code.is_some() {
                work.user_code.push((here, rest));
            } else if self.blocked_by_reads(before, node, rest) {
                work.waiting.push((here, rest));
            } else {
                work.per_row.push((here, rest));
            }
        }
        if self.query_spills() {
            // No node says that it spills: it is the one that got slower the most.
            let slowest =
                (0..work.per_row.len()).max_by(|&a, &b| work.per_row[a].1.total_cmp(&work.per_row[b].1));
            if let Some(at) = slowest.filter(|&at| work.per_row[at].1 > 0.0) {
                let slowest = work.per_row.remove(at);
                work.spilling.push(slowest);
            }
        }
        let gone = (0..then.nodes.len()).filter(|&there| matching.of_old[there].is_none());
        work.plan -= gone.map(|there| then.nodes[there].busy).sum::<f64>();
        work
    }

    /// Whether the query spills and did not before, and its engine does not say which node does.
    pub(super) fn query_spills(&self) -> bool {
        let (then, now) = (self.then.spilled, self.now.spilled);
        let longer = self.now.wall - self.then.wall;
        spills_more(then, now, longer) && self.now.nodes.iter().all(|node| node.spilled <= 0.0)
    }

    /// Whether a scan's longer busy time is waiting: its reads took longer by as much, and the CPU did not work
    /// more.
    fn blocked_by_reads(&self, before: &NodeMedians, node: &NodeMedians, rest: f64) -> bool {
        let waits = before
            .waiting
            .zip(node.waiting)
            .is_some_and(|(then, now)| now >= MOVED * then && now - then >= 0.5 * rest);
        let cpu = self.then.cpu.zip(self.now.cpu).is_some_and(|(then, now)| (now - then) < 0.4 * rest);
        waits && cpu && rest > 0.0
    }

    pub(super) fn node(&self, here: usize) -> NodeRef {
        let node = &self.now.plan.nodes[here];
        NodeRef { id: node.id, kind: node.kind.clone(), table: node.table.clone() }
    }

    /// How long a node was busy before, where it was in the plan.
    pub(super) fn busy_before(&self, here: usize) -> Option<f64> {
        self.matching.of_new[here].map(|there| self.then.nodes[there].busy)
    }

    fn tell_work(&self, work: &Work, slope: f64, starved: Option<Starved>, parts: &mut Vec<Part>) {
        let (then, now) = (self.then, self.now);
        let mut by_scan: Vec<(usize, f64)> = Vec::new();
        for &(origin, busy) in &work.rows {
            match by_scan.iter_mut().find(|(scan, _)| *scan == origin) {
                Some((_, sum)) => *sum += busy,
                None => by_scan.push((origin, busy)),
            }
        }
        for (scan, busy) in by_scan {
            self.push_rows(scan, busy * slope, parts);
        }
        for &(here, busy) in &work.per_row {
            let (sentence, evidence) = self.per_row_words(here);
            self.push(CauseKind::SlowerPerRow, busy * slope, Some(here), evidence, sentence, parts);
        }
        for &(here, busy) in &work.spilling {
            let (sentence, evidence) = self.spill_words(here);
            self.push(CauseKind::Spilling, busy * slope, Some(here), evidence, sentence, parts);
        }
        for &(here, busy) in &work.user_code {
            let (sentence, mut evidence) = (self.user_code_words(here), Vec::new());
            evidence.push(figure("busy", ms(self.busy_before(here)), ms(Some(now.nodes[here].busy)), "ms"));
            self.push(CauseKind::UserCode, busy * slope, Some(here), evidence, sentence, parts);
        }
        for &(here, busy) in &work.waiting {
            let (sentence, evidence) = self.wait_words(here);
            self.push(CauseKind::Waiting, busy * slope, Some(here), evidence, sentence, parts);
        }
        if work.plan != 0.0 {
            let (sentence, node) = self.plan_words(work.plan * slope);
            let node = node.and_then(|first| self.node_of_work(first, work.plan));
            let (before, after) = match node {
                Some(here) => (self.busy_before(here), now.nodes[here].busy),
                None => (Some(then.busy()), now.busy()),
            };
            let evidence = vec![figure("busy", ms(before), ms(Some(after)), "ms")];
            self.push(CauseKind::PlanChange, work.plan * slope, node, evidence, sentence, parts);
        }
        if let Some(starved) = starved.filter(|_| work.starved != 0.0) {
            let (cause, sentence, evidence) = self.starved_part(starved);
            let wall_ns = work.starved * slope + work.starved_planning;
            self.push(cause, wall_ns, None, evidence, sentence, parts);
        }
    }

    /// The node that a change of the plan is told with: the first that is another, unless one moved more than twice as
    /// far the way of the work: a scan that lost its predicate may work little more, and what joins its rows much more.
    /// `None` where no node moved that way: nodes that are gone did.
    fn node_of_work(&self, first: usize, work: f64) -> Option<usize> {
        let moved =
            |here: usize| (self.now.nodes[here].busy - self.busy_before(here).unwrap_or(0.0)) * work.signum();
        let most = (0..self.now.nodes.len()).max_by(|&a, &b| moved(a).total_cmp(&moved(b)))?;
        let told = if 2.0 * moved(first) >= moved(most) { first } else { most };
        (moved(told) > 0.0).then_some(told)
    }

    /// The rows that a scan read then and now, where it counts them: others count what they give alone.
    fn scanned(&self, scan: usize) -> Option<(f64, f64)> {
        let there = self.matching.of_new[scan]?;
        self.then.nodes[there].rows_scanned.zip(self.now.nodes[scan].rows_scanned)
    }

    /// Whether the rows of a scan are those it reads, as those it gives are while the same filters stand behind it.
    pub(super) fn counts_reads(&self, scan: usize) -> bool {
        self.scanned(scan).is_some() || !self.replanned || self.filters_alike()
    }

    /// Puts wall time down to the rows that a scan reads, or that a node gives.
    pub(super) fn push_rows(&self, scan: usize, wall_ns: f64, parts: &mut Vec<Part>) {
        let (node, planned) = (&self.now.nodes[scan], &self.now.plan.nodes[scan]);
        let there = self.matching.of_new[scan];
        // Rows that it gives of as many that it reads are another number of rows as well.
        let scanned = self.scanned(scan).filter(|(then, now)| (now - then).abs() >= READS_AS_BEFORE * then);
        let (before, after) = scanned.map_or_else(
            || (there.and_then(|there| self.then.nodes[there].rows_out), node.rows_out),
            |(then, now)| (Some(then), Some(now)),
        );
        let old = there.map(|there| &self.then.plan.nodes[there].table);
        let other = old.filter(|old| **old != planned.table).and_then(Option::as_ref);
        let of_other = other.map_or_else(String::new, |table| format!(" of {table}"));
        let sentence = match (before, after) {
            (Some(then), Some(now)) if then > 0.0 => format!(
                "{} {} {} the rows{of_other} ({} instead of {})",
                planned.name(),
                if scanned.is_some() { "reads" } else { "gives" },
                factor_words(now / then),
                count_words(now),
                count_words(then)
            ),
            _ => format!("{} gives another number of rows", planned.name()),
        };
        let evidence = vec![figure(ROWS, before, after, "rows")];
        self.push(CauseKind::MoreRows, wall_ns, Some(scan), evidence, sentence, parts);
    }

    fn same_work(&self) -> SameWork {
        let mut same = SameWork { before: 0.0, after: 0.0 };
        for (here, node) in self.now.nodes.iter().enumerate() {
            let Some(old) = self.matching.of_new[here].map(|there| &self.then.nodes[there]) else { continue };
            let rows = old.rows().zip(node.rows()).filter(|(then, now)| *then > 0.0 && *now > 0.0);
            same.before += old.busy * rows.map_or(1.0, |(then, now)| now / then);
            same.after += node.busy;
        }
        same
    }

    /// What is said of the time for which threads were not let run.
    pub(super) fn starved_part(&self, by: Starved) -> (CauseKind, String, Vec<Figure>) {
        let (then, now) = (self.then, self.now);
        let (cause, sentence) = if by.contended {
            (
                CauseKind::Contention,
                format!(
                    "The nodes together take {} as long for the same work on this host",
                    factor_words(by.same_work.slower())
                ),
            )
        } else {
            (CauseKind::StarvedCpu, self.starved_words(by.same_work.slower()))
        };
        let SameWork { before, after } = by.same_work;
        // Where the work is another one, the times of all of it are no evidence.
        let evidence = if self.is_starved() || (0.95..=1.05).contains(&(before / then.busy().max(1.0))) {
            vec![
                figure("busy", ms(Some(then.busy())), ms(Some(now.busy())), "ms"),
                figure("cpu", ms(then.cpu), ms(now.cpu), "ms"),
            ]
        } else {
            vec![figure("busy_for_the_same_work", ms(Some(before)), ms(Some(after)), "ms")]
        };
        (cause, sentence, evidence)
    }

    pub(super) fn push(
        &self,
        cause: CauseKind,
        wall_ns: f64,
        node: Option<usize>,
        mut evidence: Vec<Figure>,
        sentence: String,
        parts: &mut Vec<Part>,
    ) {
        evidence.retain(|figure| figure.before.is_some() || figure.after.is_some());
        let node = node.map(|here| self.node(here));
        // Rows of one table that several nodes read, told in the same words, are one part: that of the node with most.
        let is_same = |part: &&mut Part| {
            part.cause == cause
                && part.sentence == sentence
                && (part.node == node || cause == CauseKind::MoreRows)
        };
        if let Some(part) = parts.iter_mut().find(is_same) {
            if wall_ns.abs() > part.wall_ns.abs() {
                part.node = node;
            }
            part.wall_ns += wall_ns;
        } else if wall_ns.abs() > 0.0 {
            parts.push(Part { cause, wall_ns, node, evidence, sentence });
        }
    }
}

/// What more rows have of the difference of two times, each with its rows: halved with what a row takes longer. It is
/// no more than the time with more rows. Where these are ten times as many and more, time that no row takes would look
/// like that of rows: then they have at most the difference.
pub(super) fn time_of_rows(then: (f64, f64), now: (f64, f64)) -> f64 {
    if then.1 <= 0.0 || now.1 <= 0.0 {
        return 0.0;
    }
    let (grown, more) = (now.0 - then.0, now.1 - then.1);
    let halved = (f64::midpoint(then.0 / then.1, now.0 / now.1) * more).clamp(-then.0, now.0);
    let is_linear = (1.0 / MANY_TIMES..=MANY_TIMES).contains(&(now.1 / then.1));
    if is_linear || grown * more <= 0.0 { halved } else { halved.abs().min(grown.abs()).copysign(grown) }
}

/// Whether so much more is spilled than before that it can take that long to write and to read.
pub(super) fn spills_more(before: f64, now: f64, ns: f64) -> bool {
    now > 0.0 && now >= 1.5 * before && (now - before) / SPILLED_BYTES_A_SECOND >= ns.abs() / 1e9
}

pub(super) fn ms(ns: Option<f64>) -> Option<f64> {
    ns.map(|ns| ns / 1e6)
}

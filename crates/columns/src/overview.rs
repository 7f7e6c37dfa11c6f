//! How every label is doing.

use std::borrow::Cow;
use std::mem::take;
use std::sync::Arc;

use queryscope_history::limits::{LATELY_RUNS_MIN, USUAL_WINDOW};
use queryscope_history::{Names as PlanTexts, Overviews, PlanNames, Point, Totals, Window};
use queryscope_store::{
    OverviewAnswer, OverviewPlace, OverviewRank, OverviewRequest, OverviewSplit, Packed, YieldPoint, pack,
    rank,
};

use crate::clusters::Clusters;
use crate::first::First;
use crate::names::Names;
use crate::point::point;
use crate::rules::RuleLists;
use crate::select::{Selection, Snapshot, Wanted, keeps};
use crate::stretches::on_threads;

/// Memory of so many runs is used for the labels that follow. The few that have more would else take theirs until
/// the last label is done.
const POINTS_KEPT: usize = 65_536;

const USUAL_NS: i64 = USUAL_WINDOW.as_nanos() as i64;

/// An entry that may be among those asked for.
struct Candidate<'s> {
    /// Term of its label.
    label: i64,
    /// Where entries are split by service.
    service: Option<Cow<'s, str>>,
    packed: Box<[u8]>,
}

/// How the labels are doing, as [`Store::overview`](queryscope_store::Store::overview) says it.
///
/// Every label is looked at for the totals and the order. Slices and days, which are most of an entry, are made only
/// of labels that may be among those asked for.
pub fn overview<N: Names>(
    names: &N,
    snapshot: &Snapshot,
    selection: &Selection,
    request: &OverviewRequest,
) -> Result<OverviewAnswer, N::Error> {
    let OverviewRequest { window, order, split, after, .. } = request;
    // One more than asked for tells whether others follow.
    let wanted = request.limit.map(|limit| limit.saturating_add(1));
    let after_rank = after.as_ref().map(|after| after.rank);
    let clusters = Clusters::of(snapshot, selection, &YieldPoint::new(snapshot.foreground()));
    let services = snapshot.origins.iter().map(|origin| names.optional(origin.service));
    let services: Vec<Option<String>> = services.collect::<Result<_, _>>()?;
    let services: Arc<[Option<&str>]> = services.iter().map(Option::as_deref).collect();
    let lists = RuleLists::of(names, snapshot, &clusters)?;
    let parts = on_threads(&clusters, window.runs_since_unix_ns(), window.until_unix_ns(), |stretches| {
        let turn = YieldPoint::new(snapshot.foreground());
        let mut reader = Reader { clusters: &clusters, snapshot, turn: &turn, window, points: Vec::new() };
        let mut overviews = Overviews::new(*window);
        let mut totals = Totals::default();
        let mut first = First::<OverviewRank, Candidate<'_>>::new(wanted, after_rank);
        for label in stretches.flatten().copied() {
            turn.pass();
            let Some(term) = snapshot.labels[label] else { continue };
            let plans = clusters.plans(label).iter().map(|plan| snapshot.plans[*plan as usize]);
            let plans = plans.map(|plan| PlanNames {
                fingerprint: plan.fingerprint,
                rules: lists.list(plan.rules).collect(),
            });
            let texts = PlanTexts { plans: plans.collect(), services: Arc::clone(&services) };
            reader.read(label, *split, |points, service, read_since_unix_ns| {
                let earlier = || {
                    let (mut runs, mut seen) = (0, vec![false; texts.plans.len()]);
                    let until_unix_ns = read_since_unix_ns.saturating_sub(1);
                    clusters.each(&[label], i64::MIN, until_unix_ns, &turn, |query| {
                        if keeps(service, snapshot.origins[query.origin() as usize].service) {
                            runs += 1;
                            seen[clusters.place(query.plan())] = true;
                        }
                    });
                    let of_seen = texts.plans.iter().zip(seen).filter(|(_, seen)| *seen);
                    (runs, of_seen.flat_map(|(plan, _)| plan.rules.iter().copied()).collect())
                };
                let Some(mut overview) = overviews.overview(points, &texts, earlier) else { return };
                totals.add(&overview);
                let rank = rank(*order, overview.has_news(), overview.total_wall_ms);
                if first.takes(rank) {
                    overviews.add_cells(&mut overview, points);
                    let service = overview.service.clone().filter(|_| *split == OverviewSplit::Service);
                    first.push(rank, Candidate { label: term, service, packed: pack(&overview) });
                }
            });
        }
        (totals, first.into_entries().collect::<Vec<_>>())
    });
    let mut totals = Totals::default();
    let mut first = First::new(wanted, after_rank);
    for (of_part, candidates) in parts {
        totals.merge(&of_part);
        for (rank, candidate) in candidates {
            first.push(rank, candidate);
        }
    }
    let entries = first.into_entries().map(|(rank, entry)| Ok((rank, names.text(entry.label)?, entry)));
    let mut entries: Vec<(OverviewRank, Arc<str>, Candidate<'_>)> = entries.collect::<Result<_, _>>()?;
    if let Some(after) = after {
        let after = (after.rank, &*after.label, after.service.as_deref());
        entries.retain(|(rank, label, entry)| (*rank, &**label, entry.service.as_deref()) > after);
    }
    entries.sort_unstable_by(|a, b| (a.0, &a.1, &a.2.service).cmp(&(b.0, &b.1, &b.2.service)));
    let limit = request.limit.unwrap_or(usize::MAX);
    let follow = entries.len() > limit;
    entries.truncate(limit);
    let next = entries.last().filter(|_| follow).map(|(rank, label, entry)| OverviewPlace {
        rank: *rank,
        label: label.to_string(),
        service: entry.service.as_deref().map(Into::into),
    });
    let packed = Packed::join(entries.into_iter().map(|(_, label, entry)| (label, entry.packed)));
    Ok(OverviewAnswer { totals, entries: packed, next })
}

/// Reads the runs of one label after the other, as far back as an overview looks at them.
struct Reader<'c> {
    clusters: &'c Clusters,
    snapshot: &'c Snapshot,
    turn: &'c YieldPoint<'c>,
    window: &'c Window,
    points: Vec<Point>,
}

impl Reader<'_> {
    /// Reads the runs of a label. Gives those of each entry that ran in the range, the service of which they are
    /// where entries are split, and since when all of them were read.
    fn read(
        &mut self,
        label: usize,
        split: OverviewSplit,
        mut take_entry: impl FnMut(&[Point], Wanted, i64),
    ) {
        self.points.clear();
        self.points.shrink_to(POINTS_KEPT);
        self.add(label, None, self.window.runs_since_unix_ns(), self.window.until_unix_ns());
        if split == OverviewSplit::Label {
            if let Some(since_unix_ns) = self.complete(label, None) {
                take_entry(&self.points, None, since_unix_ns);
            }
            return;
        }
        let mut all = take(&mut self.points);
        let snapshot = self.snapshot;
        let service = |point: &Point| snapshot.origins[point.service as usize].service;
        all.sort_by_key(service);
        for points in all.chunk_by(|a, b| service(a) == service(b)) {
            let of = Some(service(&points[0]));
            self.points.clear();
            self.points.extend_from_slice(points);
            if let Some(since_unix_ns) = self.complete(label, of) {
                take_entry(&self.points, of, since_unix_ns);
            }
        }
    }

    /// Adds the runs of an entry that lie before those every overview looks at, where this one does; says since when
    /// all are read, or that none is in the range.
    fn complete(&mut self, label: usize, service: Wanted) -> Option<i64> {
        let window = self.window;
        let since_unix_ns = window.runs_since_unix_ns();
        if !self.points.iter().any(|point| point.started_unix_ns >= window.since_unix_ns()) {
            return None;
        }
        let lately_since_unix_ns = window.lately_since_unix_ns();
        let lately = self.points.iter().filter(|point| point.started_unix_ns >= lately_since_unix_ns);
        if lately.count() >= LATELY_RUNS_MIN {
            return Some(since_unix_ns);
        }
        // The last three may lie long ago, and the usual ones in the 14 days before them.
        let earlier_since_unix_ns = match self.third_last() {
            Some(started_unix_ns) => started_unix_ns.saturating_sub(USUAL_NS).min(since_unix_ns),
            None => i64::MIN,
        };
        if earlier_since_unix_ns < since_unix_ns {
            self.add(label, service, earlier_since_unix_ns, since_unix_ns.saturating_sub(1));
        }
        Some(earlier_since_unix_ns)
    }

    fn add(&mut self, label: usize, service: Wanted, since_unix_ns: i64, until_unix_ns: i64) {
        // Growing would hold the runs of a large label three times.
        self.points.reserve_exact(self.clusters.rows_max(label, since_unix_ns, until_unix_ns));
        self.clusters.each(&[label], since_unix_ns, until_unix_ns, self.turn, |query| {
            if service.is_none() || keeps(service, self.snapshot.origins[query.origin() as usize].service) {
                self.points.push(point(query, self.clusters.place(query.plan()) as u32));
            }
        });
    }

    /// When the third last of the runs read started.
    fn third_last(&self) -> Option<i64> {
        let mut starts: Vec<i64> = self.points.iter().map(|point| point.started_unix_ns).collect();
        let third = starts.len().checked_sub(LATELY_RUNS_MIN)?;
        Some(*starts.select_nth_unstable(third).1)
    }
}

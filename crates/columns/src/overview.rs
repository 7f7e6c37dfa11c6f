//! How every label is doing.

use std::sync::Arc;

use queryscope_history::limits::{LATELY_RUNS_MIN, USUAL_WINDOW};
use queryscope_history::{Names as PlanTexts, Overviews, PlanNames, Point, Window};
use queryscope_store::{OverviewEntry, breathe};

use crate::clusters::Clusters;
use crate::names::Names;
use crate::point::point;
use crate::rules::RuleLists;
use crate::select::{Selection, Snapshot};
use crate::stretches::on_threads;

/// Memory of so many runs is used for the labels that follow. The few that have more would else take theirs until the last
/// label is done.
const POINTS_KEPT: usize = 65_536;

const USUAL_NS: i64 = USUAL_WINDOW.as_nanos() as i64;

/// How the labels are doing, as [`Store::overview`](queryscope_store::Store::overview) says it.
pub fn overview<N: Names>(
    names: &N,
    snapshot: &Snapshot,
    selection: &Selection,
    window: &Window,
) -> Result<Vec<OverviewEntry>, N::Error> {
    let clusters = Clusters::of(snapshot, selection);
    let services = snapshot.origins.iter().map(|origin| names.optional(origin.service));
    let services: Vec<Option<String>> = services.collect::<Result<_, _>>()?;
    let services: Arc<[Option<&str>]> = services.iter().map(Option::as_deref).collect();
    let lists = RuleLists::of(names, snapshot, &clusters)?;
    let parts = on_threads(&clusters, window.runs_since_unix_ns(), window.until_unix_ns(), |stretches| {
        let mut reader = Reader { clusters: &clusters, window, points: Vec::new() };
        let mut overviews = Overviews::new(*window);
        let of_label = |label: usize| {
            breathe();
            let term = snapshot.labels[label]?;
            let read_since_unix_ns = reader.read(label)?;
            let plans = clusters.plans(label).iter().map(|plan| snapshot.plans[*plan as usize]);
            let plans = plans.map(|plan| PlanNames {
                fingerprint: plan.fingerprint,
                rules: lists.list(plan.rules).collect(),
            });
            let texts = PlanTexts { plans: plans.collect(), services: Arc::clone(&services) };
            let overview = overviews.overview(&reader.points, &texts, || {
                let (mut runs, mut seen) = (0, vec![false; texts.plans.len()]);
                clusters.each(&[label], i64::MIN, read_since_unix_ns.saturating_sub(1), |query| {
                    runs += 1;
                    seen[clusters.place(query.plan())] = true;
                });
                let of_seen = texts.plans.iter().zip(seen).filter(|(_, seen)| *seen);
                (runs, of_seen.flat_map(|(plan, _)| plan.rules.iter().copied()).collect())
            })?;
            Some((term, overview))
        };
        stretches.flatten().copied().filter_map(of_label).collect::<Vec<_>>()
    });
    let entries = parts.into_iter().flatten();
    let entries = entries.map(|(term, overview)| Ok(OverviewEntry::of(&names.text(term)?, overview)));
    let mut entries: Vec<OverviewEntry> = entries.collect::<Result<_, _>>()?;
    entries.sort_by(|a, b| a.place().cmp(&b.place()));
    Ok(entries)
}

/// Reads the runs of one label after the other, as far back as an overview looks at them.
struct Reader<'c> {
    clusters: &'c Clusters,
    window: &'c Window,
    points: Vec<Point>,
}

impl Reader<'_> {
    /// Reads the runs of a label; says since when those are that were read, or that none is in the range.
    fn read(&mut self, label: usize) -> Option<i64> {
        let (window, until_unix_ns) = (self.window, self.window.until_unix_ns());
        let since_unix_ns = window.runs_since_unix_ns();
        self.points.clear();
        self.points.shrink_to(POINTS_KEPT);
        self.add(label, since_unix_ns, until_unix_ns);
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
            self.add(label, earlier_since_unix_ns, since_unix_ns.saturating_sub(1));
        }
        Some(earlier_since_unix_ns)
    }

    fn add(&mut self, label: usize, since_unix_ns: i64, until_unix_ns: i64) {
        // Growing would hold the runs of a large label three times.
        self.points.reserve_exact(self.clusters.rows_max(label, since_unix_ns, until_unix_ns));
        self.clusters.each(&[label], since_unix_ns, until_unix_ns, |query| {
            self.points.push(point(query, self.clusters.place(query.plan()) as u32));
        });
    }

    /// When the third last of the runs read started.
    fn third_last(&self) -> Option<i64> {
        let mut starts: Vec<i64> = self.points.iter().map(|point| point.started_unix_ns).collect();
        let third = starts.len().checked_sub(LATELY_RUNS_MIN)?;
        Some(*starts.select_nth_unstable(third).1)
    }
}

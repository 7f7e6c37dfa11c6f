//! How every label is doing.

use std::sync::Arc;

use queryscope_history::limits::{LATELY_RUNS_MIN, USUAL_WINDOW};
use queryscope_history::{Names as PlanTexts, Overviews, PlanNames, Point, Window};
use queryscope_store::OverviewEntry;

use crate::clusters::Clusters;
use crate::dictionary::Plan;
use crate::names::Names;
use crate::point::point;
use crate::rules::RuleLists;
use crate::select::{Selection, Snapshot};

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
    let places = places_in_labels(snapshot, &clusters);
    let mut reader = Reader { clusters: &clusters, places: &places, window, points: Vec::new() };
    let mut overviews = Overviews::new(*window);
    let mut lists = RuleLists::default();
    let mut entries = Vec::new();
    for (label, term) in snapshot.labels.iter().enumerate() {
        let Some(term) = term else { continue };
        let Some(read_since_unix_ns) = reader.read(label) else { continue };
        let plans: Vec<Plan> =
            clusters.plans(label).iter().map(|plan| snapshot.plans[*plan as usize]).collect();
        let texts =
            plans.iter().map(|plan| Ok((names.optional(plan.fingerprint)?, lists.list(names, plan.rules)?)));
        let texts: Vec<_> = texts.collect::<Result<_, _>>()?;
        let plans = texts.iter().map(|(fingerprint, rules)| PlanNames {
            fingerprint: fingerprint.as_deref(),
            rules: rules.iter().map(String::as_str).collect(),
        });
        let texts = PlanTexts { plans: plans.collect(), services: Arc::clone(&services) };
        let overview = overviews.overview(&reader.points, &texts, || {
            let (mut runs, mut seen) = (0, vec![false; texts.plans.len()]);
            clusters.each(label, i64::MIN, read_since_unix_ns.saturating_sub(1), |_, row| {
                runs += 1;
                seen[places[row.plan as usize] as usize] = true;
            });
            let of_seen = texts.plans.iter().zip(seen).filter(|(_, seen)| *seen);
            (runs, of_seen.flat_map(|(plan, _)| plan.rules.iter().copied()).collect())
        });
        if let Some(overview) = overview {
            entries.push(OverviewEntry::of(&names.text(*term)?, overview));
        }
    }
    entries.sort_by(|a, b| a.place().cmp(&b.place()));
    Ok(entries)
}

/// Each plan's place among those of its label.
fn places_in_labels(snapshot: &Snapshot, clusters: &Clusters) -> Vec<u32> {
    let mut places = vec![0; snapshot.plans.len()];
    for label in clusters.labels() {
        for (place, plan) in (0..).zip(clusters.plans(label)) {
            places[*plan as usize] = place;
        }
    }
    places
}

/// Reads the runs of one label after the other, as far back as an overview looks at them.
struct Reader<'c> {
    clusters: &'c Clusters,
    places: &'c [u32],
    window: &'c Window,
    points: Vec<Point>,
}

impl Reader<'_> {
    /// Reads the runs of a label; says since when those are that were read, or that none is in the range.
    fn read(&mut self, label: usize) -> Option<i64> {
        let (window, now_unix_ns) = (self.window, self.window.now_unix_ns());
        let since_unix_ns = window.runs_since_unix_ns();
        self.points.clear();
        self.add(label, since_unix_ns, now_unix_ns);
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
        self.clusters.each(label, since_unix_ns, until_unix_ns, |number, row| {
            self.points.push(point(number, row, self.places[row.plan as usize]));
        });
    }

    /// When the third last of the runs read started.
    fn third_last(&self) -> Option<i64> {
        let mut starts: Vec<i64> = self.points.iter().map(|point| point.started_unix_ns).collect();
        let third = starts.len().checked_sub(LATELY_RUNS_MIN)?;
        Some(*starts.select_nth_unstable(third).1)
    }
}

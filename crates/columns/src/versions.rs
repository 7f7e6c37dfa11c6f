//! The plans of a label.

use std::cmp::Reverse;
use std::mem::take;

use queryscope_history::Version;
use queryscope_store::YieldPoint;

use crate::clusters::Clusters;
use crate::dictionary::Plan;
use crate::names::Names;
use crate::rules::RuleLists;
use crate::select::{Selection, Snapshot};
use crate::tallies::{Told, tally};

/// The plans that queries a selection keeps finished with, as [`Store::versions`](queryscope_store::Store::versions)
/// gives them.
pub fn versions<N: Names>(
    names: &N,
    snapshot: &Snapshot,
    selection: &Selection,
) -> Result<Vec<Version>, N::Error> {
    let clusters = Clusters::of(snapshot, selection, &YieldPoint::new(snapshot.foreground()));
    let lists = RuleLists::of(names, snapshot, &clusters)?;
    let by_plan = |plan: &Plan| plan.fingerprint;
    let plans = tally(snapshot, selection, &clusters, &lists, by_plan, Told::Version, |tally, rules| {
        Some((clusters.row(tally.last()?), take(tally), rules))
    });
    let mut versions = Vec::new();
    for (term, (last, tally, rules)) in plans {
        // Retention takes the oldest first: where the latest has gone since the snapshot, so have all.
        let Some(latest) = names.query_id(last)? else { continue };
        if let Some(version) = tally.into_version(&names.text(term)?, rules, latest) {
            versions.push((last, version));
        }
    }
    versions.sort_unstable_by_key(|(last, version)| Reverse((version.last_started_unix_ns, *last)));
    Ok(versions.into_iter().map(|(_, version)| version).collect())
}

//! The plans of a label.

use std::cmp::Reverse;

use queryscope_store::VersionEntry;

use crate::clusters::Clusters;
use crate::keys::Keys;
use crate::names::Names;
use crate::rules::distinct;
use crate::select::{Selection, Snapshot};
use crate::tallies::{Tallied, tally};

/// The plans that queries a selection keeps finished with, as [`Store::versions`](queryscope_store::Store::versions)
/// gives them.
pub fn versions<N: Names>(
    names: &N,
    snapshot: &Snapshot,
    selection: &Selection,
) -> Result<Vec<VersionEntry>, N::Error> {
    let keys = Keys::of(snapshot, |plan| plan.fingerprint);
    let clusters = Clusters::of(snapshot, selection);
    let mut versions = Vec::new();
    tally(names, snapshot, selection, &clusters, &keys, |Tallied { term, tally, rules }| {
        let Some(last) = tally.last().map(|number| clusters.row(number)) else { return Ok(()) };
        // Retention takes the oldest first: where the latest has gone since the snapshot, so have all.
        let Some(latest) = names.query_id(last)? else { return Ok(()) };
        let fingerprint = names.text(term)?;
        if let Some(version) = tally.into_version(&fingerprint, distinct(&rules), latest) {
            versions.push((last, VersionEntry::of(&version, latest)));
        }
        Ok(())
    })?;
    versions.sort_unstable_by_key(|(last, version)| Reverse((version.last_started_unix_ns, *last)));
    Ok(versions.into_iter().map(|(_, version)| version).collect())
}

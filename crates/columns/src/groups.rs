//! Queries by label or plan.

use std::cmp::Reverse;

use queryscope_store::{GroupBy, GroupEntry};

use crate::clusters::Clusters;
use crate::dictionary::Plan;
use crate::keys::Keys;
use crate::names::Names;
use crate::rules::distinct;
use crate::select::{Selection, Snapshot};
use crate::tallies::{Tallied, tally};

/// The queries a selection keeps by label or plan, as [`Store::groups`](queryscope_store::Store::groups) gives them.
pub fn groups<N: Names>(
    names: &N,
    snapshot: &Snapshot,
    selection: &Selection,
    by: GroupBy,
) -> Result<Vec<GroupEntry>, N::Error> {
    let field = match by {
        GroupBy::Label => |plan: &Plan| plan.label,
        GroupBy::Fingerprint => |plan: &Plan| plan.fingerprint,
    };
    let keys = Keys::of(snapshot, field);
    let clusters = Clusters::of(snapshot, selection);
    let mut groups = Vec::new();
    tally(names, snapshot, selection, &clusters, &keys, |Tallied { term, tally, rules }| {
        if let Some(group) = tally.into_group(distinct(&rules)) {
            groups.push(GroupEntry::of(&names.text(term)?, group));
        }
        Ok(())
    })?;
    groups.sort_unstable_by(|a, b| {
        (Reverse(a.last_started_unix_ns), &a.key).cmp(&(Reverse(b.last_started_unix_ns), &b.key))
    });
    Ok(groups)
}

//! Queries by label or plan.

use std::cmp::Reverse;

use queryscope_history::Tally;
use queryscope_store::{GroupBy, GroupEntry, breathing};

use crate::clusters::Clusters;
use crate::dictionary::Plan;
use crate::names::Names;
use crate::rules::RuleLists;
use crate::select::{Selection, Snapshot};
use crate::tallies::{Told, tally};

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
    let clusters = Clusters::of(snapshot, selection);
    let lists = RuleLists::of(names, snapshot, &clusters)?;
    let groups = tally(snapshot, selection, &clusters, &lists, field, Told::Group, Tally::group);
    let groups = breathing(groups).map(|(term, group)| Ok(GroupEntry::of(&names.text(term)?, group)));
    let mut groups: Vec<GroupEntry> = groups.collect::<Result<_, _>>()?;
    groups.sort_unstable_by(|a, b| {
        (Reverse(a.last_started_unix_ns), &a.key).cmp(&(Reverse(b.last_started_unix_ns), &b.key))
    });
    Ok(groups)
}

//! Runs by label or plan.

use std::cmp::Reverse;
use std::sync::Arc;

use queryscope_store::{GroupBy, GroupPlace, GroupsAnswer, GroupsRequest, Packed, YieldPoint, pack};

use crate::clusters::Clusters;
use crate::dictionary::Plan;
use crate::first::First;
use crate::names::Names;
use crate::rules::RuleLists;
use crate::select::{Selection, Snapshot};
use crate::tallies::{Told, tally};

/// A group with its rank and its key.
type Named = (Reverse<i64>, Arc<str>, Box<[u8]>);

/// The queries a selection keeps by label or plan, as [`Store::groups`](queryscope_store::Store::groups) gives them.
pub fn groups<N: Names>(
    names: &N,
    snapshot: &Snapshot,
    selection: &Selection,
    request: &GroupsRequest,
) -> Result<GroupsAnswer, N::Error> {
    let field = match request.by {
        GroupBy::Label => |plan: &Plan| plan.label,
        GroupBy::Fingerprint => |plan: &Plan| plan.fingerprint,
    };
    let turn = YieldPoint::new(snapshot.foreground());
    let clusters = Clusters::of(snapshot, selection, &turn);
    let lists = RuleLists::of(names, snapshot, &clusters)?;
    let groups = tally(snapshot, selection, &clusters, &lists, field, Told::Group, |tally, rules| {
        let group = tally.group(rules)?;
        Some((Reverse(group.last_started_unix_ns), pack(&group)))
    });
    let after = request.after.as_ref();
    // One more than asked for tells whether others follow.
    let wanted = request.limit.map(|limit| limit.saturating_add(1));
    let mut first = First::new(wanted, after.map(|after| after.last_started_unix_ns));
    for (term, (rank, packed)) in groups {
        first.push(rank, (term, packed));
    }
    let entries = turn.over(first.into_entries());
    let entries = entries.map(|(rank, (term, packed))| Ok((rank, names.text(term)?, packed)));
    let mut entries: Vec<Named> = entries.collect::<Result<_, _>>()?;
    if let Some(after) = after {
        entries.retain(|(rank, key, _)| (*rank, &**key) > (after.last_started_unix_ns, &*after.key));
    }
    entries.sort_unstable_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let limit = request.limit.unwrap_or(usize::MAX);
    let follow = entries.len() > limit;
    entries.truncate(limit);
    let next = entries
        .last()
        .filter(|_| follow)
        .map(|(rank, key, _)| GroupPlace { last_started_unix_ns: *rank, key: key.to_string() });
    let packed = Packed::join(entries.into_iter().map(|(_, key, packed)| (key, packed)));
    Ok(GroupsAnswer { entries: packed, next })
}

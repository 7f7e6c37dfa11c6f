//! Queries by label or plan.

use std::cmp::Reverse;

use queryscope_store::{GroupBy, GroupEntry};
use rusqlite::Connection;

use super::keys::Keys;
use super::rules::distinct;
use super::tallies::{Tallied, tally};
use crate::columns::{Clusters, Plan, Selection, Snapshot};
use crate::terms::TermTexts;

pub(crate) fn groups(
    db: &Connection,
    terms: &TermTexts,
    snapshot: &Snapshot,
    selection: &Selection,
    by: GroupBy,
) -> rusqlite::Result<Vec<GroupEntry>> {
    let field = match by {
        GroupBy::Label => |plan: &Plan| plan.label,
        GroupBy::Fingerprint => |plan: &Plan| plan.fingerprint,
    };
    let keys = Keys::of(snapshot, field);
    let clusters = Clusters::of(snapshot, selection);
    let mut groups = Vec::new();
    tally((db, terms), snapshot, selection, &clusters, &keys, |Tallied { term, tally, rules }| {
        if let Some(group) = tally.into_group(distinct(&rules)) {
            groups.push(GroupEntry::of(&terms.text(db, term)?, group));
        }
        Ok(())
    })?;
    groups.sort_unstable_by(|a, b| {
        (Reverse(a.last_started_unix_ns), &a.key).cmp(&(Reverse(b.last_started_unix_ns), &b.key))
    });
    Ok(groups)
}

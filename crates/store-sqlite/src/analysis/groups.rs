//! Queries by label or plan.

use std::cmp::Reverse;

use queryscope_history::Group;
use queryscope_store::{GroupBy, GroupEntry};
use rusqlite::Connection;

use super::keys::Keys;
use super::names::Names;
use super::partition::partition;
use crate::columns::{Plan, Selection, Snapshot};
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
    let names = Names::of(db, terms, snapshot, selection)?;
    let rules = names.rules();
    let mut groups = Vec::new();
    let mut runs = Vec::new();
    partition(
        snapshot,
        selection,
        keys.terms.len(),
        |row| keys.of_plan[row.plan as usize],
        |key, rows| {
            runs.clear();
            runs.extend(rows.iter().map(|(number, row)| names.run(&rules, *number, row)));
            if let Some(group) = Group::of(&runs) {
                groups.push(GroupEntry::of(&terms.text(db, keys.terms[key])?, group));
            }
            Ok(())
        },
    )?;
    groups.sort_unstable_by(|a, b| {
        (Reverse(a.last_started_unix_ns), &a.key).cmp(&(Reverse(b.last_started_unix_ns), &b.key))
    });
    Ok(groups)
}

//! Queries by label or plan.

use std::cmp::Reverse;

use queryscope_history::GroupTally;
use queryscope_store::{GroupBy, GroupEntry};
use rusqlite::Connection;

use super::keys::Keys;
use super::names::Names;
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
    let mut tallies = vec![GroupTally::default(); keys.terms.len()];
    for (number, row) in selection.rows(snapshot) {
        if let Some(key) = keys.of_plan[row.plan as usize] {
            tallies[key].add(&names.run(&rules, number, &row));
        }
    }
    let mut groups = Vec::new();
    for (term, tally) in keys.terms.iter().zip(tallies) {
        if let Some(group) = tally.finish() {
            groups.push(GroupEntry::of(&terms.text(db, *term)?, group));
        }
    }
    groups.sort_unstable_by(|a, b| {
        (Reverse(a.last_started_unix_ns), &a.key).cmp(&(Reverse(b.last_started_unix_ns), &b.key))
    });
    Ok(groups)
}

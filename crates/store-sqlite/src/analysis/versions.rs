//! The plans of a label.

use queryscope_history::versions as of_runs;
use queryscope_protocol::QueryId;
use queryscope_store::VersionEntry;
use rusqlite::{Connection, OptionalExtension};
use uuid::Uuid;

use super::names::{Names, row_of};
use crate::columns::{Selection, Snapshot};
use crate::terms::TermTexts;

pub(crate) fn versions(
    db: &Connection,
    terms: &TermTexts,
    snapshot: &Snapshot,
    selection: &Selection,
) -> rusqlite::Result<Vec<VersionEntry>> {
    let names = Names::of(db, terms, snapshot, selection)?;
    let rules = names.rules();
    let runs: Vec<_> =
        selection.rows(snapshot).map(|(number, row)| names.run(&rules, number, &row)).collect();
    let mut versions = Vec::new();
    for version in of_runs(&runs) {
        let id: Option<[u8; 16]> = db
            .prepare_cached("SELECT query_id FROM query WHERE id = ?1")?
            .query_row([row_of(version.latest_query_id)], |row| row.get(0))
            .optional()?;
        // Retention takes the oldest first: where the latest has gone since the snapshot, so have all.
        if let Some(id) = id {
            versions.push(VersionEntry::of(&version, QueryId::new(Uuid::from_bytes(id))));
        }
    }
    Ok(versions)
}

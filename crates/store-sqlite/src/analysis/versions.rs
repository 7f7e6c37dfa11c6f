//! The plans of a label.

use queryscope_history::versions as of_runs;
use queryscope_protocol::QueryId;
use queryscope_store::VersionEntry;
use rusqlite::Connection;
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
    of_runs(&runs)
        .iter()
        .map(|version| {
            let row = row_of(version.latest_query_id);
            let id = db
                .prepare_cached("SELECT query_id FROM query WHERE id = ?1")?
                .query_row([row], |row| row.get(0).map(Uuid::from_bytes))?;
            Ok(VersionEntry::of(version, QueryId::new(id)))
        })
        .collect()
}

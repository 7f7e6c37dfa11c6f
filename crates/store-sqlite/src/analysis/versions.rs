//! The plans of a label.

use std::cmp::Reverse;

use queryscope_protocol::QueryId;
use queryscope_store::VersionEntry;
use rusqlite::{Connection, OptionalExtension};
use uuid::Uuid;

use super::keys::Keys;
use super::rules::distinct;
use super::tallies::{Tallied, tally};
use crate::columns::{Clusters, Selection, Snapshot};
use crate::terms::TermTexts;

pub(crate) fn versions(
    db: &Connection,
    terms: &TermTexts,
    snapshot: &Snapshot,
    selection: &Selection,
) -> rusqlite::Result<Vec<VersionEntry>> {
    let keys = Keys::of(snapshot, |plan| plan.fingerprint);
    let clusters = Clusters::of(snapshot, selection);
    let mut versions = Vec::new();
    tally((db, terms), snapshot, selection, &clusters, &keys, |Tallied { term, tally, rules }| {
        let Some(last) = tally.last().map(|number| clusters.row(number)) else { return Ok(()) };
        let id: Option<[u8; 16]> = db
            .prepare_cached("SELECT query_id FROM query WHERE id = ?1")?
            .query_row([last], |row| row.get(0))
            .optional()?;
        // Retention takes the oldest first: where the latest has gone since the snapshot, so have all.
        let Some(id) = id else { return Ok(()) };
        let latest = QueryId::new(Uuid::from_bytes(id));
        let fingerprint = terms.text(db, term)?;
        if let Some(version) = tally.into_version(&fingerprint, distinct(&rules), latest) {
            versions.push((last, VersionEntry::of(&version, latest)));
        }
        Ok(())
    })?;
    versions.sort_unstable_by_key(|(last, version)| Reverse((version.last_started_unix_ns, *last)));
    Ok(versions.into_iter().map(|(_, version)| version).collect())
}

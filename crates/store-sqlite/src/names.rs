//! What the database says of the numbers in the columns.

use std::sync::Arc;

use queryscope_columns::Names;
use queryscope_protocol::QueryId;
use rusqlite::{Connection, OptionalExtension};
use uuid::Uuid;

use crate::error::damaged;
use crate::terms::{TermTexts, find};

/// Terms and rows of a database.
pub(crate) struct DatabaseNames<'r> {
    pub(crate) db: &'r Connection,
    pub(crate) terms: &'r TermTexts,
}

impl Names for DatabaseNames<'_> {
    type Error = rusqlite::Error;

    fn text(&self, term: i64) -> rusqlite::Result<Arc<str>> {
        self.terms.text(self.db, term)
    }

    fn find(&self, text: &str) -> rusqlite::Result<Option<i64>> {
        find(self.db, text)
    }

    fn rules(&self, term: i64) -> rusqlite::Result<Vec<String>> {
        serde_json::from_str(&self.text(term)?).map_err(|_| damaged(0, "no list of rules"))
    }

    fn query_id(&self, row: i64) -> rusqlite::Result<Option<QueryId>> {
        self.db
            .prepare_cached("SELECT query_id FROM query WHERE id = ?1")?
            .query_row([row], |row| Ok(QueryId::new(Uuid::from_bytes(row.get(0)?))))
            .optional()
    }
}

//! Texts that repeat, by number.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use queryscope_store::{Lookup, TermNumbers};
use rusqlite::{Connection, OptionalExtension};

use crate::error::damaged;

/// Texts held in memory; beyond it the cache starts anew.
const CACHED_MAX: usize = 100_000;
/// Longer texts, as errors may be, are not held.
const CACHED_BYTES_MAX: usize = 256;

/// The writer's side: gives every text a number.
#[derive(Debug, Default)]
pub(crate) struct TermIds {
    numbers: HashMap<String, i64>,
    /// Terms that are in the table `engine`.
    engines: HashSet<i64>,
}

impl TermIds {
    /// The number of a text, which is stored when it is new.
    pub(crate) fn id(&mut self, db: &Connection, text: &str) -> rusqlite::Result<i64> {
        if let Some(id) = self.numbers.get(text) {
            return Ok(*id);
        }
        let id = if let Some(id) = find(db, text)? {
            id
        } else {
            db.prepare_cached("INSERT INTO term (text) VALUES (?1)")?.execute([text])?;
            db.last_insert_rowid()
        };
        if text.len() <= CACHED_BYTES_MAX {
            if self.numbers.len() >= CACHED_MAX {
                self.numbers.clear();
            }
            self.numbers.insert(text.to_owned(), id);
        }
        Ok(id)
    }

    /// The number of a text that may be absent.
    pub(crate) fn optional(&mut self, db: &Connection, text: Option<&str>) -> rusqlite::Result<Option<i64>> {
        text.map(|text| self.id(db, text)).transpose()
    }

    /// Notes that events have named an engine.
    pub(crate) fn note_engine(&mut self, db: &Connection, engine: i64) -> rusqlite::Result<()> {
        if !self.engines.contains(&engine) {
            db.prepare_cached("INSERT OR IGNORE INTO engine (term) VALUES (?1)")?.execute([engine])?;
            if self.engines.len() >= CACHED_MAX {
                self.engines.clear();
            }
            self.engines.insert(engine);
        }
        Ok(())
    }

    /// Forgets what a transaction that was rolled back may have numbered.
    pub(crate) fn forget(&mut self) {
        self.numbers.clear();
        self.engines.clear();
    }
}

/// The number of a text, if it has one.
pub(crate) fn find(db: &Connection, text: &str) -> rusqlite::Result<Option<i64>> {
    db.prepare_cached("SELECT id FROM term WHERE text = ?1")?.query_row([text], |row| row.get(0)).optional()
}

/// The numbers of those texts that have one.
pub(crate) fn numbers<'t>(
    db: &Connection,
    texts: impl Iterator<Item = &'t str>,
) -> rusqlite::Result<TermNumbers> {
    texts.filter_map(|text| Some(find(db, text).transpose()?.map(|number| (text.into(), number)))).collect()
}

/// The numbers of the texts a lookup asks for.
pub(crate) fn matching(db: &Connection, lookup: &Lookup<'_>) -> rusqlite::Result<Vec<i64>> {
    let mut statement = db.prepare_cached("SELECT id, text FROM term")?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        if lookup.matches(row.get_ref(1)?.as_str()?) {
            found.push(row.get(0)?);
        }
    }
    Ok(found)
}

/// The readers' side: the text of every number. Numbers are never used again, so it is never stale.
#[derive(Debug, Default)]
pub(crate) struct TermTexts(RwLock<HashMap<i64, Arc<str>>>);

impl TermTexts {
    /// The text of a number.
    pub(crate) fn text(&self, db: &Connection, id: i64) -> rusqlite::Result<Arc<str>> {
        if let Some(text) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&id) {
            return Ok(Arc::clone(text));
        }
        let text: Arc<str> = db
            .prepare_cached("SELECT text FROM term WHERE id = ?1")?
            .query_row([id], |row| row.get::<_, String>(0))
            .optional()?
            // Without this, who looks for a row would take it for missing.
            .ok_or_else(|| damaged(0, "a number without a text"))?
            .into();
        if text.len() <= CACHED_BYTES_MAX {
            let mut texts = self.0.write().unwrap_or_else(PoisonError::into_inner);
            if texts.len() >= CACHED_MAX {
                texts.clear();
            }
            texts.insert(id, Arc::clone(&text));
        }
        Ok(text)
    }

    /// The text of a number that may be absent.
    pub(crate) fn optional(&self, db: &Connection, id: Option<i64>) -> rusqlite::Result<Option<String>> {
        id.map(|id| self.text(db, id).map(|text| text.to_string())).transpose()
    }
}

//! Which rows of the table `query` the writer has changed since they were last taken.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;

const TABLE: &str = "query";

/// Rows a connection has changed, whatever statement changed them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Touched(Arc<Mutex<Vec<i64>>>);

impl Touched {
    /// Watches a connection.
    pub(crate) fn watch(db: &mut Connection) -> rusqlite::Result<Self> {
        let touched = Self::default();
        let noted = touched.clone();
        db.update_hook(Some(move |_, _: &str, table: &str, row| {
            if table == TABLE {
                noted.0.lock().unwrap_or_else(PoisonError::into_inner).push(row);
            }
        }))?;
        Ok(touched)
    }

    /// Notes rows that could not be dealt with, for the next time.
    pub(crate) fn note(&self, rows: Vec<i64>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(rows);
    }

    /// Whether there are none since they were last taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// The rows since the last call, each once.
    pub(crate) fn take(&self) -> Vec<i64> {
        let mut rows = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        rows.sort_unstable();
        rows.dedup();
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_queries_are_noted_once() {
        let mut db = Connection::open_in_memory().expect("a database");
        db.execute_batch(
            "CREATE TABLE query (id INTEGER PRIMARY KEY, a); CREATE TABLE other (id INTEGER PRIMARY KEY)",
        )
        .expect("tables");
        let touched = Touched::watch(&mut db).expect("watched");
        db.execute_batch(
            "INSERT INTO query VALUES (7, 1), (5, 1); INSERT INTO other VALUES (9); UPDATE query SET a = 2 WHERE id = 7;
             DELETE FROM query WHERE id = 5",
        )
        .expect("changed");
        assert!(!touched.is_empty());
        assert_eq!(touched.take(), [5, 7]);
        assert!(touched.is_empty() && touched.take().is_empty());
        touched.note(vec![7]);
        assert_eq!(touched.take(), [7]);
    }
}

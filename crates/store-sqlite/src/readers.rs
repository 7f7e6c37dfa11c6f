//! Connections that read, shared by all readers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use queryscope_store::{StoreError, carry};
use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::error::{OpenError, store_error};
use crate::migrate::open_reader;
use crate::terms::TermTexts;

/// A fixed number of connections; who asks while all are in use waits.
#[derive(Debug)]
pub(crate) struct Readers {
    inner: Arc<Inner>,
    permits: Semaphore,
}

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    terms: TermTexts,
}

impl Readers {
    /// Opens the connections.
    pub(crate) fn open(path: &Path, count: usize) -> Result<Self, OpenError> {
        let idle = (0..count)
            .map(|_| open_reader(path))
            .collect::<rusqlite::Result<Vec<_>>>()
            .map_err(|source| OpenError::Database { path: path.to_owned(), source })?;
        let inner = Inner { path: path.to_owned(), idle: Mutex::new(idle), terms: TermTexts::default() };
        Ok(Self { inner: Arc::new(inner), permits: Semaphore::new(count) })
    }

    /// Reads on a connection, outside the async workers, in one transaction: what it reads is of one moment. The
    /// log cannot be written from its beginning meanwhile, so this is not for work that takes long.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection, &TermTexts) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.work(move |connection, terms| {
            let transaction = connection.transaction()?;
            let result = work(&transaction, terms);
            transaction.finish()?;
            result
        })
        .await
    }

    /// Works with a connection, outside the async workers, however long: what each statement reads is of its own
    /// moment.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection, &TermTexts) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let _permit =
            self.permits.acquire().await.map_err(|_| StoreError::unavailable("the store is closed"))?;
        let inner = Arc::clone(&self.inner);
        let done = tokio::task::spawn_blocking(carry(move || {
            let idle = inner.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut connection = match idle {
                Some(connection) => connection,
                None => open_reader(&inner.path)?,
            };
            let result = work(&mut connection, &inner.terms);
            inner.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            result
        }));
        done.await.map_err(StoreError::unavailable)?.map_err(store_error)
    }

    /// Refuses every later read and lets go of the connections.
    pub(crate) fn close(&self) {
        self.permits.close();
        self.inner.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::migrate::open_writer;

    fn count(db: &Connection) -> i64 {
        db.query_row("SELECT count(*) FROM stream", [], |row| row.get(0)).expect("a count")
    }

    /// Whether the log could be written from its beginning now.
    fn is_log_free(path: &Path) -> bool {
        let db = Connection::open(path).expect("a database");
        db.busy_timeout(Duration::ZERO).expect("no wait");
        let busy = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
        !busy.expect("an answer")
    }

    #[tokio::test]
    async fn long_work_does_not_hold_the_log() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("queryscope.db");
        let writer = open_writer(&path, true).expect("a database");
        let readers = Readers::open(&path, 1).expect("connections");
        writer.execute_batch("UPDATE running SET heard_unix_ms = 1; ANALYZE;").expect("something in the log");
        let at = path.clone();
        let held = readers.read(move |db, _| Ok((count(db), is_log_free(&at)))).await.expect("read");
        assert_eq!(held, (0, false), "a transaction holds it");
        let free = readers.work(move |db, _| Ok((count(db), is_log_free(&path)))).await.expect("done");
        assert_eq!(free, (0, true));
    }
}

//! Connections that read, shared by all readers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use queryscope_store::StoreError;
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

    /// Reads on a connection, outside the async workers, in one transaction: what it reads is of one moment.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection, &TermTexts) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let _permit =
            self.permits.acquire().await.map_err(|_| StoreError::unavailable("the store is closed"))?;
        let inner = Arc::clone(&self.inner);
        let read = tokio::task::spawn_blocking(move || {
            let idle = inner.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut connection = match idle {
                Some(connection) => connection,
                None => open_reader(&inner.path)?,
            };
            let transaction = connection.transaction()?;
            let result = work(&transaction, &inner.terms);
            transaction.finish()?;
            inner.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            result
        });
        read.await.map_err(StoreError::unavailable)?.map_err(store_error)
    }

    /// Refuses every later read and lets go of the connections.
    pub(crate) fn close(&self) {
        self.permits.close();
        self.inner.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

//! Reading rows for the columns.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;

use queryscope_columns::{Columns, Origin, Plan, QueryState, ROWS, RowState, Snapshot};
use queryscope_store::{Status, StoreError};
use rusqlite::{Connection, OptionalExtension, Row};
use tokio::sync::watch;

use crate::error::{OpenError, damaged};
use crate::migrate::open_reader;
use crate::segments;

/// Connections that read: the rows of ten millions are to be there within seconds of a start.
const LOADERS: usize = 2;
/// Rows read in one transaction, those of one segment: between two the log can be moved.
const PAGE: i64 = ROWS as i64;

/// Rows taken over at once: commits wait for these.
const ROWS_AT_ONCE: usize = 4_096;

const FIRST_ROW: &str = "SELECT coalesce(min(id), 0) FROM query";
const LAST_ROW: &str = "SELECT coalesce(max(id), 0) FROM query";
pub(crate) const PAGE_OF_ROWS: &str =
    "SELECT id, started_unix_ns, wall_ms, project, service, environment, host, label, fingerprint, rules, status
     FROM query WHERE id >= ?1 AND id < ?2 ORDER BY id";
const ONE_ROW: &str =
    "SELECT id, started_unix_ns, wall_ms, project, service, environment, host, label, fingerprint, rules, status
     FROM query WHERE id = ?1";

/// Columns that are being filled, or are.
#[derive(Debug)]
pub(crate) struct LoadedColumns {
    columns: Arc<RwLock<Columns>>,
    state: watch::Receiver<State>,
    stopped: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    LeftOut,
    Loading,
    Loaded,
    Failed,
}

impl LoadedColumns {
    /// Begins to fill the columns from the table, on threads of their own, while commits go on.
    pub(crate) fn load(path: &Path, columns: Arc<RwLock<Columns>>) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Database { path: path.to_owned(), source };
        let connections: Vec<Connection> =
            (0..LOADERS).map(|_| open_reader(path)).collect::<rusqlite::Result<_>>().map_err(failed)?;
        let (said, state) = watch::channel(State::Loading);
        let stopped = Arc::new(AtomicBool::new(false));
        let (filled, stop) = (Arc::clone(&columns), Arc::clone(&stopped));
        let run = move || {
            let end = match load(connections, &filled, &stop) {
                Ok(()) => State::Loaded,
                Err(error) => {
                    tracing::error!(
                        error = &error as &dyn std::error::Error,
                        "the queries could not be loaded"
                    );
                    State::Failed
                }
            };
            said.send_replace(end);
        };
        let loader = std::thread::Builder::new().name("store-loader".into());
        let thread = Mutex::new(Some(loader.spawn(run).map_err(OpenError::Thread)?));
        Ok(Self { columns, state, stopped, thread })
    }

    /// Columns that stay empty, of a store that is asked nothing they are needed for.
    pub(crate) fn none(columns: Arc<RwLock<Columns>>) -> Self {
        let (_, state) = watch::channel(State::LeftOut);
        Self { columns, state, stopped: Arc::default(), thread: Mutex::default() }
    }

    /// The columns as they are now; waits while they are being filled.
    pub(crate) async fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let mut state = self.state.clone();
        let end = state.wait_for(|state| *state != State::Loading).await.map(|state| *state);
        match end {
            Ok(State::Loaded) => Ok(self.now()),
            Ok(State::LeftOut) => {
                Err(StoreError::unavailable("the store was opened without answers over many queries"))
            }
            _ => Err(StoreError::unavailable("the queries could not be loaded")),
        }
    }

    /// The columns as they are now, unless they are being filled.
    pub(crate) fn snapshot_now(&self) -> Option<Snapshot> {
        (*self.state.borrow() == State::Loaded).then(|| self.now())
    }

    fn now(&self) -> Snapshot {
        self.columns.read().unwrap_or_else(PoisonError::into_inner).snapshot()
    }

    /// Ends filling; the connections it reads with are closed afterwards. Takes as long as reading some thousand
    /// rows.
    pub(crate) async fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // It says itself when it failed.
            let _ = tokio::task::spawn_blocking(|| thread.join()).await;
        }
    }
}

pub(crate) fn load(
    connections: Vec<Connection>,
    columns: &RwLock<Columns>,
    stopped: &AtomicBool,
) -> rusqlite::Result<()> {
    // What is stored from now on is taken over from its commit.
    let row = |sql| connections[0].query_row(sql, [], |row| row.get::<_, i64>(0));
    let (first, last) = (row(FIRST_ROW)?, row(LAST_ROW)?);
    let page = AtomicI64::new(first / PAGE);
    let load = |db: Connection| -> rusqlite::Result<()> {
        let mut statement = db.prepare(PAGE_OF_ROWS)?;
        let mut ready = Vec::with_capacity(ROWS_AT_ONCE);
        while !stopped.load(Ordering::Relaxed) {
            let begin = page.fetch_add(1, Ordering::Relaxed) * PAGE;
            if begin > last {
                break;
            }
            match segments::read(&db, begin) {
                Ok(None) => {}
                Ok(Some(copy))
                    if columns.write().unwrap_or_else(PoisonError::into_inner).load_copy(&copy) =>
                {
                    continue;
                }
                _ => tracing::error!(row = begin, "a copy of queries is damaged: their rows are read"),
            }
            let mut rows = statement.query_map((begin, begin + PAGE), state)?;
            loop {
                for row in rows.by_ref().take(ROWS_AT_ONCE) {
                    match row {
                        Err(error @ rusqlite::Error::FromSqlConversionFailure(..)) => {
                            let error = &error as &dyn std::error::Error;
                            tracing::error!(error, "a damaged query is left out of answers over many");
                        }
                        row => ready.push(row?),
                    }
                }
                if ready.is_empty() || stopped.load(Ordering::Relaxed) {
                    break;
                }
                columns.write().unwrap_or_else(PoisonError::into_inner).load(ready.drain(..));
            }
            columns.write().unwrap_or_else(PoisonError::into_inner).finish_segment(begin);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let load = &load;
        let loaders: Vec<_> = connections.into_iter().map(|db| scope.spawn(move || load(db))).collect();
        loaders
            .into_iter()
            .try_for_each(|loader| loader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    columns.write().unwrap_or_else(PoisonError::into_inner).finish_loading();
    Ok(())
}

/// Reads a row as it is now.
pub(crate) fn read(db: &Connection, row: i64) -> rusqlite::Result<RowState> {
    let found = db.prepare_cached(ONE_ROW)?.query_row([row], state).optional()?;
    Ok(found.unwrap_or(RowState { row, query: None }))
}

pub(crate) fn state(row: &Row<'_>) -> rusqlite::Result<RowState> {
    let query = QueryState {
        started_unix_ns: row.get(1)?,
        wall_ms: row.get(2)?,
        origin: Origin {
            project: row.get(3)?,
            service: row.get(4)?,
            environment: row.get(5)?,
            host: row.get(6)?,
        },
        plan: Plan { label: row.get(7)?, fingerprint: row.get(8)?, rules: row.get(9)? },
        status: Status::of_number(row.get(10)?).ok_or_else(|| damaged(10, "unknown status"))?.number(),
    };
    Ok(RowState { row: row.get(0)?, query: Some(query) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate::open_writer;

    #[tokio::test]
    async fn nothing_is_open_once_filling_has_ended() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.db");
        drop(open_writer(&path, true).expect("a new database"));
        for _ in 0..100 {
            let columns = Arc::default();
            let loaded = LoadedColumns::load(&path, Arc::clone(&columns)).expect("begun");
            loaded.stop().await;
            assert_eq!(Arc::strong_count(&columns), 2, "the thread has ended");
        }
    }
}

//! Reading rows for the columns.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use queryscope_store::StoreError;
use rusqlite::{Connection, OptionalExtension, Row};
use tokio::sync::watch;

use super::apply::{Columns, QueryState, RowState};
use super::dictionary::{Origin, Plan};
use super::select::Snapshot;
use crate::error::OpenError;
use crate::migrate::open_reader;

/// Rows read in one transaction: between two the log can be moved.
const PAGE: usize = 20_000;

const PAGE_OF_ROWS: &str =
    "SELECT id, started_unix_ns, wall_ms, project, service, environment, host, label, fingerprint, rules, status
     FROM query WHERE id > ?1 ORDER BY id LIMIT ?2";
const ONE_ROW: &str =
    "SELECT id, started_unix_ns, wall_ms, project, service, environment, host, label, fingerprint, rules, status
     FROM query WHERE id = ?1";

/// Columns that are being filled, or are.
#[derive(Debug)]
pub(crate) struct LoadedColumns {
    columns: Arc<RwLock<Columns>>,
    state: watch::Receiver<State>,
    stopped: Arc<AtomicBool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Loading,
    Loaded,
    Failed,
}

impl LoadedColumns {
    /// Begins to fill the columns from the table, on a thread of its own, while commits go on.
    pub(crate) fn load(path: &Path, columns: Arc<RwLock<Columns>>) -> Result<Self, OpenError> {
        let db = open_reader(path).map_err(|source| OpenError::Database { path: path.to_owned(), source })?;
        let (said, state) = watch::channel(State::Loading);
        let stopped = Arc::new(AtomicBool::new(false));
        let (filled, stop) = (Arc::clone(&columns), Arc::clone(&stopped));
        let run = move || {
            let end = match load(&db, &filled, &stop) {
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
        std::thread::Builder::new().name("store-loader".into()).spawn(run).map_err(OpenError::Thread)?;
        Ok(Self { columns, state, stopped })
    }

    /// The columns as they are now; waits while they are being filled.
    pub(crate) async fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let mut state = self.state.clone();
        let end = state.wait_for(|state| *state != State::Loading).await.map(|state| *state);
        match end {
            Ok(State::Loaded) => Ok(self.columns.read().unwrap_or_else(PoisonError::into_inner).snapshot()),
            _ => Err(StoreError::unavailable("the queries could not be loaded")),
        }
    }

    /// Ends filling.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

fn load(db: &Connection, columns: &RwLock<Columns>, stopped: &AtomicBool) -> rusqlite::Result<()> {
    let mut statement = db.prepare(PAGE_OF_ROWS)?;
    let mut after = i64::MIN;
    while !stopped.load(Ordering::Relaxed) {
        let page: Vec<RowState> =
            statement.query_map((after, PAGE), state)?.collect::<rusqlite::Result<_>>()?;
        let Some(last) = page.last() else { break };
        after = last.row;
        columns.write().unwrap_or_else(PoisonError::into_inner).load(page);
    }
    columns.write().unwrap_or_else(PoisonError::into_inner).finish_loading();
    Ok(())
}

/// Reads a row as it is now.
pub(crate) fn read(db: &Connection, row: i64) -> rusqlite::Result<RowState> {
    let found = db.prepare_cached(ONE_ROW)?.query_row([row], state).optional()?;
    Ok(found.unwrap_or(RowState { row, query: None }))
}

fn state(row: &Row<'_>) -> rusqlite::Result<RowState> {
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
        status: row.get(10)?,
    };
    Ok(RowState { row: row.get(0)?, query: Some(query) })
}

//! Filling the columns from the table.

use std::future::{Future, ready};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use futures_util::FutureExt;
use queryscope_columns::{
    Figures, Index, Origin, Plan, QueryState, RowState, SegmentCopy, Segments, Source, state_of,
};
use queryscope_history::Quantity;
use queryscope_store::Status;
use rusqlite::{Connection, OptionalExtension, Row};

use crate::error::{OpenError, damaged};
use crate::migrate::open_reader;
use crate::segments;

/// Connections that read: the rows of ten millions are to be there within seconds of a start.
const LOADERS: usize = 2;

const BOUNDS: &str = "SELECT coalesce(min(id), 0), coalesce(max(id), 0) FROM query";
const ROWS: &str =
    "SELECT id, started_unix_ns, wall_ms, project, service, environment, host, label, fingerprint, rules, status,
         engine_version, program_version, cpu_ms, result_rows, bytes_read, spilled_bytes,
         peak_memory_bytes, warnings, (SELECT text FROM term WHERE term.id = query.failed)
     FROM query WHERE id >= ?1 AND id < ?2 ORDER BY id";

/// Fills the columns on threads of its own, while commits go on.
#[derive(Debug)]
pub(crate) struct Loader {
    segments: Arc<Segments>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Loader {
    /// Begins to fill.
    pub(crate) fn start(path: &Path, index: Arc<Index>) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Database { path: path.to_owned(), source };
        let connections: Vec<Connection> =
            (0..LOADERS).map(|_| open_reader(path)).collect::<rusqlite::Result<_>>().map_err(failed)?;
        let segments = Arc::new(left(&connections[0]).map_err(failed)?);
        let filled = Arc::clone(&segments);
        let run = move || {
            if let Err(error) = load(connections, &index, &filled) {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "the runs could not be loaded");
                index.fail();
            }
        };
        let loader = std::thread::Builder::new().name("store-loader".into());
        let thread = Mutex::new(Some(loader.spawn(run).map_err(OpenError::Thread)?));
        Ok(Self { segments, thread })
    }

    /// Ends filling; the connections it reads with are closed afterwards. Takes as long as reading some thousand
    /// rows.
    pub(crate) async fn stop(&self) {
        self.segments.stop();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // It says itself when it failed.
            let _ = tokio::task::spawn_blocking(|| thread.join()).await;
        }
    }
}

/// The segments of the rows there are.
pub(crate) fn left(db: &Connection) -> rusqlite::Result<Segments> {
    db.query_row(BOUNDS, [], |row| Ok(Segments::of(row.get(0)?, row.get(1)?)))
}

/// Fills the columns, each connection on a thread of its own.
pub(crate) fn load(connections: Vec<Connection>, index: &Index, segments: &Segments) -> rusqlite::Result<()> {
    let load = |db: Connection| {
        let filled = index.fill(&Rows(&db), segments).now_or_never();
        filled.unwrap_or_else(|| unreachable!("what is read from it is there at once"))
    };
    std::thread::scope(|scope| {
        let load = &load;
        let loaders: Vec<_> = connections.into_iter().map(|db| scope.spawn(move || load(db))).collect();
        loaders
            .into_iter()
            .try_for_each(|loader| loader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    if segments.is_stopped() {
        index.fail();
    } else {
        index.finish();
    }
    Ok(())
}

/// A table of queries, and the copies beside it.
struct Rows<'d>(&'d Connection);

impl Source for Rows<'_> {
    type Error = rusqlite::Error;

    fn copy(&self, first_row: i64) -> impl Future<Output = rusqlite::Result<Option<SegmentCopy>>> + Send {
        ready(Ok(segments::read(self.0, first_row).unwrap_or_else(|error| {
            let error = &error as &dyn std::error::Error;
            tracing::error!(row = first_row, error, "a copy of runs is damaged: their rows are read");
            None
        })))
    }

    fn rows(&self, begin: i64, end: i64) -> impl Future<Output = rusqlite::Result<Vec<RowState>>> + Send {
        ready(rows(self.0, begin, end))
    }
}

/// What the rows from one to before another say. A query that is damaged is left out.
pub(crate) fn rows(db: &Connection, begin: i64, end: i64) -> rusqlite::Result<Vec<RowState>> {
    let mut statement = db.prepare_cached(ROWS)?;
    let rows = statement.query_map((begin, end), state)?.filter_map(|row| match row {
        Err(error @ rusqlite::Error::FromSqlConversionFailure(..)) => {
            let error = &error as &dyn std::error::Error;
            tracing::error!(error, "a damaged run is left out of answers over many");
            None
        }
        row => Some(row),
    });
    rows.collect()
}

/// Reads a row as it is now.
pub(crate) fn read(db: &Connection, row: i64) -> rusqlite::Result<RowState> {
    let found = db.prepare_cached(ROWS)?.query_row((row, row + 1), state).optional()?;
    Ok(found.unwrap_or(RowState { row, query: None }))
}

fn state(row: &Row<'_>) -> rusqlite::Result<RowState> {
    let status = Status::of_number(row.get(10)?).ok_or_else(|| damaged(10, "unknown status"))?;
    // A text of another type is damage, and found where it is read.
    let error = row.get_ref(19)?.as_str_or_null().ok().flatten();
    let query = QueryState {
        started_unix_ns: row.get(1)?,
        wall_ms: row.get(2)?,
        figures: Figures {
            cpu: Quantity::from_ms(row.get(13)?),
            result_rows: Quantity::from_whole(row.get(14)?),
            bytes_read: Quantity::from_whole(row.get(15)?),
            spilled_bytes: Quantity::from_whole(row.get(16)?),
            peak_memory_bytes: Quantity::from_whole(row.get(17)?),
            warnings: Quantity::from_whole(row.get(18)?),
        },
        origin: Origin {
            project: row.get(3)?,
            service: row.get(4)?,
            environment: row.get(5)?,
            host: row.get(6)?,
            program_version: row.get(12)?,
        },
        plan: Plan {
            label: row.get(7)?,
            fingerprint: row.get(8)?,
            rules: row.get(9)?,
            engine_version: row.get(11)?,
        },
        status: state_of(status, error),
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
            let index = Arc::new(Index::new(true));
            let loader = Loader::start(&path, Arc::clone(&index)).expect("begun");
            loader.stop().await;
            assert_eq!(Arc::strong_count(&index), 1, "the thread has ended");
        }
    }
}

//! Opening connections and bringing a database up to the current format.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::error::OpenError;
use crate::search;

/// The formats so far, each as the step from the one before; `user_version` counts those taken.
const MIGRATIONS: [&str; 19] = [
    include_str!("../migrations/0001_initial.sql"),
    include_str!("../migrations/0002_accounts.sql"),
    include_str!("../migrations/0003_versions.sql"),
    include_str!("../migrations/0004_status.sql"),
    include_str!("../migrations/0005_segments.sql"),
    include_str!("../migrations/0006_losses.sql"),
    include_str!("../migrations/0007_diagnosis.sql"),
    include_str!("../migrations/0008_issues.sql"),
    include_str!("../migrations/0009_access.sql"),
    include_str!("../migrations/0010_program_version.sql"),
    include_str!("../migrations/0011_deploys.sql"),
    include_str!("../migrations/0012_outbox.sql"),
    include_str!("../migrations/0013_fewer_indexes.sql"),
    include_str!("../migrations/0014_notes_and_views.sql"),
    include_str!("../migrations/0015_cpu_in_segments.sql"),
    include_str!("../migrations/0016_bytes.sql"),
    include_str!("../migrations/0017_packs.sql"),
    include_str!("../migrations/0018_figures_and_edits.sql"),
    include_str!("../migrations/0019_cancelled.sql"),
];

/// First SQLite without the WAL-reset bug.
const SQLITE_VERSION_MIN: i32 = 3_051_003;
/// How long a connection waits for another process that holds a lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const WRITER_CACHE_KIB: i64 = 32 << 10;
/// A commit empties it, and the kernel has the pages, too.
const READER_CACHE_KIB: i64 = 2 << 10;
/// The log file is cut back to this once it has been emptied, in bytes.
const LOG_BYTES_KEPT: i64 = 64 << 20;
const STATEMENTS_CACHED: usize = 64;

/// Opens the connection that writes, and brings the database up to date if it may.
pub(crate) fn open_writer(path: &Path, upgrade: bool) -> Result<Connection, OpenError> {
    if rusqlite::version_number() < SQLITE_VERSION_MIN {
        return Err(OpenError::SqliteTooOld(rusqlite::version()));
    }
    let failed = |source| OpenError::Database { path: path.to_owned(), source };
    let mut connection = Connection::open(path).map_err(failed)?;
    prepare_writer(&connection).map_err(failed)?;
    let found: usize =
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
    if found > MIGRATIONS.len() {
        return Err(OpenError::TooNew { path: path.to_owned(), found, known: MIGRATIONS.len() });
    }
    // An empty database is of no version yet.
    if !upgrade && found > 0 && found < MIGRATIONS.len() {
        return Err(OpenError::TooOld { path: path.to_owned(), found, known: MIGRATIONS.len() });
    }
    for (version, step) in MIGRATIONS.iter().enumerate().skip(found) {
        take(&mut connection, step, version + 1).map_err(failed)?;
    }
    Ok(connection)
}

/// Opens a connection that only reads.
pub(crate) fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "cache_size", -READER_CACHE_KIB)?;
    keep_statements(&connection)?;
    search::register(&connection)?;
    Ok(connection)
}

fn prepare_writer(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Of a new database alone, and before anything is written to it: `vacuum.rs`.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES_KEPT)?;
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    keep_statements(connection)
}

/// Statements are prepared once. Without the planner's guarantee that values do not change a plan, SQLite prepares each
/// one that sorts by what an equality leaves over anew whenever it gets other values.
fn keep_statements(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(|_| ())
}

fn take(connection: &mut Connection, step: &str, version: usize) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(step)?;
    transaction.pragma_update(None, "user_version", version)?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn the_bundled_sqlite_is_new_enough() {
        assert!(rusqlite::version_number() >= SQLITE_VERSION_MIN, "{}", rusqlite::version());
    }

    #[test]
    fn a_database_of_a_later_version_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.db");
        let connection = open_writer(&path, true).expect("a new database");
        connection.pragma_update(None, "user_version", 99).expect("set");
        drop(connection);
        let error = open_writer(&path, true).expect_err("too new");
        assert!(matches!(error, OpenError::TooNew { found: 99, .. }), "{error}");
    }

    #[test]
    fn what_is_no_database_is_left_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.db");
        std::fs::write(&path, "no database at all, but long enough to have a header").expect("written");
        assert!(matches!(open_writer(&path, true), Err(OpenError::Database { .. })));
        assert!(std::fs::read_to_string(&path).expect("kept").starts_with("no database"));
    }

    #[test]
    fn statements_are_prepared_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.db");
        for db in [open_writer(&path, true).expect("a new database"), open_reader(&path).expect("opens")] {
            let sql = "SELECT id FROM chunk WHERE query = ?1 ORDER BY first_seq, id";
            for query in 0..3 {
                let mut chunks = db.prepare_cached(sql).expect("prepared");
                assert!(!chunks.exists([query]).expect("read"));
            }
            let chunks = db.prepare_cached(sql).expect("prepared");
            assert_eq!(chunks.get_status(StatementStatus::RePrepare), 0);
        }
    }

    #[test]
    fn the_writer_is_durable() {
        let folder = tempfile::tempdir().expect("a folder");
        let connection = open_writer(&folder.path().join("a.db"), true).expect("a new database");
        let pragma = |name: &str| -> String {
            connection
                .pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0))
                .map_or_else(|error| error.to_string(), |value| format!("{value:?}"))
        };
        assert_eq!(pragma("journal_mode"), "Text(\"wal\")");
        assert_eq!(pragma("synchronous"), "Integer(2)");
    }
}

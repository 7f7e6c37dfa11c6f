//! Opening what a data folder holds, or a database that collectors share.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use queryscope_collector::CommitMetrics;
use queryscope_recordings::{Location, Recordings};
use queryscope_store::{Store, StoreAudit};
use queryscope_store_postgres::{OpenError as SharedError, PostgresOptions, PostgresStore};
use queryscope_store_sqlite::{SqliteOptions, SqliteStore};

use crate::data::{DataFolder, Lock};

/// How long a database may take to be there: services start in any order.
const DATABASE_WAIT: Duration = Duration::from_mins(1);
const TRY_EVERY: Duration = Duration::from_secs(1);

/// The store and the recordings of a data folder.
#[derive(Clone)]
pub(crate) struct Opened {
    pub(crate) store: Arc<dyn Store>,
    /// The same store, to judge or to move it.
    pub(crate) audit: Arc<dyn StoreAudit>,
    pub(crate) recordings: Recordings,
    pub(crate) commits: CommitMetrics,
}

impl Opened {
    pub(crate) fn of(audit: Arc<dyn StoreAudit>, recordings: Recordings, commits: CommitMetrics) -> Self {
        let store = Arc::<dyn StoreAudit>::clone(&audit);
        Self { store, audit, recordings, commits }
    }
}

/// Opens a folder, and brings it up to date if an earlier version wrote it.
pub(crate) fn open(data: &DataFolder) -> Result<Opened> {
    open_with(data, SqliteOptions::default())
}

/// The same, for a service, which ends when the lock of the folder is no longer its own.
pub(crate) fn open_locked(data: &DataFolder, lock: &Lock) -> Result<Opened> {
    open_with(data, SqliteOptions { held: vec![lock.identity().clone()], ..SqliteOptions::default() })
}

/// The same, for a command that asks for no answers over many queries.
pub(crate) fn open_for_tokens(data: &DataFolder) -> Result<Arc<dyn Store>> {
    Ok(open_with(data, SqliteOptions { answers: false, ..SqliteOptions::default() })?.store)
}

/// Opens a folder to look at it alone: one of an earlier version is refused.
pub(crate) fn open_as_it_is(data: &DataFolder) -> Result<Opened> {
    open_with(data, SqliteOptions { upgrade: false, ..SqliteOptions::default() })
}

/// The same, to read one query after the other.
pub(crate) fn open_to_read_through(data: &DataFolder) -> Result<Opened> {
    open_with(data, SqliteOptions { upgrade: false, answers: false, ..SqliteOptions::default() })
}

fn open_with(data: &DataFolder, mut options: SqliteOptions) -> Result<Opened> {
    let commits = CommitMetrics::default();
    let observed = commits.clone();
    options.on_commit = Box::new(move |group| observed.observe(group.requests, group.took));
    let observed = commits.clone();
    options.on_checkpoint = Box::new(move |took| observed.observe_checkpoint(took));
    let store = SqliteStore::open(&data.database(), options).context("the store cannot be opened")?;
    let recordings = recordings(&data.location()?)?;
    Ok(Opened::of(Arc::new(store), recordings, commits))
}

/// Opens a database that collectors share, for a command that asks for no answers over many queries: it must be there.
pub(crate) async fn open_database(address: &str) -> Result<Arc<dyn StoreAudit>> {
    open_database_with(address, PostgresOptions { answers: false, ..PostgresOptions::default() }).await
}

/// The same, with settings.
pub(crate) async fn open_database_with(
    address: &str,
    options: PostgresOptions,
) -> Result<Arc<dyn StoreAudit>> {
    let store = PostgresStore::open(address, options).await;
    Ok(Arc::new(store.context("the database cannot be opened")?))
}

/// Opens a database that collectors share, once it can be reached.
pub(crate) async fn open_shared(address: &str, place: &Location) -> Result<Opened> {
    let commits = CommitMetrics::default();
    let options = || {
        let observed = commits.clone();
        PostgresOptions {
            on_commit: Box::new(move |group| observed.observe(group.requests, group.took)),
            ..PostgresOptions::default()
        }
    };
    let begun = queryscope_store::now();
    let store = loop {
        match PostgresStore::open(address, options()).await {
            Err(error @ SharedError::Database(_)) if begun.elapsed() < DATABASE_WAIT => {
                tracing::warn!(error = &error as &dyn std::error::Error, "waiting for the database");
                tokio::time::sleep(TRY_EVERY).await;
            }
            opened => break opened.context("the store cannot be opened")?,
        }
    };
    Ok(Opened::of(Arc::new(store), recordings(place)?.shared(), commits))
}

/// Opens a place of recordings.
pub(crate) fn recordings(place: &Location) -> Result<Recordings> {
    Recordings::at(place).with_context(|| format!("{place} cannot be opened"))
}

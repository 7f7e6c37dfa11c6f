//! Opening what a data folder holds.

use std::sync::Arc;

use anyhow::{Context, Result};
use queryscope_collector::CommitMetrics;
use queryscope_recordings::Recordings;
use queryscope_store::Store;
use queryscope_store_sqlite::{SqliteOptions, SqliteStore};

use crate::data::DataFolder;

/// The store and the recordings of a data folder.
pub(crate) struct Opened {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) recordings: Recordings,
    pub(crate) commits: CommitMetrics,
}

pub(crate) fn open(data: &DataFolder) -> Result<Opened> {
    let commits = CommitMetrics::default();
    let observed = commits.clone();
    let options = SqliteOptions {
        on_commit: Box::new(move |group| observed.observe(group.requests, group.took)),
        ..SqliteOptions::default()
    };
    let store = SqliteStore::open(&data.database(), options).context("the store can not be opened")?;
    let recordings = Recordings::local(&data.recordings())
        .with_context(|| format!("{} can not be opened", data.recordings().display()))?;
    Ok(Opened { store: Arc::new(store), recordings, commits })
}

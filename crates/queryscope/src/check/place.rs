//! What is judged: a data folder, or a database that collectors share.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use queryscope_collector::CommitMetrics;
use queryscope_recordings::Location;
use queryscope_store_postgres::PostgresOptions;

use super::repair;
use crate::cli::CheckArgs;
use crate::data::{DataFolder, Lock};
use crate::store::{self, Opened};

/// How long a shared database may work on one of its own rules, each of which looks at all of a table.
const RULE_WITHIN: Duration = Duration::from_hours(1);

pub(crate) enum Place {
    Folder(DataFolder),
    Shared { address: String, recordings: Location },
}

impl Place {
    pub(crate) fn of(args: &CheckArgs) -> Result<Self> {
        let Some(address) = args.database.database.clone() else {
            return Ok(Self::Folder(DataFolder::existing(&args.data.data)?));
        };
        let recordings = match &args.recordings.recordings {
            Some(place) => place.clone(),
            // Where a collector keeps them that is not told another place.
            None => match std::path::absolute(args.data.data.join("recordings"))? {
                folder if folder.is_dir() => Location::Folder(folder),
                _ => bail!("name where the recordings of its queries are with --recordings"),
            },
        };
        Ok(Self::Shared { address, recordings })
    }

    /// Takes a folder for a repair; what is repaired of a database, others need not wait for.
    pub(crate) fn alone(&self) -> Result<Option<(Lock, Lock)>> {
        let Self::Folder(data) = self else { return Ok(None) };
        repair::root_of_recordings(data)?;
        let Some(lock) = data.lock()? else {
            bail!("{} is in use by a service: stop it to repair what it keeps", data.path().display());
        };
        Ok(Some((lock, data.hold_recordings()?)))
    }

    /// Opens it to look at it, or to bring a folder up to date where that is what an earlier version left.
    pub(crate) async fn open(&self, upgrade: bool) -> Result<Opened> {
        match self {
            Self::Folder(data) if upgrade => store::open(data),
            Self::Folder(data) => store::open_as_it_is(data),
            Self::Shared { address, recordings } => {
                let store = store::open_database_with(address, database_options()).await?;
                let recordings = store::recordings(recordings)?.shared();
                Ok(Opened::of(store, recordings, CommitMetrics::default()))
            }
        }
    }

    /// Whether a service writes to it now of whose commits this process does not hear.
    pub(crate) fn is_in_use(&self) -> bool {
        match self {
            Self::Folder(data) => data.is_in_use(),
            Self::Shared { .. } => false,
        }
    }

    /// The folder of its recordings, where they lie in one of which every file must be known.
    pub(crate) fn files(&self) -> Option<PathBuf> {
        match self {
            Self::Folder(data) => Some(data.recordings()),
            Self::Shared { recordings: Location::Folder(folder), .. } => Some(folder.clone()),
            Self::Shared { recordings: Location::Bucket { .. }, .. } => None,
        }
    }
}

/// To look at a database: what brings it up to date is a collector.
pub(crate) fn database_options() -> PostgresOptions {
    PostgresOptions { upgrade: false, statement_timeout: RULE_WITHIN, ..PostgresOptions::default() }
}

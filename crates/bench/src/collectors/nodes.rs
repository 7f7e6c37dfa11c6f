//! The collectors of one run.

use std::path::Path;

use anyhow::Result;
use queryscope_postgres_server::Server as Postgres;
use tempfile::TempDir;

use super::Setup;
use crate::http::Target;
use crate::server::Server;

/// Collectors, and what they share: a schema and a folder for recordings, both fresh.
#[derive(Debug)]
pub(super) struct Nodes {
    collectors: Vec<Server>,
    shared: Option<Shared>,
}

#[derive(Debug)]
struct Shared {
    schema: String,
    _recordings: TempDir,
}

impl Nodes {
    /// Starts them one after the other.
    ///
    /// # Errors
    /// When one does not start.
    pub(super) fn start(
        binary: &Path,
        folder: &Path,
        seed: u64,
        setup: Setup,
        postgres: &Postgres,
    ) -> Result<Self> {
        let Setup::Shared(count) = setup else {
            return Ok(Self { collectors: vec![Server::start(binary, folder, seed)?], shared: None });
        };
        let schema = format!("run_{seed}");
        postgres.run(&format!("CREATE SCHEMA {schema}"));
        let recordings = tempfile::Builder::new().prefix("recordings-").tempdir_in(folder)?;
        let place = recordings.path().canonicalize()?;
        let more =
            ["--database".into(), postgres.address(&schema).into(), "--recordings".into(), place.into()];
        let start = |_| Server::start_with(binary, folder, seed, &more);
        let collectors = (0..count).map(start).collect::<Result<_>>()?;
        Ok(Self { collectors, shared: Some(Shared { schema, _recordings: recordings }) })
    }

    /// Whether they have a database in common.
    pub(super) fn shares(&self) -> bool {
        self.shared.is_some()
    }

    /// Where each listens.
    pub(super) fn targets(&self) -> Vec<Target> {
        self.collectors.iter().map(|collector| collector.target.clone()).collect()
    }

    /// Their process ids.
    pub(super) fn pids(&self) -> Vec<u32> {
        self.collectors.iter().map(Server::pid).collect()
    }

    /// Stops them, and leaves the database as empty as the next run is to find it.
    ///
    /// # Errors
    /// When one does not stop.
    pub(super) fn stop(self, postgres: &Postgres) -> Result<()> {
        for collector in self.collectors {
            collector.stop()?;
        }
        if let Some(shared) = self.shared {
            postgres.run(&format!("DROP SCHEMA {} CASCADE", shared.schema));
            postgres.run("CHECKPOINT");
        }
        Ok(())
    }
}

//! [`Collector`]: the service without its sockets.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axum::Router;
use bytes::Bytes;
use queryscope_recordings::Recordings;
use queryscope_store::{Store, StoreError};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::app::App;
use crate::away::DependencyHealth;
use crate::background::Background;
use crate::clock::Clock;
use crate::delivery::DeliveryMetrics;
use crate::deploys::{self, SeenVersions};
use crate::ended::{EndedFeed, EndedRuns};
use crate::error::ApiError;
use crate::evaluation::Gauges;
use crate::ingest::{Admission, Budget, Coding, Conflicts, Decoders, Heard, accept, spent};
use crate::live::Live;
use crate::metrics::{CommitMetrics, Metrics};
use crate::read::{Answers, Detectors, EXPORTS_MAX};
use crate::readers::Readers;
use crate::routes::Routes;
use crate::senders::Senders;
use crate::settings::Settings;
use crate::shortage::Shortage;
use crate::tokens::Tokens;
use crate::{jobs, router};

/// What became of a batch that was given to [`Collector::ingest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ingested {
    /// Events stored by it.
    pub accepted: u64,
    /// Events that had been stored before.
    pub duplicates: u64,
}

/// The service without its sockets: its routes, its jobs, and ingest without HTTP.
#[derive(Clone)]
pub struct Collector {
    pub(crate) app: Arc<App>,
    /// Routes of readers that are made elsewhere.
    further: Router,
}

impl Collector {
    /// Joins the parts, takes over the store's tokens, and gives queries that ran when the service stopped
    /// another stretch of silence.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub async fn start(
        store: Arc<dyn Store>,
        recordings: Recordings,
        clock: Arc<dyn Clock>,
        commits: CommitMetrics,
        settings: Settings,
    ) -> Result<Self, StoreError> {
        store.refresh_running(clock.unix_ms()).await?;
        let tokens = Tokens::new(settings.tokens.clone());
        tokens.replace(store.tokens().await?, clock.unix_ms());
        let parallel = std::thread::available_parallelism().map_or(2, usize::from);
        let evaluation = Gauges::default();
        let delivery = DeliveryMetrics::default();
        let ended = EndedFeed::default();
        let senders = Senders::new(clock.unix_ns());
        let app = App {
            store,
            recordings,
            clock,
            tokens,
            access: Access::new(&settings.reading),
            metrics: Metrics::new(commits, &evaluation, &delivery, &ended.counts),
            budget: Budget::new(settings.body_budget_bytes),
            admission: Admission::new(settings.requests_max, settings.slot_deadline),
            decoders: Arc::new(Decoders::new(parallel)),
            conflicts: Conflicts::new(),
            live: Live::new(),
            ended,
            evaluation,
            delivery,
            senders,
            versions: SeenVersions::default(),
            readers: Readers::all(settings.readers_max()),
            live_readers: Readers::live(settings.live_readers_max()),
            store_health: DependencyHealth::default(),
            recordings_health: DependencyHealth::default(),
            store_room: Shortage::default(),
            recordings_room: Shortage::default(),
            displaced: AtomicBool::new(false),
            exports: Arc::new(Semaphore::new(EXPORTS_MAX)),
            answers: Answers::new(settings.answer_budget_bytes, settings.analyses_waiting_max),
            detectors: Detectors::default(),
            background: Background::start(),
            committed: Notify::new(),
            reached: Notify::new(),
            failed: CancellationToken::new(),
            settings,
        };
        Ok(Self { app: Arc::new(app), further: Router::new() })
    }

    /// The same with further routes, behind the checks of all readers. They take no path that is there already.
    #[must_use]
    pub fn with_readers(self, further: Router) -> Self {
        Self { further: self.further.merge(further), ..self }
    }

    /// The routes for senders and readers.
    pub fn routes(&self) -> Routes {
        router::full(&self.app, self.further.clone())
    }

    /// The routes for senders alone.
    pub fn ingest_routes(&self) -> Routes {
        router::ingest_only(&self.app)
    }

    /// Starts the jobs in the background; they end soon after `stop` is cancelled.
    pub fn start_jobs(&self, stop: &CancellationToken) -> JoinSet<()> {
        jobs::start(&self.app, stop)
    }

    /// Stores one plain batch of the past, as `POST /v1/events` does with `queryscope-imported`.
    ///
    /// # Errors
    /// As the answers of `POST /v1/events`.
    pub async fn import(&self, project: &str, batch: Vec<u8>) -> Result<Ingested, ApiError> {
        let share = self.app.budget.take(batch.len()).ok_or_else(spent)?;
        let batch = Bytes::from(batch);
        let heard = Heard::of_project(project.to_owned(), self.app.clock.unix_ns());
        let mut heard = Heard { is_imported: true, ..heard };
        let committed = accept(&self.app, &mut heard, batch, Coding::Plain, share).await?;
        Ok(Ingested { accepted: committed.accepted, duplicates: committed.duplicates })
    }

    /// Begins to tell of the runs that end by commits of this collector, to one follower.
    pub fn follow_ended(&self) -> EndedRuns {
        self.app.ended.follow()
    }

    /// Is cancelled when the store cannot go on: the process must end.
    pub fn failed(&self) -> &CancellationToken {
        &self.app.failed
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.app.settings
    }

    /// Finishes what has been accepted and closes the store.
    ///
    /// # Errors
    /// When the store cannot be closed properly; what was acknowledged is safe all the same.
    pub async fn close(&self) -> Result<(), StoreError> {
        if let Err(error) = deploys::flush(&self.app).await {
            // Their next batch names them again.
            tracing::warn!(error = &error as &dyn std::error::Error, "versions of senders are not stored");
        }
        self.app.store.close().await
    }
}

impl std::fmt::Debug for Collector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Collector").field("settings", &self.app.settings).finish_non_exhaustive()
    }
}

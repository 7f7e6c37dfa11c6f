//! Evaluates ended runs: what changed in which query, since when, and why.
//!
//! The problem: each ended run is to be evaluated once, within seconds, over crashes and with several collectors, and
//! ingest must not wait for it. The mechanism: a commit appends the runs it ends to an inbox of the store. One job
//! reads the inbox, has a detector take the runs of each query in the order of their starts, and stores what it found
//! in the transaction that takes the runs out of the inbox. Features are made here, from the event that ended the run:
//! when more runs end than can be evaluated, most of them cost nothing but their row in the inbox. ADR 25
//! says more.

mod again;
mod cache;
mod events;
mod findings;
mod forward;
mod found;
mod gauge;
mod issues;
mod late;
mod look;
mod missing;
mod pace;
mod slice;
mod told;

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use queryscope_diagnosis::Detector;
use queryscope_store::{Evaluation, QueryKey, StoreError};
use tokio_util::sync::CancellationToken;

use self::events::Extractor;
use self::findings::Findings;
use self::forward::Forward;
use self::look::{Look, Waiting, look};
use self::missing::Book;
use self::slice::Job;
use crate::app::App;

pub use self::again::{Again, NotAgain};
pub(crate) use self::cache::Cache;
pub(crate) use self::found::{change, detector};
pub(crate) use self::gauge::Gauges;

/// How often the inbox is looked into while nothing is heard of a commit: another collector may have made one.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Least time between two looks: runs that end in it are evaluated together.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// How long a lease holds, and when it is renewed.
const LEASE: Duration = Duration::from_secs(20);
const RENEW_AFTER: Duration = Duration::from_secs(5);
/// How long giving it back may take.
const GIVE_BACK: Duration = Duration::from_secs(1);
/// How often a collector without the lease asks for it.
const ASK_EVERY: Duration = Duration::from_secs(5);
/// How often running runs are held against their earlier ones, and queries that do not run against their rhythm.
const LATE_EVERY: Duration = Duration::from_secs(3);
/// Bytes of the detectors that are held: those of about 2,000 queries of 500 runs. The others are restored from the
/// store when a run of theirs ends.
const HELD_BYTES_MAX: usize = 128 << 20;
/// Runs that are evaluated, and stored, at once.
const SLICE_RUNS: usize = 64;
/// Pause after a failure of the store; the next is twice as long.
const FAILURE_PAUSE: Duration = Duration::from_secs(1);
const FAILURE_PAUSE_MAX: Duration = Duration::from_secs(30);

/// What a step of the job came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// There is more to do at once.
    More,
    /// All runs that had been seen are evaluated.
    Done,
    /// Another collector evaluates.
    NotLeased,
}

/// Evaluates until `stop` is cancelled; then another collector may at once.
pub(crate) async fn run(app: Arc<App>, stop: CancellationToken) {
    let mut evaluator = Evaluator::new(Arc::clone(&app));
    let work = Box::pin(evaluate(&app, &mut evaluator, &stop));
    app.evaluation.pace.meter.meter(work).await;
    if evaluator.leased_at.is_some() {
        let give_back = app.store.evaluation_lease(&evaluator.holder, Duration::ZERO);
        // Where that fails, the lease ends by itself.
        let _ = tokio::time::timeout(GIVE_BACK, give_back).await;
    }
}

async fn evaluate(app: &App, evaluator: &mut Evaluator, stop: &CancellationToken) {
    let mut failure_pause = FAILURE_PAUSE;
    loop {
        let begun = queryscope_store::now();
        let step = tokio::select! {
            () = stop.cancelled() => return,
            step = evaluator.step(stop) => step,
        };
        let (wait, listens) = match step {
            Ok(step) => {
                failure_pause = FAILURE_PAUSE;
                match step {
                    Step::More => (Duration::ZERO, false),
                    Step::Done => (LOOK_AGAIN.saturating_sub(begun.elapsed()), true),
                    Step::NotLeased => (ASK_EVERY, false),
                }
            }
            Err(error) => {
                app.watch(&error);
                evaluator.forget();
                if let Some(times) = app.evaluation.failures.due() {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, times, "ended runs could not be evaluated; they wait");
                }
                let wait = failure_pause;
                failure_pause = (failure_pause * 2).min(FAILURE_PAUSE_MAX);
                (wait, false)
            }
        };
        let pause = async {
            tokio::time::sleep(wait).await;
            if listens {
                // What ended while this waited has been noted.
                let _ = tokio::time::timeout(LOOK_EVERY, app.evaluation.noted.notified()).await;
            }
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = pause => {}
        }
    }
}

struct Evaluator {
    app: Arc<App>,
    /// Names this life of this collector.
    holder: String,
    leased_at: Option<Instant>,
    /// Detectors, which hold no features.
    cache: Cache<Detector>,
    forward: Forward,
    /// Whether the changes that were open at the start have issues.
    has_issues: bool,
    /// When running runs, and queries that do not run, were looked at last.
    late_at: Option<Instant>,
    /// When queries usually run.
    book: Book,
    /// What is known of the findings of queries.
    findings: Findings,
    extractor: Arc<Mutex<Extractor>>,
}

impl Evaluator {
    fn new(app: Arc<App>) -> Self {
        let holder = queryscope_store::random_id().to_string();
        Self {
            holder,
            leased_at: None,
            cache: Cache::new(HELD_BYTES_MAX),
            forward: Forward::default(),
            has_issues: false,
            late_at: None,
            book: Book::default(),
            findings: Findings::default(),
            extractor: Arc::default(),
            app,
        }
    }

    /// Lets go of what is known of queries: the store knows better.
    fn forget(&mut self) {
        self.cache.clear();
        self.book.forget();
        self.findings.forget();
        self.leased_at = None;
    }

    /// Evaluates what waits; while old queries are not brought forward, one of them, too.
    async fn step(&mut self, stop: &CancellationToken) -> Result<Step, StoreError> {
        if !self.renew().await? {
            self.app.evaluation.stand_by();
            return Ok(Step::NotLeased);
        }
        self.forward.begin(&self.app).await?;
        if !self.has_issues && !self.open_issues().await? {
            return Ok(Step::NotLeased);
        }
        if self.late_at.is_none_or(|at| at.elapsed() >= LATE_EVERY) {
            let mut observed = late::observe(&self.app).await?;
            observed.extend(self.book.observe(&self.app).await?);
            for some in observed.chunks(SLICE_RUNS) {
                if !self.record(Evaluation { issues: some.to_vec(), ..Evaluation::default() }).await? {
                    return Ok(Step::NotLeased);
                }
            }
            self.late_at = Some(queryscope_store::now());
            self.app.evaluation.rest().await;
        }
        let (began, ended) = (queryscope_store::now(), self.app.evaluation.pace.count());
        let Look { found, skipped, queries } = look(&self.app).await?;
        self.app.evaluation.looked(began, found);
        for skipped in skipped.chunks(look::PAGE) {
            let evaluation = Evaluation { consumed: skipped.to_vec(), ..Evaluation::default() };
            if !self.record(evaluation).await? {
                return Ok(Step::NotLeased);
            }
            self.app.evaluation.skipped("flood", skipped.len());
            self.app.evaluation.rest().await;
        }
        for slice in look::slices(queries) {
            if stop.is_cancelled() {
                return Ok(Step::Done);
            }
            if !self.evaluate(slice).await? {
                return Ok(Step::NotLeased);
            }
        }
        self.app.evaluation.caught_up(began, ended);
        if self.forward.is_done() {
            return Ok(Step::Done);
        }
        if let Some(key) = self.forward.next(&self.app).await? {
            let brought = self.evaluate(vec![(key.clone(), Vec::new())]).await;
            if !matches!(brought, Ok(true)) {
                self.forward.put_back(key);
            }
            if !brought? {
                return Ok(Step::NotLeased);
            }
        }
        Ok(Step::More)
    }

    /// Opens issues of changes that have none; `false` when the lease is lost.
    async fn open_issues(&mut self) -> Result<bool, StoreError> {
        for some in issues::open_changes(&self.app).await?.chunks(SLICE_RUNS) {
            if !self.record(Evaluation { issues: some.to_vec(), ..Evaluation::default() }).await? {
                return Ok(false);
            }
            self.app.evaluation.rest().await;
        }
        self.has_issues = true;
        Ok(true)
    }

    /// Has the lease; `false` when another holder does.
    async fn renew(&mut self) -> Result<bool, StoreError> {
        if self.leased_at.is_some_and(|at| at.elapsed() < RENEW_AFTER) {
            return Ok(true);
        }
        let asked_at = queryscope_store::now();
        if !self.app.store.evaluation_lease(&self.holder, LEASE).await? {
            self.forget();
            return Ok(false);
        }
        if self.leased_at.is_none_or(|at| at.elapsed() >= LEASE) {
            // Another may have evaluated meanwhile.
            self.cache.clear();
        }
        self.leased_at = Some(asked_at);
        Ok(true)
    }

    /// Evaluates runs of some queries, each of which is named once; `false` when the lease is lost.
    async fn evaluate(&mut self, slice: Vec<(QueryKey, Vec<Waiting>)>) -> Result<bool, StoreError> {
        if !self.renew().await? {
            return Ok(false);
        }
        let mut jobs = Vec::new();
        for (key, waiting) in slice {
            let known = self.cache.take(&key);
            jobs.push(Job::load(&self.app, &self.forward, key, known, waiting).await?);
        }
        let done = slice::evaluate(&self.app, &self.extractor, jobs).await?;
        let slice::Done { queries, consumed, detectors, told, mut issues, evaluated, unread, failed } = done;
        let taken = consumed.len();
        self.book.note(&issues);
        self.findings.observe(&self.app, &mut issues).await?;
        if !self.record(Evaluation { queries, consumed, told, issues, ..Evaluation::default() }).await? {
            return Ok(false);
        }
        for (key, detector) in detectors {
            self.forward.brought(&key);
            self.cache.put(key, detector.bytes(), detector);
        }
        self.app.evaluation.pending.dec_by(taken as i64);
        self.app.evaluation.evaluated.inc_by(evaluated as u64);
        self.app.evaluation.skipped("unreadable", unread);
        self.app.evaluation.skipped("failed", failed);
        // Only now: the lease may end meanwhile.
        self.app.evaluation.rest().await;
        Ok(true)
    }

    async fn record(&mut self, evaluation: Evaluation) -> Result<bool, StoreError> {
        if evaluation.consumed.is_empty() && evaluation.queries.is_empty() && evaluation.issues.is_empty() {
            return Ok(true);
        }
        let evaluation = Evaluation { holder: self.holder.clone(), ..evaluation };
        let recorded = self.app.store.record_evaluation(evaluation).await?;
        if !recorded {
            self.forget();
        }
        Ok(recorded)
    }
}

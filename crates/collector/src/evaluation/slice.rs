//! The evaluation of some runs: they are read, have detectors look at them, and what these say is gathered.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parking_lot::Mutex;
use queryscope_diagnosis::{Detector, Watching, Workspace};
use queryscope_issues::Observed;
use queryscope_store::{ObservedQuery, QueryEvaluation, QueryHistory, QueryKey, RunPlan, StoreError, carry};
use tokio::runtime::Handle;

use super::events::{self, Ended, Extractor};
use super::forward::Forward;
use super::found::{self, Moved};
use super::look::Waiting;
use super::pace::Work;
use crate::app::App;

/// Runs of a query that are to be evaluated.
pub(super) struct Job {
    key: QueryKey,
    from: From,
    runs: Vec<Waiting>,
}

/// Where the detector of a query is.
enum From {
    Memory(Box<Detector>),
    Store(QueryHistory),
    New,
}

/// What the evaluation of a slice came to.
#[derive(Default)]
pub(super) struct Done {
    pub(super) queries: Vec<QueryEvaluation>,
    pub(super) consumed: Vec<i64>,
    pub(super) detectors: Vec<(QueryKey, Detector)>,
    /// Ids of changes that are new or moved.
    pub(super) told: Vec<String>,
    /// What moves the issues of the queries.
    pub(super) issues: Vec<ObservedQuery>,
    pub(super) evaluated: usize,
    /// Runs whose events cannot be read, and those of queries whose evaluation failed.
    pub(super) unread: usize,
    pub(super) failed: usize,
}

impl Job {
    /// Finds out what is known of a query. Of one whose runs ended before they were evaluated, its last runs are
    /// evaluated, too.
    pub(super) async fn load(
        app: &App,
        forward: &Forward,
        key: QueryKey,
        known: Option<Detector>,
        mut runs: Vec<Waiting>,
    ) -> Result<Self, StoreError> {
        let from = match known {
            Some(detector) => From::Memory(Box::new(detector)),
            None => {
                if let Some(history) = app.store.query_history(&key).await? {
                    From::Store(history)
                } else {
                    if !forward.is_done() {
                        runs = forward.join(app, &key, runs).await?;
                    }
                    From::New
                }
            }
        };
        Ok(Self { key, from, runs })
    }
}

/// Evaluates the runs of some queries, each of which is named once, on a thread of its own.
///
/// # Errors
/// When the store or the recordings cannot be reached, or what is stored cannot be read.
pub(super) async fn evaluate(
    app: &Arc<App>,
    extractor: &Arc<Mutex<Extractor>>,
    jobs: Vec<Job>,
) -> Result<Done, StoreError> {
    let runs: Vec<Waiting> = jobs.iter().flat_map(|job| &job.runs).copied().collect();
    let ended = events::read(app, &runs).await?;
    let handle = app.background.jobs.handle().clone();
    let (owned, extractor) = (Arc::clone(app), Arc::clone(extractor));
    let work = carry(move || work(&owned, &handle, &mut extractor.lock(), jobs, ended));
    let done = app.background.jobs.handle().spawn_blocking(work).await;
    done.map_err(|_| StoreError::unavailable("the evaluation was interrupted"))?
}

fn work(
    app: &App,
    handle: &Handle,
    extractor: &mut Extractor,
    jobs: Vec<Job>,
    ended: Vec<Option<Ended>>,
) -> Result<Done, StoreError> {
    let mut done = Done::default();
    let mut work = app.evaluation.pace.begin();
    let mut workspace = Workspace::default();
    let mut ended = ended.into_iter();
    for job in jobs {
        let runs =
            ended.by_ref().take(job.runs.len()).zip(&job.runs).map(|(ended, run)| (*run, ended)).collect();
        let places = job.runs.iter().filter_map(|run| run.place).collect();
        let key = job.key.clone();
        let mut query =
            Query { app, handle, work: &mut work, workspace: &mut workspace, extractor: &mut *extractor };
        // A query that cannot be evaluated must not keep the others from it.
        if let Ok(one) = catch_unwind(AssertUnwindSafe(|| query.evaluate(job.key, job.from, runs))) {
            done.join(one?, places);
        } else {
            workspace = Workspace::default();
            *extractor = Extractor::default();
            done.failed += job.runs.len();
            done.consumed.extend::<Vec<i64>>(places);
            let QueryKey { project, service, label } = key;
            tracing::error!(
                project,
                service,
                label,
                "the evaluation of a query failed: its runs are left out"
            );
        }
    }
    Ok(done)
}

impl Done {
    fn join(&mut self, one: One, places: Vec<i64>) {
        let One { evaluation, detector, told, seen, unread } = one;
        self.evaluated += evaluation.added.len();
        self.unread += unread;
        self.told.extend(told);
        self.consumed.extend(places);
        self.issues.push(ObservedQuery { key: evaluation.key.clone(), seen });
        self.detectors.push((evaluation.key.clone(), detector));
        self.queries.push(evaluation);
    }
}

/// What evaluates a query.
struct Query<'a, 'p> {
    app: &'a App,
    handle: &'a Handle,
    work: &'a mut Work<'p>,
    workspace: &'a mut Workspace,
    extractor: &'a mut Extractor,
}

/// What the evaluation of one query came to.
struct One {
    evaluation: QueryEvaluation,
    detector: Detector,
    told: Vec<String>,
    seen: Vec<Observed>,
    unread: usize,
}

impl Query<'_, '_> {
    fn evaluate(
        &mut self,
        key: QueryKey,
        from: From,
        runs: Vec<(Waiting, Option<Ended>)>,
    ) -> Result<One, StoreError> {
        let mut detector = match from {
            From::Memory(detector) => *detector,
            From::New => Detector::default(),
            From::Store(history) => found::detector(&history).unwrap_or_else(|error| {
                let error = &error as &dyn std::error::Error;
                tracing::error!(
                    error,
                    label = key.label,
                    "what is stored of a query cannot be read: it begins anew"
                );
                Detector::anew()
            }),
        };
        let (mut moved, mut told) = (Moved::default(), Vec::new());
        let (mut added, mut plans, mut unread) = (Vec::new(), Vec::<RunPlan>::new(), 0);
        let unix_ns = self.app.clock.unix_ns();
        let mut seen = Watching::new(unix_ns);
        let mut unloaded = None;
        let mut load = || match self.handle.block_on(self.app.store.query_history(&key)) {
            Ok(history) => history.as_ref().map(found::runs).unwrap_or_default(),
            Err(error) => {
                unloaded = Some(error);
                Vec::new()
            }
        };
        for (run, ended) in runs {
            if !detector.takes(run.started_unix_ns, run.query_id) {
                continue;
            }
            let Some((features, seen_run)) = ended.and_then(|ended| self.extractor.features(&ended)) else {
                unread += 1;
                continue;
            };
            let plan = features.plan.fingerprint.bytes();
            if plans.iter().all(|known| known.fingerprint != plan) {
                plans.push(RunPlan { fingerprint: plan, packed: features.plan.pack().into() });
            }
            added.push(found::evaluated(&features));
            for transition in detector.observe_with(features, self.workspace, &mut load) {
                told.push(transition.change().id.clone());
                moved.note(&key, transition.change());
            }
            seen.note(seen_run, run.place.is_some(), &detector);
            self.work.pass();
        }
        if let Some(error) = unloaded {
            return Err(error);
        }
        // What an open change costs grows with each run.
        detector.open().for_each(|change| moved.note(&key, change));
        detector.let_go();
        let saved = serde_json::to_vec(&detector.save()).map_err(StoreError::unavailable)?;
        self.work.pass();
        let changes = moved.stored(&key);
        let evaluation = QueryEvaluation { key, saved, added, keep: detector.keeps(), plans, changes };
        Ok(One { evaluation, detector, told, seen: seen.parts(), unread })
    }
}

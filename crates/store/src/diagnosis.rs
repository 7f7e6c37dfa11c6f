//! What a store keeps for the diagnosis: runs that wait for their evaluation, and what evaluations found.
//!
//! The problem: each ended run must be evaluated exactly once, off the ingest path, over crashes and with
//! several collectors. The mechanism is an inbox. The transaction that stores the end of a run appends the run
//! to the inbox. One transaction takes evaluated runs out of the inbox and writes what their evaluation found
//! ([`Store::record_evaluation`](crate::Store::record_evaluation)). On stores that several collectors share, the
//! holder of a lease evaluates. Prior art: the transactional inbox of message consumers, and fencing by a lease
//! that is checked inside the transaction.
//!
//! A store does not look into features, plans and saved states: they are bytes of `queryscope-diagnosis`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use queryscope_protocol::{QueryId, Seq};

use crate::filter::Is;
use crate::issues::ObservedQuery;

/// Identity of a query: its runs are compared with each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueryKey {
    /// The project of its runs.
    pub project: String,
    /// What the processes are that run it.
    pub service: Option<String>,
    /// Its name.
    pub label: String,
}

/// Fingerprint of a physical plan.
pub type PlanFingerprint = [u8; 6];

/// A run that waits for its evaluation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingRun {
    /// Its place in the inbox. Runs stand in the order they were first reported, so a run that ends late may come
    /// before one that was read earlier.
    pub place: i64,
    /// The query it is a run of.
    pub key: QueryKey,
    /// The run.
    pub query_id: QueryId,
    /// Its start, in Unix nanoseconds.
    pub started_unix_ns: i64,
    /// Number of the event that ended it: its features are made of that profile.
    pub seq: Seq,
}

/// A run that was evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvaluatedRun {
    /// The run.
    pub query_id: QueryId,
    /// Its start, in Unix nanoseconds.
    pub started_unix_ns: i64,
    /// The fingerprint of its physical plan.
    pub plan: PlanFingerprint,
    /// Its packed features.
    pub features: Vec<u8>,
}

/// A physical plan that runs point to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPlan {
    /// Its fingerprint.
    pub fingerprint: PlanFingerprint,
    /// The packed plan.
    pub packed: Arc<[u8]>,
}

/// What is known of the runs of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryHistory {
    /// The saved state of its detector.
    pub saved: Vec<u8>,
    /// Its last evaluated runs by start, the oldest first; runs of one start by id.
    pub runs: Vec<EvaluatedRun>,
    /// The plans of these runs, each once.
    pub plans: Vec<RunPlan>,
}

impl QueryHistory {
    /// What tells it from the same query's at another time.
    pub fn revision(&self) -> HistoryRevision {
        let oldest = self.runs.first().map(|run| (run.started_unix_ns, run.query_id));
        HistoryRevision::new(&self.saved, self.runs.len() as u64, oldest)
    }
}

/// What tells what is known of the runs of a query from what was known at another time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryRevision(u64);

impl HistoryRevision {
    /// Of a state, the number of runs, and the oldest by start and id: a run that comes to as many as are kept takes
    /// the place of the oldest.
    pub fn new(saved: &[u8], runs: u64, oldest: Option<(i64, QueryId)>) -> Self {
        let mut hasher = DefaultHasher::new();
        (saved, runs, oldest.map(|(started_unix_ns, id)| (started_unix_ns, id.uuid()))).hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// What an evaluation found about the runs of one query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryEvaluation {
    /// The query.
    pub key: QueryKey,
    /// The state of its detector from now on.
    pub saved: Vec<u8>,
    /// Runs that were evaluated.
    pub added: Vec<EvaluatedRun>,
    /// How many runs of the query are kept: the last by start.
    pub keep: usize,
    /// Plans of the added runs that the store may not have.
    pub plans: Vec<RunPlan>,
    /// Changes to insert or to replace by id: those that are new or moved, and each that is open.
    pub changes: Vec<StoredChange>,
}

/// What evaluations found, to be stored whole or not at all.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evaluation {
    /// The collector that holds the lease.
    pub holder: String,
    /// Places of the inbox to take out.
    pub consumed: Vec<i64>,
    /// What was found, each query once.
    pub queries: Vec<QueryEvaluation>,
    /// Ids of those changes that followers of commits are told of.
    pub told: Vec<String>,
    /// What was seen of queries, each once: it moves their issues in the same transaction.
    pub issues: Vec<ObservedQuery>,
}

impl Evaluation {
    /// The changes that followers are told of.
    pub fn told_changes(&self) -> impl Iterator<Item = &StoredChange> {
        let all = self.queries.iter().flat_map(|found| &found.changes);
        all.filter(|change| self.told.contains(&change.id))
    }
}

/// A change as a store keeps it: the fields that lists filter and sort by, and all of it as JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredChange {
    /// Its id.
    pub id: String,
    /// The query that changed.
    pub key: QueryKey,
    /// The environment whose runs changed.
    pub environment: Option<String>,
    /// The host whose runs changed, where one host alone changed.
    pub host: Option<String>,
    /// What changed: a kind by its name.
    pub kind: String,
    /// What became of it: a state by its name.
    pub state: String,
    /// Start of its first run, in Unix nanoseconds.
    pub since_unix_ns: i64,
    /// When the evaluation was sure, in Unix nanoseconds.
    pub confirmed_unix_ns: i64,
    /// When it was over, in Unix nanoseconds.
    pub recovered_unix_ns: Option<i64>,
    /// Wall time it costs a day, in milliseconds: a finite number.
    pub wall_ms_a_day: f64,
    /// The whole change, as JSON.
    pub body: String,
}

impl StoredChange {
    /// The name of the state of a change that lasts.
    pub const OPEN: &'static str = "open";

    /// Whether the query does worse, and its data does not explain it.
    pub fn is_for_worse(&self) -> bool {
        matches!(self.kind.as_str(), "slower" | "failing")
    }

    /// Where it stands in the list of changes.
    pub fn place(&self) -> ChangePlace {
        ChangePlace { wall_ms_a_day: self.wall_ms_a_day, id: self.id.clone() }
    }
}

/// Where a change stands: the one that costs the most wall time a day first, then by id.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields of a change")]
pub struct ChangePlace {
    pub wall_ms_a_day: f64,
    pub id: String,
}

/// Which changes are asked for; a field that is `None` keeps all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChangesRequest {
    /// Of queries with this project.
    pub project: Option<String>,
    /// Of queries with this service.
    pub service: Option<Is>,
    /// Of queries with this label.
    pub label: Option<String>,
    /// In this environment.
    pub environment: Option<Is>,
    /// On this host.
    pub host: Option<String>,
    /// Of this kind.
    pub kind: Option<String>,
    /// In this state.
    pub state: Option<String>,
    /// Whose first run started at or after, in Unix nanoseconds.
    pub since_unix_ns: Option<i64>,
    /// Whose first run started at or before, in Unix nanoseconds.
    pub until_unix_ns: Option<i64>,
    /// Only those after this place.
    pub after: Option<ChangePlace>,
    /// How many at most.
    pub limit: usize,
    /// Leaves the body of each change empty: the whole change is many times as long as the rest of it.
    pub without_body: bool,
}

//! Between what a store keeps and what detectors take and say.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use queryscope_diagnosis::{Change, Detector, Plan, RunFeatures, Saved};
use queryscope_store::{EvaluatedRun, PlanFingerprint, QueryHistory, QueryKey, StoreError, StoredChange};

/// The detector of a query as it was stored, with the features of its runs.
///
/// # Errors
/// When what is stored cannot be read.
pub(crate) fn detector(history: &QueryHistory) -> Result<Detector, StoreError> {
    let saved: Saved = serde_json::from_slice(&history.saved).map_err(StoreError::unavailable)?;
    Detector::restore(saved, runs(history)).map_err(StoreError::unavailable)
}

/// The features of stored runs, those that can be read.
pub(super) fn runs(history: &QueryHistory) -> Vec<RunFeatures> {
    let mut plans: HashMap<PlanFingerprint, Arc<Plan>> = HashMap::new();
    for plan in &history.plans {
        plans.extend(Plan::unpack(&plan.packed).ok().map(|read| (plan.fingerprint, Arc::new(read))));
    }
    let unpack = |run: &EvaluatedRun| RunFeatures::unpack(&run.features, plans.get(&run.plan)?).ok();
    history.runs.iter().filter_map(unpack).collect()
}

/// A run as it is stored.
pub(super) fn evaluated(run: &RunFeatures) -> EvaluatedRun {
    EvaluatedRun {
        query_id: run.query_id,
        started_unix_ns: run.started_unix_ns,
        plan: run.plan.fingerprint.bytes(),
        features: run.pack(),
    }
}

/// Changes of one query that have moved, by id.
#[derive(Debug, Default)]
pub(super) struct Moved(BTreeMap<String, Change>);

impl Moved {
    /// Notes a change as it is now.
    pub(super) fn note(&mut self, key: &QueryKey, change: &Change) {
        self.0.insert(change.id.clone(), named(key, change));
    }

    /// As they are stored.
    pub(super) fn stored(&self, key: &QueryKey) -> Vec<StoredChange> {
        self.0.values().map(|change| stored(key, change)).collect()
    }
}

/// A change with the names of its query.
pub(super) fn named(key: &QueryKey, change: &Change) -> Change {
    Change {
        project: Some(key.project.clone()),
        service: key.service.clone(),
        label: Some(key.label.clone()),
        ..change.clone()
    }
}

pub(super) fn stored(key: &QueryKey, change: &Change) -> StoredChange {
    let cost = change.cost.wall_ms_a_day;
    StoredChange {
        id: change.id.clone(),
        key: key.clone(),
        environment: change.environment.clone(),
        host: change.host.clone(),
        kind: change.kind.name().to_owned(),
        state: change.state.name().to_owned(),
        since_unix_ns: change.since_unix_ns,
        confirmed_unix_ns: change.confirmed_unix_ns.unwrap_or(change.since_unix_ns),
        recovered_unix_ns: change.recovered_unix_ns,
        wall_ms_a_day: if cost.is_finite() { cost } else { 0.0 },
        body: json(change),
    }
}

/// A change as JSON.
pub(crate) fn json(change: &Change) -> String {
    serde_json::to_string(change).expect("texts and numbers are written to memory")
}

/// A stored change.
///
/// # Errors
/// When what is stored cannot be read.
pub(crate) fn change(stored: &StoredChange) -> Result<Change, StoreError> {
    serde_json::from_str(&stored.body).map_err(StoreError::unavailable)
}

//! What is stored of the evaluation of a query, against what its runs say anew.
//!
//! Only what is certain is told. The features of a run follow from the event that ended it. The state of a detector
//! follows from its state some runs ago and the runs since ([`Saved::replay`]), and the changes that moved follow with
//! it. Whatever another version made, and whatever rests on runs that are gone, is not judged.

use std::collections::HashMap;
use std::sync::Arc;

use queryscope_diagnosis::{Change, PackedError, Plan, PlanNode, RunFeatures, Saved, State, Workspace};
use queryscope_protocol::{QueryId, Role};
use queryscope_store::{
    EvaluatedRun, PlanFingerprint, Query, QueryHistory, QueryKey, StoreError, StoredChange,
};
use serde_json::Value;
use thiserror::Error;
use uuid::Uuid;

use super::events::features;
use super::found::{self, evaluated, named};

/// Differences of a state that are named.
const NAMED_MAX: usize = 3;
/// How far numbers may be apart, by the larger: other machines' logarithms end in other digits.
const APART: f64 = 1e-9;

/// Why nothing can be said anew.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NotAgain {
    /// The state cannot be read.
    #[error("its state cannot be read")]
    State(#[source] serde_json::Error),
    /// The plan of a run cannot be read.
    #[error("a plan of its runs cannot be read")]
    Plan(#[source] PackedError),
}

/// What is stored of the evaluation of a query.
#[derive(Debug)]
pub struct Again<'h> {
    key: &'h QueryKey,
    history: &'h QueryHistory,
    saved: Saved,
    plans: HashMap<PlanFingerprint, Arc<Plan>>,
}

impl<'h> Again<'h> {
    /// Reads what is stored.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(key: &'h QueryKey, history: &'h QueryHistory) -> Result<Self, NotAgain> {
        let saved = serde_json::from_slice(&history.saved).map_err(NotAgain::State)?;
        let read = |packed: &[u8]| Plan::unpack(packed).map(Arc::new).map_err(NotAgain::Plan);
        let plans = history.plans.iter().map(|plan| Ok((plan.fingerprint, read(&plan.packed)?)));
        let plans = plans.collect::<Result<_, _>>()?;
        Ok(Self { key, history, saved, plans })
    }

    /// Runs whose features can be made anew from their events.
    pub fn runs(&self) -> impl Iterator<Item = &'h EvaluatedRun> {
        let own = |run: &&EvaluatedRun| self.saved.is_of_own(run.started_unix_ns, run.query_id);
        self.history.runs.iter().filter(own)
    }

    /// What is wrong with the features of a run by its row and its events; several may have ended it.
    pub fn of_run(&self, run: &EvaluatedRun, query: &Query, events: &[&[u8]]) -> Option<&'static str> {
        let made: Vec<RunFeatures> = events.iter().filter_map(|line| features(query, line)).collect();
        if made.is_empty() {
            return None;
        }
        let Some(same) = made.iter().find(|made| evaluated(made) == *run) else {
            return Some("its features are not those that its event makes");
        };
        let plan = self.plans.get(&run.plan);
        let is_same =
            plan.is_some_and(|plan| plan.nodes.iter().map(shape).eq(same.plan.nodes.iter().map(shape)));
        (!is_same).then_some("its plan is not the one of its event")
    }

    /// What is wrong with the state and with the changes that moved lately.
    pub fn differences(&self, stored: &[StoredChange]) -> Vec<String> {
        let mut problems = Vec::new();
        let mut runs = Vec::with_capacity(self.history.runs.len());
        for run in &self.history.runs {
            let plan = self.plans.get(&run.plan).ok_or(PackedError::Invalid("a plan"));
            match plan.and_then(|plan| RunFeatures::unpack(&run.features, plan)) {
                Ok(features) => runs.push(features),
                Err(error) => problems.push(format!("run {}: {error}", run.query_id)),
            }
        }
        if !problems.is_empty() {
            return problems;
        }
        let by_id: HashMap<&str, &StoredChange> =
            stored.iter().map(|change| (change.id.as_str(), change)).collect();
        match self.saved.replay(runs, &mut Workspace::default()) {
            Err(error) => problems.push(format!("its state does not fit its runs: {error}")),
            Ok(None) => {}
            Ok(Some(again)) => {
                let value = |saved: &Saved| serde_json::to_value(saved).ok().map(without_words);
                let [is, should] = [&self.saved, &again.saved].map(value);
                if let Some((is, should)) = is.zip(should) {
                    let mut found = Vec::new();
                    differ(&is, &should, "", &mut found);
                    problems.extend(found.iter().take(NAMED_MAX).map(|found| format!("its state: {found}")));
                }
                for (id, change) in again.changes {
                    let expected = found::stored(self.key, &named(self.key, &change));
                    let stored = by_id.get(id.as_str());
                    problems.extend(stored.and_then(|stored| differs(stored, &expected, without_words)));
                }
            }
        }
        for change in self.saved.lasting().filter(|change| change.state == State::Open) {
            if !by_id.contains_key(change.id.as_str()) {
                problems.push(format!("open change {} is not there", change.id));
            }
        }
        problems.extend(stored.iter().filter_map(|change| self.made_up(change)));
        problems
    }

    /// What is wrong with a change by what the state knows of changes.
    fn made_up(&self, stored: &StoredChange) -> Option<String> {
        let StoredChange { id, state, .. } = stored;
        let lasts = self.saved.lasting().find(|change| change.id == *id);
        if let Some(lasts) = lasts.filter(|lasts| lasts.state.name() != state.as_str()) {
            return Some(format!(
                "change {id} is {state}, its query's state has it as {}",
                lasts.state.name()
            ));
        }
        if lasts.is_none() && state == StoredChange::OPEN {
            return Some(format!("change {id} is open, and no runs say so"));
        }
        let over = self.saved.over().any(|(over, _)| over == id);
        if lasts.is_none() && !over && self.saved.knows_all_over() {
            return Some(format!("change {id} was never found"));
        }
        let expected = match lasts.filter(|lasts| lasts.state == State::Open) {
            // One evaluation stored both.
            Some(lasts) => Ok(named(self.key, lasts)),
            None => found::change(stored),
        };
        match expected {
            Ok(change) => differs(stored, &found::stored(self.key, &change), |whole| whole),
            Err(error) => Some(unreadable(id, &error)),
        }
    }

    /// Changes that were over and are not there, each with the run it was found at and when it was over. Retention
    /// takes them out with the runs of before: where that run is left, the change must be.
    pub fn gone(&self, stored: &[StoredChange]) -> Vec<(String, QueryId, i64)> {
        let gone = self.saved.over().filter(|(id, _)| stored.iter().all(|stored| stored.id != *id));
        let found_at = |id: &str| Some(QueryId::new(Uuid::try_parse(id.rsplit('-').next()?).ok()?));
        gone.filter_map(|(id, unix_ns)| Some((id.to_owned(), found_at(id)?, unix_ns))).collect()
    }
}

fn unreadable(id: &str, error: &StoreError) -> String {
    format!("change {id} cannot be read: {error}")
}

/// What the fingerprint of a plan rests on. Ids and literals are those of the run it was first seen with.
fn shape(node: &PlanNode) -> (&str, Role, &[usize], u64, u64) {
    (&node.kind, node.role, &node.inputs, node.own_shape, node.shape)
}

/// Leaves out what the ids and literals of plans are in: a run that is read again has those of the run its plan was
/// first seen with.
fn without_words(mut value: Value) -> Value {
    match &mut value {
        Value::Object(all) => {
            for name in ["causes", "harmless", "plans"] {
                all.remove(name);
            }
            all.values_mut().for_each(|value| *value = without_words(value.take()));
        }
        Value::Array(all) => all.iter_mut().for_each(|value| *value = without_words(value.take())),
        _ => {}
    }
    value
}

/// In what a stored change is another than it is to be.
fn differs(
    stored: &StoredChange,
    expected: &StoredChange,
    compared: impl Fn(Value) -> Value,
) -> Option<String> {
    let value = |change: &StoredChange| -> Result<Change, StoreError> { found::change(change) };
    let [is, should] = match (value(stored), value(expected)) {
        (Ok(is), Ok(should)) => {
            [is, should].map(|change| compared(serde_json::to_value(change).unwrap_or_default()))
        }
        (Err(error), _) | (_, Err(error)) => return Some(unreadable(&stored.id, &error)),
    };
    let mut found = Vec::new();
    differ(&is, &should, "", &mut found);
    let columns = |change: &StoredChange| {
        serde_json::json!({
            "environment": change.environment, "host": change.host, "kind": change.kind, "state": change.state,
            "since_unix_ns": change.since_unix_ns, "confirmed_unix_ns": change.confirmed_unix_ns,
            "recovered_unix_ns": change.recovered_unix_ns, "wall_ms_a_day": change.wall_ms_a_day,
        })
    };
    differ(&columns(stored), &columns(expected), "", &mut found);
    let first = found.first()?;
    Some(format!("change {}: {first}", stored.id))
}

/// In what JSON differs, numbers by more than rounding.
fn differ(is: &Value, should: &Value, path: &str, found: &mut Vec<String>) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match (is, should) {
        (Value::Object(is), Value::Object(should)) => {
            for name in is.keys().chain(should.keys().filter(|name| !is.contains_key(*name))) {
                let none = &Value::Null;
                differ(is.get(name).unwrap_or(none), should.get(name).unwrap_or(none), &below(name), found);
            }
        }
        (Value::Array(is), Value::Array(should)) if is.len() == should.len() => {
            for (place, (is, should)) in is.iter().zip(should).enumerate() {
                differ(is, should, &below(&place.to_string()), found);
            }
        }
        (Value::Number(one), Value::Number(other)) => {
            if one != other && !near(one.as_f64(), other.as_f64(), one.is_f64() || other.is_f64()) {
                found.push(format!("{path} is {one}, its runs say {other}"));
            }
        }
        _ if is == should => {}
        _ => found.push(format!("{path} is {}, its runs say {}", short(is), short(should))),
    }
}

fn near(one: Option<f64>, other: Option<f64>, rounded: bool) -> bool {
    let pair = one.zip(other).filter(|_| rounded);
    pair.is_some_and(|(one, other)| (one - other).abs() <= APART * one.abs().max(other.abs()))
}

/// A value on a line.
fn short(value: &Value) -> String {
    match value {
        Value::Array(all) => format!("a list of {}", all.len()),
        Value::Object(_) => "an object".into(),
        Value::String(text) if text.len() > 64 => format!("a text of {} bytes", text.len()),
        other => other.to_string(),
    }
}

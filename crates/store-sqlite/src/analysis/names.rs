//! The texts of origins and plans, as history wants them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use queryscope_history::{Run, RunStatus};
use queryscope_protocol::QueryId;
use rusqlite::Connection;
use uuid::Uuid;

use crate::columns::{Row, Selection, Snapshot};
use crate::error::damaged;
use crate::terms::TermTexts;

/// Texts by the number of their origin or plan.
pub(crate) struct Names {
    services: Vec<Option<Arc<str>>>,
    fingerprints: Vec<Option<Arc<str>>>,
    rules: Vec<Arc<[String]>>,
}

/// The rules of all plans as borrowed texts, which is what a run holds.
pub(crate) struct Rules<'n>(Vec<Vec<&'n str>>);

impl Names {
    /// The names of all origins, and of the plans a selection keeps.
    pub(crate) fn of(
        db: &Connection,
        terms: &TermTexts,
        snapshot: &Snapshot,
        selection: &Selection,
    ) -> rusqlite::Result<Self> {
        let mut known: HashMap<i64, Arc<str>> = HashMap::new();
        let mut text = |term: Option<i64>| -> rusqlite::Result<Option<Arc<str>>> {
            let Some(term) = term else { return Ok(None) };
            if let Some(text) = known.get(&term) {
                return Ok(Some(Arc::clone(text)));
            }
            let text = terms.text(db, term)?;
            known.insert(term, Arc::clone(&text));
            Ok(Some(text))
        };
        let services =
            snapshot.origins.iter().map(|origin| text(origin.service)).collect::<rusqlite::Result<_>>()?;
        let mut fingerprints = Vec::with_capacity(snapshot.plans.len());
        let mut rules = Vec::with_capacity(snapshot.plans.len());
        let none: Arc<[String]> = Arc::new([]);
        let mut lists: HashMap<i64, Arc<[String]>> = HashMap::new();
        for plan in snapshot.plans.iter() {
            if !selection.keeps_plan(plan) {
                fingerprints.push(None);
                rules.push(Arc::clone(&none));
                continue;
            }
            fingerprints.push(text(plan.fingerprint)?);
            let list = match plan.rules {
                None => Arc::clone(&none),
                Some(term) => {
                    let list = match lists.entry(term) {
                        Entry::Occupied(known) => known.into_mut(),
                        Entry::Vacant(new) => new.insert(rule_list(&terms.text(db, term)?)?),
                    };
                    Arc::clone(list)
                }
            };
            rules.push(list);
        }
        Ok(Self { services, fingerprints, rules })
    }

    pub(crate) fn rules(&self) -> Rules<'_> {
        Rules(self.rules.iter().map(|list| list.iter().map(String::as_str).collect()).collect())
    }

    /// A query as a run. It goes by the number of its row: the order in which queries were first stored tells
    /// those of one start apart.
    pub(crate) fn run<'n>(&'n self, rules: &'n Rules<'n>, number: i64, row: &Row) -> Run<'n> {
        Run {
            query_id: QueryId::new(Uuid::from_u128(u128::from(number.cast_unsigned()))),
            started_unix_ns: row.started_unix_ns,
            status: match row.status {
                0 => RunStatus::Running,
                1 => RunStatus::Finished,
                2 => RunStatus::Failed,
                _ => RunStatus::Unfinished,
            },
            wall_ms: Some(row.wall_ms).filter(|ms| !ms.is_nan()),
            service: self.services[row.origin as usize].as_deref(),
            fingerprint: self.fingerprints[row.plan as usize].as_deref(),
            rules: &rules.0[row.plan as usize],
        }
    }
}

impl<'n> Rules<'n> {
    /// The rules of a plan, by its number.
    pub(crate) fn of_plan(&self, plan: usize) -> impl Iterator<Item = &'n str> {
        self.0[plan].iter().copied()
    }
}

fn rule_list(json: &str) -> rusqlite::Result<Arc<[String]>> {
    serde_json::from_str::<Vec<String>>(json).map(Into::into).map_err(|_| damaged(0, "no list of rules"))
}

/// The number of the row a run goes by.
pub(crate) fn row_of(run: QueryId) -> i64 {
    i64::try_from(run.uuid().as_u128()).unwrap_or_default()
}

//! Numbers for the labels or plans that queries are grouped by.

use std::collections::HashMap;

use crate::dictionary::Plan;
use crate::select::Snapshot;

/// The groups of a snapshot's plans.
pub(crate) struct Keys {
    /// The term of each group.
    pub(crate) terms: Vec<i64>,
    /// The group of each plan, by its number; `None` where the plan lacks the field.
    pub(crate) of_plan: Vec<Option<u32>>,
}

impl Keys {
    /// Groups plans by a field.
    pub(crate) fn of(snapshot: &Snapshot, field: impl Fn(&Plan) -> Option<i64>) -> Self {
        let mut numbers = HashMap::new();
        let mut terms = Vec::new();
        let of_plan = snapshot.plans.iter().map(|plan| {
            field(plan).map(|term| {
                *numbers.entry(term).or_insert_with(|| {
                    terms.push(term);
                    terms.len() as u32 - 1
                })
            })
        });
        let of_plan = of_plan.collect();
        Self { terms, of_plan }
    }
}

//! Lists of rules by their terms.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use foldhash::fast::RandomState;

use crate::clusters::Clusters;
use crate::names::Names;
use crate::select::Snapshot;

/// The lists of rules that warned in some plans.
#[derive(Debug)]
pub(crate) struct RuleLists(HashMap<i64, Vec<String>, RandomState>);

impl RuleLists {
    /// Reads those of the plans that a filter keeps.
    pub(crate) fn of<N: Names>(
        names: &N,
        snapshot: &Snapshot,
        clusters: &Clusters,
    ) -> Result<Self, N::Error> {
        let mut lists = HashMap::default();
        let plans = clusters.labels().flat_map(|label| clusters.plans(label));
        for term in plans.filter_map(|plan| snapshot.plans[*plan as usize].rules) {
            if let Entry::Vacant(new) = lists.entry(term) {
                new.insert(names.rules(term)?);
            }
        }
        Ok(Self(lists))
    }

    /// The rules of a list; no list is that of queries nothing warned of.
    pub(crate) fn list(&self, term: Option<i64>) -> impl Iterator<Item = &str> {
        let list = term.and_then(|term| self.0.get(&term));
        list.into_iter().flatten().map(String::as_str)
    }

    /// The rules of some lists, each once, by name.
    pub(crate) fn distinct(&self, terms: &[i64]) -> Vec<&str> {
        let mut rules: Vec<&str> = terms.iter().flat_map(|term| self.list(Some(*term))).collect();
        rules.sort_unstable();
        rules.dedup();
        rules
    }
}

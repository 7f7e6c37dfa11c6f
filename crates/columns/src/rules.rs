//! Lists of rules by their terms.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::names::Names;

/// Lists of rules that were read.
#[derive(Debug, Default)]
pub(crate) struct RuleLists(HashMap<i64, Arc<[String]>>);

impl RuleLists {
    /// The list of a term; none is the list of queries nothing warned of.
    pub(crate) fn list<N: Names>(&mut self, names: &N, term: Option<i64>) -> Result<Arc<[String]>, N::Error> {
        let Some(term) = term else { return Ok(Arc::default()) };
        let list = match self.0.entry(term) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(names.rules(term)?.into()),
        };
        Ok(Arc::clone(list))
    }
}

/// The rules of some lists, each once, by name.
pub(crate) fn distinct(lists: &[Arc<[String]>]) -> Vec<&str> {
    let rules: BTreeSet<&str> = lists.iter().flat_map(|list| list.iter()).map(String::as_str).collect();
    rules.into_iter().collect()
}

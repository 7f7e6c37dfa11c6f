//! Answers over many queries against a count of the queries themselves.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use queryscope_store::{FacetValue, GroupBy, Query, QueryFilter, Status, Store};

use super::{Findings, Subject};

/// Runs, failed runs and the last start of a group.
type Group = (u64, u64, i64);
/// Runs by value, field by field.
type Facets = [BTreeMap<Option<String>, u64>; 4];

/// A count of queries as facets and groups count them.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Tally {
    facets: Facets,
    groups: [BTreeMap<String, Group>; 2],
}

impl Tally {
    /// Counts one more.
    pub(crate) fn add(&mut self, query: &Query) {
        let status = Some(query.status.name().to_owned());
        let values = [query.service.clone(), query.environment.clone(), Some(query.host.clone()), status];
        for (field, value) in self.facets.iter_mut().zip(values) {
            *field.entry(value).or_default() += 1;
        }
        for (groups, key) in self.groups.iter_mut().zip([&query.label, &query.fingerprint]) {
            let Some(key) = key else { continue };
            let (runs, failed, last) = groups.entry(key.clone()).or_insert((0, 0, i64::MIN));
            *runs += 1;
            *failed += u64::from(query.status == Status::Failed);
            *last = (*last).max(query.started_unix_ns);
        }
    }

    /// What a store answers.
    pub(crate) async fn answered(store: &Arc<dyn Store>) -> Result<Self> {
        let facets = store.facets(QueryFilter::default()).await?;
        let runs =
            |field: Vec<FacetValue>| field.into_iter().map(|value| (value.value, value.runs)).collect();
        let facets = [facets.service, facets.environment, facets.host, facets.status].map(runs);
        let mut groups = [BTreeMap::new(), BTreeMap::new()];
        for (groups, by) in groups.iter_mut().zip([GroupBy::Label, GroupBy::Fingerprint]) {
            let answer = store.groups(QueryFilter::default(), by).await?;
            groups.extend(answer.into_iter().map(|g| (g.key, (g.runs, g.failed, g.last_started_unix_ns))));
        }
        Ok(Self { facets, groups })
    }
}

/// Judges what the store answered before and after all queries were counted; nothing can be told when it moved.
pub(crate) fn check(before: &Result<Tally>, after: &Result<Tally>, counted: &Tally, findings: &mut Findings) {
    match (before, after) {
        (Ok(before), Ok(after)) if before != after => {}
        (Ok(answered), Ok(_)) => {
            let facets = ["service", "environment", "host", "status"];
            for ((name, answered), counted) in facets.iter().zip(&answered.facets).zip(&counted.facets) {
                differ(&format!("facet {name}"), answered, counted, findings);
            }
            for ((name, answered), counted) in
                ["label", "fingerprint"].iter().zip(&answered.groups).zip(&counted.groups)
            {
                differ(&format!("groups by {name}"), answered, counted, findings);
            }
        }
        (Err(error), _) | (_, Err(error)) => {
            findings.problem(&Subject::Store, &format!("the columns can not be filled: {error:#}"));
        }
    }
}

fn differ<K: Ord + std::fmt::Debug, V: PartialEq + std::fmt::Debug>(
    what: &str,
    answered: &BTreeMap<K, V>,
    counted: &BTreeMap<K, V>,
    findings: &mut Findings,
) {
    for key in answered.keys().chain(counted.keys().filter(|key| !answered.contains_key(key))) {
        let (answer, count) = (answered.get(key), counted.get(key));
        if answer != count {
            let text = format!("{what}: {key:?} is answered as {answer:?}, the queries say {count:?}");
            findings.problem(&Subject::Store, &text);
        }
    }
}

//! Answers over many runs against a count of the runs themselves.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use queryscope_store::{FacetValue, GroupBy, Query, QueryFilter, Status, Store};

use super::{Findings, Stored, Subject};

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
            let answer = store.all_groups(QueryFilter::default(), by).await?;
            groups.extend(
                answer.into_iter().map(|g| (g.key.into_owned(), (g.runs, g.failed, g.last_started_unix_ns))),
            );
        }
        Ok(Self { facets, groups })
    }
}

/// Has all queries counted, and judges by that what the store answers over many. Nothing can be told where the
/// store moved meanwhile; of what a service commits that is told of by `is_in_use` nothing is heard here.
pub(crate) async fn check(
    store: &Arc<dyn Store>,
    is_in_use: impl Fn() -> bool,
    findings: &mut Findings,
    count: impl AsyncFnOnce(&mut Findings) -> Stored,
) -> Stored {
    let in_use = is_in_use();
    let mut commits = store.commits();
    let before = Tally::answered(store).await;
    let stored = count(findings).await;
    let after = Tally::answered(store).await;
    if stored.unreadable == 0 && !in_use && !is_in_use() && commits.try_next().is_none() {
        compare(&before, &after, &stored.tally, findings);
    }
    stored
}

fn compare(before: &Result<Tally>, after: &Result<Tally>, counted: &Tally, findings: &mut Findings) {
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
            findings.problem(&Subject::Store, &format!("the columns cannot be filled: {error:#}"));
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

#[cfg(test)]
mod tests {
    use queryscope_store::testsuite::{MemoryStore, batch, facts};

    use super::*;

    /// Problems found of a store with one running query that is counted as none, where this is committed meanwhile.
    async fn problems(meanwhile: Option<u64>, in_use: bool) -> usize {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        store.commit(batch(1).started(1, 2, facts("a")).build()).await.expect("stored");
        let mut findings = Findings::default();
        check(
            &store,
            || in_use,
            &mut findings,
            async |_| {
                if let Some(seq) = meanwhile {
                    store.commit(batch(1).progress(1, [seq]).build()).await.expect("stored");
                }
                Stored::default()
            },
        )
        .await;
        findings.problems
    }

    #[tokio::test]
    async fn answers_are_judged_where_nothing_was_committed_meanwhile() {
        assert!(problems(None, false).await > 0);
        assert_eq!(problems(Some(3), false).await, 0, "though the answers are the same before and after");
        assert_eq!(problems(None, true).await, 0);
    }
}

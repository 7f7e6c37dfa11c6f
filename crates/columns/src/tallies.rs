//! What the kept queries of each label or plan come to.

use std::sync::Arc;

use queryscope_history::Tally;

use crate::clusters::Clusters;
use crate::keys::Keys;
use crate::names::Names;
use crate::point::point;
use crate::rules::RuleLists;
use crate::select::{Selection, Snapshot};

/// One group, complete.
pub(crate) struct Tallied {
    /// The term of its key.
    pub(crate) term: i64,
    pub(crate) tally: Tally,
    /// Rules that warned in its queries.
    pub(crate) rules: Vec<Arc<[String]>>,
}

/// A group that is being tallied.
#[derive(Default)]
struct Open {
    tally: Tally,
    rules: Vec<i64>,
}

/// Tallies the queries a filter keeps by key, label after label, and hands over each group once its last label is
/// done: what is held is about one label's worth. Groups without queries are left out.
///
/// # Errors
/// The first error of `take`, and of reading terms.
pub(crate) fn tally<N: Names>(
    names: &N,
    snapshot: &Snapshot,
    selection: &Selection,
    clusters: &Clusters,
    keys: &Keys,
    mut take: impl FnMut(Tallied) -> Result<(), N::Error>,
) -> Result<(), N::Error> {
    let mut labels_left = labels_of_keys(clusters, keys);
    let mut open: Vec<Option<Box<Open>>> = Vec::new();
    open.resize_with(keys.terms.len(), || None);
    let mut seen = vec![false; snapshot.plans.len()];
    let mut lists = RuleLists::default();
    for label in clusters.labels() {
        clusters.each(label, selection.since_unix_ns, selection.until_unix_ns, |number, row| {
            if let Some(key) = keys.of_plan[row.plan as usize] {
                seen[row.plan as usize] = true;
                open[key as usize].get_or_insert_default().tally.add(&point(number, row, row.plan));
            }
        });
        for plan in clusters.plans(label) {
            if let (true, Some(key)) = (seen[*plan as usize], keys.of_plan[*plan as usize])
                && let Some(open) = &mut open[key as usize]
            {
                open.rules.extend(snapshot.plans[*plan as usize].rules);
            }
        }
        for key in keys_of(clusters, keys, label) {
            labels_left[key] -= 1;
            if labels_left[key] == 0
                && let Some(open) = open[key].take()
            {
                let rules = open.rules.iter().map(|term| lists.list(names, Some(*term)));
                let rules = rules.collect::<Result<_, _>>()?;
                take(Tallied { term: keys.terms[key], tally: open.tally, rules })?;
            }
        }
    }
    Ok(())
}

/// How many labels the plans of each key have.
fn labels_of_keys(clusters: &Clusters, keys: &Keys) -> Vec<u32> {
    let mut labels = vec![0; keys.terms.len()];
    for label in clusters.labels() {
        for key in keys_of(clusters, keys, label) {
            labels[key] += 1;
        }
    }
    labels
}

/// The keys of a label's plans, each once.
fn keys_of(clusters: &Clusters, keys: &Keys, label: usize) -> Vec<usize> {
    let mut of_label: Vec<usize> = clusters
        .plans(label)
        .iter()
        .filter_map(|plan| Some(keys.of_plan[*plan as usize]? as usize))
        .collect();
    of_label.sort_unstable();
    of_label.dedup();
    of_label
}

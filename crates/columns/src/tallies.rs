//! What the kept queries of each label or plan come to.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use foldhash::fast::RandomState;
use queryscope_history::Tally;

use crate::clusters::Clusters;
use crate::dictionary::Plan;
use crate::point::point;
use crate::rules::RuleLists;
use crate::select::{Selection, Snapshot};
use crate::stretches::on_threads;

/// Some queries of a group.
#[derive(Debug, Default)]
struct Part {
    tally: Tally,
    /// Terms of the lists of rules that warned in them.
    rules: Vec<i64>,
}

/// Tallies the queries a filter keeps by a field of their plans, label after label, and finishes each group once its
/// last label is done: what is held is about one label's worth for each thread. Gives what `finish` makes of the
/// groups and of the rules that warned in them, with the term of each, in any order. Groups without queries may be
/// among those it is asked of.
pub(crate) fn tally<'r, T: Send>(
    snapshot: &Snapshot,
    selection: &Selection,
    clusters: &Clusters,
    lists: &'r RuleLists,
    field: impl Fn(&Plan) -> Option<i64> + Sync,
    finish: impl Fn(Tally, Vec<&'r str>) -> Option<T> + Sync,
) -> Vec<(i64, T)> {
    let shared = Shared::of(snapshot, clusters, &field);
    let groups = on_threads(clusters, selection.since_unix_ns, selection.until_unix_ns, |labels| {
        let mut groups = Vec::new();
        for label in labels {
            let parts = parts(snapshot, selection, clusters, label, &field);
            let whole = parts.into_iter().filter_map(|(term, part)| Some((term, shared.whole(term, part)?)));
            groups.extend(whole.filter_map(|(term, Part { tally, rules })| {
                Some((term, finish(tally, lists.distinct(&rules))?))
            }));
        }
        groups
    });
    groups.into_iter().flatten().collect()
}

/// The groups of a label's queries.
fn parts(
    snapshot: &Snapshot,
    selection: &Selection,
    clusters: &Clusters,
    label: usize,
    field: impl Fn(&Plan) -> Option<i64>,
) -> Vec<(i64, Part)> {
    let plans = clusters.plans(label).iter().map(|plan| &snapshot.plans[*plan as usize]);
    let mut parts = Vec::new();
    let mut numbers: HashMap<_, _, RandomState> = HashMap::default();
    let number_of = plans.clone().map(|plan| {
        field(plan).map(|term| {
            *numbers.entry(term).or_insert_with(|| {
                parts.push((term, Part::default()));
                parts.len() - 1
            })
        })
    });
    let number_of: Vec<Option<usize>> = number_of.collect();
    let mut seen = vec![false; number_of.len()];
    clusters.each(label, selection.since_unix_ns, selection.until_unix_ns, |number, row| {
        let place = clusters.place(row.plan);
        if let Some(part) = number_of[place] {
            seen[place] = true;
            parts[part].1.tally.add(&point(number, row, row.plan));
        }
    });
    for ((plan, part), seen) in plans.zip(number_of).zip(seen) {
        if let Some(part) = part.filter(|_| seen) {
            parts[part].1.rules.extend(plan.rules);
        }
    }
    parts
}

/// Groups of several labels, until the last of these is done: how many are left, and what there is.
#[derive(Debug)]
struct Shared(HashMap<i64, Mutex<(u32, Part)>, RandomState>);

impl Shared {
    fn of(snapshot: &Snapshot, clusters: &Clusters, field: impl Fn(&Plan) -> Option<i64>) -> Self {
        let mut labels_of: HashMap<_, _, RandomState> = HashMap::default();
        for label in clusters.labels() {
            for term in clusters.plans(label).iter().filter_map(|plan| field(&snapshot.plans[*plan as usize]))
            {
                let (labels, last) = labels_of.entry(term).or_insert((1, label));
                if *last != label {
                    (*labels, *last) = (*labels + 1, label);
                }
            }
        }
        let several = labels_of.into_iter().filter(|(_, (labels, _))| *labels > 1);
        Self(several.map(|(term, (labels, _))| (term, Mutex::new((labels, Part::default())))).collect())
    }

    /// The whole group, when this part completes it.
    fn whole(&self, term: i64, part: Part) -> Option<Part> {
        let Some(group) = self.0.get(&term) else { return Some(part) };
        let (labels_left, whole) = &mut *group.lock().unwrap_or_else(PoisonError::into_inner);
        whole.tally.merge(part.tally);
        whole.rules.extend(part.rules);
        *labels_left -= 1;
        (*labels_left == 0).then(|| std::mem::take(whole))
    }
}

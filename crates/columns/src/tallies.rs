//! What the kept runs of each label or plan come to.

use std::collections::HashMap;
use std::mem::swap;
use std::sync::{Mutex, PoisonError};

use foldhash::fast::RandomState;
use queryscope_history::Tally;
use queryscope_store::YieldPoint;

use crate::clusters::Clusters;
use crate::dictionary::Plan;
use crate::point::{failure_of, point, time_ms};
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

impl Part {
    /// Forgets all queries and keeps memory for others.
    fn clear(&mut self) {
        self.tally.clear();
        self.rules.clear();
    }
}

/// What is told of the queries with one value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// Of most of the queries nothing but their times.
    Group,
    /// Also when the first one started.
    Version,
}

/// Tallies the queries a filter keeps by a field of their plans, some labels after others, and finishes each group once
/// its last label is done: what is held is about one stretch of labels for each thread. Gives what `finish` makes
/// of the groups and of the rules that warned in them, with the term of each, in any order. Groups without queries
/// may be among those it is asked of.
pub(crate) fn tally<'r, T: Send>(
    snapshot: &Snapshot,
    selection: &Selection,
    clusters: &Clusters,
    lists: &'r RuleLists,
    field: impl Fn(&Plan) -> Option<i64> + Sync,
    told: Told,
    finish: impl Fn(&mut Tally, Vec<&'r str>) -> Option<T> + Sync,
) -> Vec<(i64, T)> {
    let shared = Shared::of(snapshot, clusters, &field);
    let groups = on_threads(clusters, selection.since_unix_ns, selection.until_unix_ns, |stretches| {
        let mut groups = Vec::new();
        let mut reader = Reader::of(snapshot);
        for labels in stretches {
            reader.read(snapshot, selection, clusters, labels, &field, told);
            let whole = reader.turn.over(reader.terms.iter().zip(&mut reader.parts));
            let whole =
                whole.filter_map(|(term, part)| shared.complete(*term, part).then_some((*term, part)));
            groups.extend(whole.filter_map(|(term, Part { tally, rules })| {
                Some((term, finish(tally, lists.distinct(rules))?))
            }));
        }
        groups
    });
    groups.into_iter().flatten().collect()
}

/// Reads the groups of some labels after others, in memory that is used again.
#[derive(Debug)]
struct Reader<'s> {
    turn: YieldPoint<'s>,
    terms: Vec<i64>,
    /// Those of the terms, in their order, and some that are not used now.
    parts: Vec<Part>,
    number_of_term: HashMap<i64, u32, RandomState>,
    /// By plan: the number of its group, and whether a query had it.
    plans: Vec<(Option<u32>, bool)>,
}

impl<'s> Reader<'s> {
    fn of(snapshot: &'s Snapshot) -> Self {
        Self {
            turn: YieldPoint::new(snapshot.foreground()),
            terms: Vec::new(),
            parts: Vec::new(),
            number_of_term: HashMap::default(),
            plans: vec![(None, false); snapshot.plans.len()],
        }
    }

    fn read(
        &mut self,
        snapshot: &Snapshot,
        selection: &Selection,
        clusters: &Clusters,
        labels: &[usize],
        field: impl Fn(&Plan) -> Option<i64>,
        told: Told,
    ) {
        self.terms.clear();
        for label in labels {
            // What a group has of each label is completed with that label.
            self.number_of_term.clear();
            for plan in clusters.plans(*label) {
                let number = field(&snapshot.plans[*plan as usize]).map(|term| self.number(term));
                self.plans[*plan as usize] = (number, false);
            }
        }
        clusters.each(labels, selection.since_unix_ns, selection.until_unix_ns, &self.turn, |query| {
            let plan = query.plan();
            let (part, seen) = &mut self.plans[plan as usize];
            let Some(part) = *part else { return };
            *seen = true;
            let tally = &mut self.parts[part as usize].tally;
            if told == Told::Group && tally.has_later(query.segment_last_unix_ns()) {
                tally.add_earlier(time_ms(query), failure_of(query.status()));
            } else {
                tally.add(&point(query, plan));
            }
        });
        for plan in labels.iter().flat_map(|label| clusters.plans(*label)) {
            if let (Some(part), true) = self.plans[*plan as usize] {
                self.parts[part as usize].rules.extend(snapshot.plans[*plan as usize].rules);
            }
        }
    }

    /// The number of a term's group, which begins empty.
    fn number(&mut self, term: i64) -> u32 {
        *self.number_of_term.entry(term).or_insert_with(|| {
            let number = self.terms.len();
            self.terms.push(term);
            match self.parts.get_mut(number) {
                Some(part) => part.clear(),
                None => self.parts.push(Part::default()),
            }
            number as u32
        })
    }
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

    /// Completes this part of a group to the whole one; `false` while labels are left, for which it is kept.
    fn complete(&self, term: i64, part: &mut Part) -> bool {
        let Some(group) = self.0.get(&term) else { return true };
        let (labels_left, whole) = &mut *group.lock().unwrap_or_else(PoisonError::into_inner);
        whole.tally.append(&mut part.tally);
        whole.rules.append(&mut part.rules);
        *labels_left -= 1;
        let complete = *labels_left == 0;
        if complete {
            swap(whole, part);
        }
        complete
    }
}

//! Issues of the model.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use queryscope_issues::limits::NOTES_MAX;
use queryscope_issues::{Issue, Moved, Note, Notice, State};

use super::diagnosis::is;
use crate::diagnosis::QueryKey;
use crate::issues::{
    IssueCount, IssueMoved, IssuePlace, IssueRecord, IssueStep, IssuesRequest, NoteAdded, ObservedQuery,
};

/// Issues by id.
#[derive(Debug, Default)]
pub(super) struct Issues(pub(super) BTreeMap<String, IssueRecord>);

impl Issues {
    /// Moves issues; gives back those that made a transition, and a notice of each transition.
    pub(super) fn observe(&mut self, observed: &[ObservedQuery]) -> (Vec<Issue>, Vec<Notice>) {
        let (mut told, mut notices) = (Vec::new(), Vec::new());
        for query in observed {
            let records = self.0.values().filter(|record| key_of(&record.issue) == query.key);
            let known = records.map(|record| record.issue.clone()).collect();
            for Moved { issue, transitions } in query.moves(known) {
                if !transitions.is_empty() {
                    told.push(issue.clone());
                }
                let notice = |transition| Notice { issue: issue.clone(), transition };
                notices.extend(transitions.iter().cloned().map(notice));
                match self.0.get_mut(&issue.id) {
                    Some(record) => {
                        record.issue = issue;
                        record.transitions.extend(transitions);
                    }
                    None => {
                        self.0
                            .insert(issue.id.clone(), IssueRecord { issue, transitions, notes: Vec::new() });
                    }
                }
            }
        }
        (told, notices)
    }

    pub(super) fn step(&mut self, id: &str, step: &IssueStep, unix_ns: i64) -> (IssueMoved, Option<Notice>) {
        let Some(record) = self.0.get_mut(id) else { return (IssueMoved::Unknown, None) };
        match step.take(&mut record.issue, unix_ns) {
            Err(refusal) => (IssueMoved::Refused(refusal), None),
            Ok(None) => (IssueMoved::Unchanged, None),
            Ok(Some(transition)) => {
                record.transitions.push(transition.clone());
                let issue = record.issue.clone();
                (IssueMoved::Moved(Box::new(issue.clone())), Some(Notice { issue, transition }))
            }
        }
    }

    pub(super) fn add_note(&mut self, id: &str, note: Note) -> NoteAdded {
        match self.0.get_mut(id) {
            None => NoteAdded::Unknown,
            Some(record) if record.notes.len() >= NOTES_MAX => NoteAdded::Full,
            Some(record) => {
                record.notes.push(note);
                NoteAdded::Added
            }
        }
    }

    pub(super) fn mutes_due(&self, unix_ns: i64, limit: usize) -> Vec<String> {
        let until = |record: &IssueRecord| record.issue.muted_until_unix_ns();
        let due = self.0.values().filter(|record| until(record).is_some_and(|until| until <= unix_ns));
        let mut due: Vec<&IssueRecord> = due.collect();
        due.sort_by_key(|record| until(record));
        due.into_iter().take(limit).map(|record| record.issue.id.clone()).collect()
    }

    pub(super) fn counts(&self) -> Vec<IssueCount> {
        let mut counts = BTreeMap::new();
        for IssueRecord { issue, .. } in self.0.values() {
            *counts.entry((issue.kind, issue.state)).or_default() += 1;
        }
        counts.into_iter().map(|((kind, state), count)| IssueCount { kind, state, count }).collect()
    }

    pub(super) fn page(&self, request: &IssuesRequest) -> Vec<Issue> {
        let issues = self.0.values().map(|record| &record.issue);
        let mut kept: Vec<Issue> = issues.filter(|issue| keeps(request, issue)).cloned().collect();
        kept.sort_by(|one, other| order(&IssuePlace::of(one), &IssuePlace::of(other)));
        let after = request.after.as_ref();
        kept.retain(|issue| {
            after.is_none_or(|after| order(&IssuePlace::of(issue), after) == Ordering::Greater)
        });
        kept.truncate(request.limit);
        kept
    }

    pub(super) fn adopt(&mut self, records: Vec<IssueRecord>) -> usize {
        let before = self.0.len();
        for record in records {
            let of = |issue: &Issue| (key_of(issue), issue.kind);
            let is_there = self
                .0
                .values()
                .any(|known| known.issue.id == record.issue.id || of(&known.issue) == of(&record.issue));
            if !is_there {
                self.0.insert(record.issue.id.clone(), record);
            }
        }
        self.0.len() - before
    }

    /// Deletes those of queries, and those that were resolved before a time.
    pub(super) fn delete(&mut self, lost: &BTreeSet<QueryKey>, before_unix_ns: i64) {
        self.0.retain(|_, IssueRecord { issue, .. }| {
            let is_old = issue.state == State::Resolved && issue.moved_unix_ns < before_unix_ns;
            !is_old && !lost.contains(&key_of(issue))
        });
    }
}

fn key_of(issue: &Issue) -> QueryKey {
    let Issue { project, service, label, .. } = issue.clone();
    QueryKey { project, service, label }
}

fn keeps(request: &IssuesRequest, issue: &Issue) -> bool {
    let same = |asked: &Option<String>, value: &String| asked.as_ref().is_none_or(|asked| asked == value);
    same(&request.project, &issue.project)
        && is(request.service.as_ref(), issue.service.as_ref())
        && same(&request.label, &issue.label)
        && request.kind.is_none_or(|kind| kind == issue.kind)
        && (request.states.is_empty() || request.states.contains(&issue.state))
}

fn order(one: &IssuePlace, other: &IssuePlace) -> Ordering {
    other.wall_ms_a_day.total_cmp(&one.wall_ms_a_day).then_with(|| one.id.cmp(&other.id))
}

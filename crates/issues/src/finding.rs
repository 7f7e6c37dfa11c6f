//! When findings of a query are new, and what becomes of the issue they make.
//!
//! The problem: engines warn in many runs, each time anew, and nobody reads the same warning a second time. What is
//! worth a message is a warning that a query did not have. The mechanism: a finding is new where the last runs of a
//! query all warn of it and none of the runs before did. Its issue is resolved once runs warn of it no more.

use std::collections::BTreeSet;

use crate::issue::{Issue, Kind, State, Who};
use crate::limits::{
    BAD_RUNS, CALM_RUNS, FINDING_BEFORE_RUNS_MIN, FINDING_RUNS, FINDING_RUNS_MIN, STAKE_MS_A_DAY_MIN,
};
use crate::observe::Moved;
use crate::seen::{Observed, Outcome, SeenRun, SeenSignal, Signal};
use crate::signal;
use crate::transition::Transition;

const DAY_NS: i64 = 86_400_000_000_000;

/// A run that finished, with the findings that warn in it.
#[derive(Debug, Clone, PartialEq)]
pub struct WarnedRun {
    /// Its start, in Unix nanoseconds.
    pub started_unix_ns: i64,
    /// Its wall time, in milliseconds.
    pub wall_ms: f64,
    /// The rules of its findings that warn.
    pub findings: Vec<String>,
}

/// Findings that are new in a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFindings {
    /// Their rules, in alphabetical order.
    pub findings: Vec<String>,
    /// Runs in a row that warn of the one that is oldest among them.
    pub runs: usize,
    /// What is said of them.
    pub detail: String,
}

/// The findings that are new by the last finished runs of a query, the newest first; `None` where there are none, or
/// where all these runs take less than a second a day.
pub fn new_findings(runs: &[WarnedRun]) -> Option<NewFindings> {
    let (newest, oldest) = (runs.first()?, runs.last()?);
    // Fewer runs than are looked at may be all there were in the last day.
    let span_min_ns = if runs.len() < FINDING_RUNS { DAY_NS } else { 1 };
    let span_ns = newest.started_unix_ns.saturating_sub(oldest.started_unix_ns).max(span_min_ns);
    let wall_ms: f64 = runs.iter().map(|run| run.wall_ms).sum();
    if wall_ms * (DAY_NS as f64 / span_ns as f64) < STAKE_MS_A_DAY_MIN {
        return None;
    }
    let rules: BTreeSet<&String> = newest.findings.iter().collect();
    let new = rules.into_iter().filter_map(|rule| {
        let (in_a_row, has_it_before) = in_a_row(runs, rule);
        let is_new = in_a_row >= FINDING_RUNS_MIN
            && runs.len() - in_a_row >= FINDING_BEFORE_RUNS_MIN
            && !has_it_before;
        is_new.then_some((rule, in_a_row))
    });
    let new: Vec<(&String, usize)> = new.collect();
    let longest = new.iter().map(|(_, in_a_row)| *in_a_row).max()?;
    let each: Vec<String> = new.iter().map(|(rule, runs)| format!("{runs} of {}", words(rule))).collect();
    // It is kept as it was said: further runs come.
    let each = each.join(", ").replacen(" of ", " runs in a row warned of ", 1);
    let detail = format!("{each}; none of the {} before did", runs.len() - longest);
    let findings = new.iter().map(|(rule, _)| (*rule).clone()).collect();
    Some(NewFindings { findings, runs: longest, detail })
}

/// Whether a rule that the newest of these runs has cannot be new while it is seen again within as many runs: a run
/// before those in a row has it, too, or all of them do.
pub fn is_settled(runs: &[WarnedRun], rule: &str) -> bool {
    let (in_a_row, has_it_before) = in_a_row(runs, rule);
    in_a_row == runs.len() || has_it_before
}

/// How many of these runs warn of a rule in a row, from the first on, and whether one behind those does.
fn in_a_row(runs: &[WarnedRun], rule: &str) -> (usize, bool) {
    let warns = |run: &WarnedRun| run.findings.iter().any(|found| found == rule);
    let in_a_row = runs.iter().take_while(|run| warns(run)).count();
    (in_a_row, runs[in_a_row..].iter().any(warns))
}

/// What is made of the issue of new findings of a query; `None` where nothing is to be stored.
pub(crate) fn observe(
    query: (&str, Option<&str>, &str),
    known: Option<Issue>,
    seen: &Observed,
) -> Option<Moved> {
    let Some(mut issue) = known else {
        let mut opened = signal::observe(query, Kind::NewFinding, None, seen)?;
        seen.runs.iter().for_each(|run| opened.issue.note(run));
        return Some(opened);
    };
    let before = (issue.state, issue.watch.bad_runs);
    let new: Vec<&SeenRun> = seen.runs.iter().filter(|run| issue.is_new(run)).collect();
    let mut transitions: Vec<Transition> =
        new.iter().flat_map(|run| issue.count(run, seen.unix_ns)).collect();
    let signal = seen.signals.iter().find(|signal| signal.kind == Kind::NewFinding);
    let joins = signal.filter(|signal| issue.lacks(signal));
    if let Some(signal) = joins {
        transitions.extend(issue.join(signal, seen.unix_ns));
    }
    // Runs without its findings say nothing of one that is over.
    let is_over = issue.state == State::Resolved && before == (issue.state, issue.watch.bad_runs);
    let is_moved = joins.is_some() || !transitions.is_empty() || (!new.is_empty() && !is_over);
    is_moved.then_some(Moved { issue, transitions })
}

impl Issue {
    /// "spilling and skew": what an issue of findings is about.
    pub fn findings_in_words(&self) -> String {
        let words: Vec<String> = self.findings.iter().map(|rule| words(rule)).collect();
        match &words[..] {
            [] => "a finding".into(),
            [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
            [only, ..] => only.clone(),
        }
    }

    /// Takes a run: [`CALM_RUNS`] in a row without its findings resolve it, [`BAD_RUNS`] with one bring it back.
    fn count(&mut self, run: &SeenRun, unix_ns: i64) -> Vec<Transition> {
        let mut transitions: Vec<Transition> = self.outdate_mute(run, unix_ns).into_iter().collect();
        self.note(run);
        if !self.is_about(run) || run.outcome != Outcome::Finished {
            return transitions;
        }
        let warns = run.findings.iter().any(|rule| self.findings.contains(rule));
        let findings = self.findings_in_words();
        if self.state == State::Resolved {
            self.watch.bad_runs = if warns { self.watch.bad_runs + 1 } else { 0 };
            if self.watch.bad_runs >= BAD_RUNS {
                let reason = format!("it is back: the last {BAD_RUNS} runs warn of {findings}");
                transitions.push(self.reopen(reason, unix_ns));
            }
        } else {
            self.calm_runs = if warns { 0 } else { self.calm_runs + 1 };
            if self.calm_runs >= CALM_RUNS {
                let reason = format!("the last {CALM_RUNS} runs do not warn of {findings}");
                let from = Some(self.state);
                transitions.push(self.transition(from, State::Resolved, Who::Service, reason, unix_ns));
            }
        }
        transitions
    }

    /// Whether a signal tells of more than it is about.
    fn lacks(&self, signal: &SeenSignal) -> bool {
        let Signal::Lasts { findings, since_unix_ns, environment, .. } = &signal.now else { return false };
        if self.state == State::Resolved {
            return since_unix_ns.is_some_and(|since| since > self.watch.resolved_at);
        }
        // Runs of another environment are not counted while the issue is about this one.
        *environment == self.environment && findings.iter().any(|rule| !self.findings.contains(rule))
    }

    /// Takes over findings that are new beside its own. Who acknowledged those does not know of these.
    fn join(&mut self, signal: &SeenSignal, unix_ns: i64) -> Option<Transition> {
        let own = std::mem::take(&mut self.findings);
        self.take_signal(signal);
        let detail = self.detail.clone().unwrap_or_default();
        if self.state == State::Resolved {
            return Some(self.reopen(format!("it is back: {detail}"), unix_ns));
        }
        let joined: BTreeSet<String> = own.into_iter().chain(std::mem::take(&mut self.findings)).collect();
        self.findings = joined.into_iter().collect();
        self.severity = self.findings.len() as f64;
        let reason = match self.state {
            State::Acknowledged => {
                let reason = format!("there are others: {detail}");
                return Some(self.transition(Some(self.state), State::Open, Who::Service, reason, unix_ns));
            }
            State::Muted => "it is as much worse as its mute allows",
            State::Open | State::Regressed | State::Resolved => return None,
        };
        let is_exceeded = self.mute.as_ref().is_some_and(|mute| mute.is_exceeded(self.severity));
        is_exceeded.then(|| self.leave_mute(reason.into(), unix_ns)).flatten()
    }
}

/// The rule of a finding in words.
fn words(rule: &str) -> String {
    rule.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs an hour apart with these findings, the newest first; `.` stands for none.
    fn runs(findings: &str) -> Vec<WarnedRun> {
        let each = findings.split_whitespace().zip(0_i64..).map(|(findings, back)| WarnedRun {
            started_unix_ns: 1_000 * DAY_NS - back * DAY_NS / 24,
            wall_ms: 100.0,
            findings: findings.split('+').filter(|rule| *rule != ".").map(ToOwned::to_owned).collect(),
        });
        each.collect()
    }

    fn found(findings: &str) -> Option<(Vec<String>, usize)> {
        new_findings(&runs(findings)).map(|new| (new.findings, new.runs))
    }

    #[test]
    fn a_finding_is_new_where_the_last_runs_have_it_and_no_other() {
        let spilling = |runs| Some((vec!["spilling".to_owned()], runs));
        for (findings, expected) in [
            ("spilling spilling spilling . . . . . . . .", spilling(3)),
            ("spilling spilling spilling spilling skew . . . . . .", spilling(4)),
            // Two may be luck, and four before say nothing.
            ("spilling spilling . . . . . . . . .", None),
            ("spilling spilling spilling . . . .", None),
            // It was there before.
            ("spilling spilling spilling . . . . . . spilling .", None),
            // It comes and goes.
            (". spilling spilling spilling . . . . . . .", None),
            ("spilling spilling spilling spilling spilling spilling spilling spilling", None),
            (". . . . . . . . . . . .", None),
            ("", None),
        ] {
            assert_eq!(found(findings), expected, "{findings}");
        }
    }

    #[test]
    fn several_new_findings_are_told_at_once() {
        let new = new_findings(&runs(
            "skew+tiny_batches skew+tiny_batches skew+tiny_batches skew old old old old+other . .",
        ));
        let new = new.expect("two");
        assert_eq!((&new.findings[..], new.runs), (&["skew".to_owned(), "tiny_batches".into()][..], 4));
        assert_eq!(new.detail, "4 runs in a row warned of skew, 3 of tiny batches; none of the 6 before did");
    }

    #[test]
    fn what_is_settled_cannot_become_new() {
        for (findings, expected) in [
            ("a . . a", true),
            ("a a a a a", true),
            ("a", true),
            ("a . . . .", false),
            ("a a a . . . . . .", false),
            (". . .", false),
        ] {
            assert_eq!(is_settled(&runs(findings), "a"), expected, "{findings}");
        }
    }

    #[test]
    fn the_last_runs_of_a_frequent_query_may_be_of_minutes() {
        let mut frequent = runs(&["spilling "; 3].concat());
        frequent.extend(runs(&[". "; FINDING_RUNS].concat()).into_iter().skip(3));
        for (run, back) in frequent.iter_mut().zip(0..) {
            (run.started_unix_ns, run.wall_ms) = (1_000 * DAY_NS - back * DAY_NS / 8_640, 16.0);
        }
        assert!(new_findings(&frequent).is_some(), "138 s a day");
    }

    #[test]
    fn findings_of_runs_that_cost_nothing_are_none() {
        let mut cheap = runs("spilling spilling spilling . . . . . . . . .");
        for run in &mut cheap {
            run.wall_ms = 80.0;
        }
        assert_eq!(new_findings(&cheap), None, "0.96 s a day");
        for run in &mut cheap {
            run.wall_ms = 84.0;
        }
        assert!(new_findings(&cheap).is_some(), "1.008 s a day");
    }
}

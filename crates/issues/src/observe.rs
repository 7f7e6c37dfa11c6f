//! What ended runs do to an issue.
//!
//! An issue opens when a change of its kind was confirmed and enough is at stake. It is resolved once the change is
//! over and runs confirm that: [`CALM_RUNS`] in a row as before, or as many of any time where a query's runs scatter
//! more than that. A resolved one comes back with a change that began after it was resolved, or with [`BAD_RUNS`] more
//! runs of the change that a person called over.

use crate::finding;
use crate::issue::{Issue, Kind, State, Who};
use crate::limits::{BAD_RUNS, CALM_RUNS, WORSE_FACTOR};
use crate::seen::{Observed, SeenChange, SeenRun};
use crate::signal;
use crate::transition::Transition;

/// An issue after an observation, to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Moved {
    /// The issue.
    pub issue: Issue,
    /// What it made of it, in order; empty where figures alone moved.
    pub transitions: Vec<Transition>,
}

/// What an evaluation makes of the issue of a kind of a query (project, service, label); `None` where nothing is to be
/// stored.
pub fn observe(
    query: (&str, Option<&str>, &str),
    kind: Kind,
    known: Option<Issue>,
    seen: &Observed,
) -> Option<Moved> {
    match kind {
        Kind::Late | Kind::Missing => return signal::observe(query, kind, known, seen),
        Kind::NewFinding => return finding::observe(query, known, seen),
        Kind::Slower | Kind::Failing | Kind::DataGrew => {}
    }
    let change = worst(kind, known.as_ref(), seen);
    let mut transitions = Vec::new();
    let mut issue = if let Some(issue) = known {
        issue
    } else {
        let change = change.filter(|change| kind.is_worth(change.wall_ms_a_day))?;
        let (issue, transition) = Issue::open(query, change, seen.unix_ns);
        transitions.push(transition);
        issue
    };
    let is_resolved = issue.state == State::Resolved;
    if is_resolved && change.is_none() {
        return None;
    }
    let new: Vec<&SeenRun> = seen.runs.iter().filter(|run| issue.is_new(run)).collect();
    if new.is_empty() && transitions.is_empty() {
        // What runs of the past say anew was said before, but for the figures of the change it is about.
        let about = change.filter(|change| !is_resolved && issue.change.as_ref() == Some(&change.id))?;
        let before = issue.clone();
        issue.follow(about);
        return (issue != before).then_some(Moved { issue, transitions });
    }
    if let Some(change) = change.filter(|_| !is_resolved) {
        let worse = issue.worse(change);
        issue.follow(change);
        issue.watch.runs_since_over = 0;
        // Who acknowledged what was does not know of this.
        transitions.extend(worse.map(|times| {
            let reason = format!("it is {times:.1} times as bad as when it was acknowledged");
            issue.transition(Some(issue.state), State::Open, Who::Service, reason, seen.unix_ns)
        }));
    }
    let severity = change.map_or(issue.severity, |change| change.severity);
    let ended = match &issue.mute {
        Some(mute) if mute.is_exceeded(severity) => Some("it is as much worse as its mute allows"),
        Some(mute) if mute.is_due(seen.unix_ns) => Some("the time of its mute is over"),
        _ => None,
    };
    transitions.extend(ended.and_then(|reason| issue.leave_mute(reason.into(), seen.unix_ns)));
    for run in new {
        transitions.extend(issue.outdate_mute(run, seen.unix_ns));
        issue.note(run);
        if !issue.is_about(run) {
            continue;
        }
        match issue.is_calm(run) {
            Some(true) => issue.calm_runs += 1,
            Some(false) => {
                issue.calm_runs = 0;
                issue.watch.bad_runs += 1;
            }
            None => {}
        }
        if change.is_none() {
            issue.watch.runs_since_over += 1;
            if let Some(transition) = issue.resolve(seen.unix_ns) {
                // What ends from here on is of no issue, until a change is.
                transitions.push(transition);
                break;
            }
        }
    }
    if let Some(change) = change.filter(|_| is_resolved) {
        transitions.extend(issue.come_back(change, seen.unix_ns));
    }
    Some(Moved { issue, transitions })
}

/// The change that an issue is about: of those of several environments the one with the most at stake. What began after
/// an issue was resolved goes before what did not.
fn worst<'s>(kind: Kind, known: Option<&Issue>, seen: &'s Observed) -> Option<&'s SeenChange> {
    let resolved_at =
        known.filter(|issue| issue.state == State::Resolved).map(|issue| issue.watch.resolved_at);
    let is_later = |change: &SeenChange| resolved_at.is_some_and(|at| change.since_unix_ns > at);
    seen.open.iter().filter(|change| change.kind == kind).max_by(|a, b| {
        let by_time = is_later(a).cmp(&is_later(b));
        by_time.then(a.wall_ms_a_day.total_cmp(&b.wall_ms_a_day)).then_with(|| b.id.cmp(&a.id))
    })
}

impl Issue {
    pub(crate) fn is_new(&self, run: &SeenRun) -> bool {
        (run.started_unix_ns, &run.id) > (self.watch.seen_until.0, &self.watch.seen_until.1)
    }

    /// How many times as bad a further change is as what was acknowledged, where that is much.
    fn worse(&self, change: &SeenChange) -> Option<f64> {
        if self.state != State::Acknowledged || self.change.as_ref() == Some(&change.id) {
            return None;
        }
        let times = change.severity / self.watch.acknowledged_severity.unwrap_or(self.severity);
        (times.is_finite() && times >= WORSE_FACTOR).then_some(times)
    }

    /// Ends its mute; where it was resolved meanwhile, without a transition.
    pub(crate) fn leave_mute(&mut self, reason: String, unix_ns: i64) -> Option<Transition> {
        if self.state == State::Muted {
            return Some(self.unmute(reason, unix_ns));
        }
        self.mute = None;
        None
    }

    /// Ends its mute where a run is of another version than the mute is for.
    pub(crate) fn outdate_mute(&mut self, run: &SeenRun, unix_ns: i64) -> Option<Transition> {
        let mute = self.mute.as_ref()?;
        if !mute.is_outdated(run.engine_version.as_deref(), run.program_version.as_deref()) {
            return None;
        }
        let of = mute.until_other?;
        self.leave_mute(format!("a run of another version of the {} ended", of.name()), unix_ns)
    }

    /// Notes a run as the last, where it is one of those that changed, with its versions and the file that ran it.
    pub(crate) fn note(&mut self, run: &SeenRun) {
        if !self.is_about(run) {
            return;
        }
        if self.is_new(run) {
            self.watch.seen_until = (run.started_unix_ns, run.id.clone());
        }
        for (known, named) in [
            (&mut self.engine_version, &run.engine_version),
            (&mut self.program_version, &run.program_version),
            (&mut self.call_site, &run.call_site),
        ] {
            if named.is_some() {
                known.clone_from(named);
            }
        }
    }

    /// Resolves it where runs since the end of its change say so.
    fn resolve(&mut self, unix_ns: i64) -> Option<Transition> {
        let reason = if self.calm_runs >= CALM_RUNS {
            match self.kind {
                Kind::Failing => format!("the last {CALM_RUNS} runs did not fail"),
                _ => format!("the last {CALM_RUNS} runs took at most 10 % longer than before"),
            }
        } else if self.watch.runs_since_over >= CALM_RUNS {
            format!("{} is over, and {CALM_RUNS} more runs ended", self.kind.noun())
        } else {
            return None;
        };
        Some(self.transition(Some(self.state), State::Resolved, Who::Service, reason, unix_ns))
    }

    /// Takes up a resolved one that a change brings back.
    fn come_back(&mut self, change: &SeenChange, unix_ns: i64) -> Option<Transition> {
        let is_later = change.since_unix_ns > self.watch.resolved_at;
        if !self.kind.is_worth(change.wall_ms_a_day) || !(is_later || self.watch.bad_runs >= BAD_RUNS) {
            return None;
        }
        let reason = if is_later {
            format!("it is back: the change {} was confirmed", change.id)
        } else {
            format!("it is back: {} runs since it was resolved are no better", self.watch.bad_runs)
        };
        self.follow(change);
        Some(self.reopen(reason, unix_ns))
    }

    /// Takes up a resolved one again; a mute that it has goes on, unless it ended meanwhile.
    pub(crate) fn reopen(&mut self, reason: String, unix_ns: i64) -> Transition {
        let severity = self.severity;
        self.mute.take_if(|mute| mute.is_due(unix_ns) || mute.is_exceeded(severity));
        let to = if self.mute.is_some() { State::Muted } else { State::Regressed };
        self.transition(Some(State::Resolved), to, Who::Service, reason, unix_ns)
    }
}

//! Issues about one run: they open with what it does, and are resolved when it is over.

use crate::issue::{Issue, Kind, State, Who};
use crate::limits::GROWN_FACTOR;
use crate::observe::Moved;
use crate::seen::{Observed, SeenSignal, Signal};
use crate::transition::Transition;

/// What is made of the issue of a kind that is about a run; `None` where nothing is to be stored.
///
/// The same run brings an issue that a person resolved back no more. Another does.
pub(crate) fn observe(
    query: (&str, Option<&str>, &str),
    kind: Kind,
    known: Option<Issue>,
    seen: &Observed,
) -> Option<Moved> {
    let signal = seen.signals.iter().find(|signal| signal.kind == kind)?;
    let Some(mut issue) = known else {
        let Signal::Lasts { detail, .. } = &signal.now else { return None };
        let mut issue = Issue::new(query, kind, &signal.run, seen.unix_ns);
        issue.take_signal(signal);
        let opened = issue.transition(None, State::Open, Who::Service, detail.clone(), seen.unix_ns);
        return Some(Moved { issue, transitions: vec![opened] });
    };
    let is_resolved = issue.state == State::Resolved;
    let is_same = issue.run.as_ref() == Some(&signal.run);
    let transitions = match &signal.now {
        Signal::Lasts { .. } if is_resolved && is_same => return None,
        Signal::Lasts { detail, engine_version, program_version, .. } => {
            issue.take_signal(signal);
            let versions = (engine_version.as_deref(), program_version.as_deref());
            let mut transitions: Vec<Transition> =
                issue.end_mute_by(versions, seen.unix_ns).into_iter().collect();
            if is_resolved {
                transitions.push(issue.reopen(format!("it is back: {detail}"), seen.unix_ns));
            }
            transitions
        }
        Signal::Over(_) if is_resolved || !is_same => return None,
        Signal::Over(reason) => {
            let from = Some(issue.state);
            vec![issue.transition(from, State::Resolved, Who::Service, reason.clone(), seen.unix_ns)]
        }
    };
    Some(Moved { issue, transitions })
}

impl Issue {
    /// Takes over what is known of the run it is about.
    pub(crate) fn take_signal(&mut self, signal: &SeenSignal) {
        let Signal::Lasts {
            environment,
            host,
            engine_version,
            program_version,
            call_site,
            since_unix_ns,
            good_unix_ns,
            severity,
            wall_ms,
            detail,
            findings,
        } = &signal.now
        else {
            return;
        };
        let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
        self.run = Some(signal.run.clone());
        (self.since_unix_ns, self.good_unix_ns) = (*since_unix_ns, *good_unix_ns);
        self.detail = Some(detail.clone());
        self.findings.clone_from(findings);
        self.environment.clone_from(environment);
        self.host.clone_from(host);
        self.severity = finite(*severity);
        // Whole milliseconds come back from a text as they were.
        self.wall_ms_a_day = finite(*wall_ms).round();
        for (known, named) in [
            (&mut self.engine_version, engine_version),
            (&mut self.program_version, program_version),
            (&mut self.call_site, call_site),
        ] {
            if named.is_some() {
                known.clone_from(named);
            }
        }
    }

    /// Whether its run being so bad is news: a quarter worse than was said last, or as bad as its mute waits for.
    pub fn is_news(&self, severity: f64) -> bool {
        severity >= GROWN_FACTOR * self.severity
            || self.mute.as_ref().is_some_and(|mute| mute.is_exceeded(severity))
    }

    /// Ends its mute where the run is as much worse, is of other versions of engine or program, or the time is over.
    fn end_mute_by(
        &mut self,
        (engine, program): (Option<&str>, Option<&str>),
        unix_ns: i64,
    ) -> Option<Transition> {
        let mute = self.mute.as_ref()?;
        let reason = if mute.is_exceeded(self.severity) {
            "it is as much worse as its mute allows".into()
        } else if mute.is_due(unix_ns) {
            "the time of its mute is over".into()
        } else if mute.is_outdated(engine, program) {
            format!("a run of another version of the {} started", mute.until_other?.name())
        } else {
            return None;
        };
        self.leave_mute(reason, unix_ns)
    }
}

//! One issue over runs: the runs, the changes, and what became of it.

use queryscope_issues::{
    Action, Issue, Kind, Moved, Observed, Outcome, Person, Refusal, SeenChange, SeenRun, State, Transition,
    observe,
};

pub(crate) const QUERY: (&str, Option<&str>, &str) = ("default", Some("etl"), "orders/daily");
pub(crate) const SECOND: i64 = 1_000_000_000;

/// A run that starts at a second of its number.
pub(crate) fn run(number: i64, wall_ms: f64) -> SeenRun {
    SeenRun {
        started_unix_ns: number * SECOND,
        id: format!("run-{number:06}"),
        wall_ms,
        outcome: Outcome::Finished,
        environment: None,
        host: None,
        engine_version: Some("1.0".into()),
        program_version: None,
        call_site: None,
        findings: Vec::new(),
    }
}

/// A change of runs of 100 ms to some factor of it, from a run on.
pub(crate) fn change(since: i64, factor: f64) -> SeenChange {
    SeenChange {
        good_unix_ns: None,
        id: format!("slower-{since}"),
        kind: Kind::Slower,
        since_unix_ns: since * SECOND,
        since_query_id: format!("aa-{since}"),
        environment: None,
        host: None,
        usual_wall_ms: Some(100.0),
        severity: factor,
        wall_ms_a_day: 50_000.0,
    }
}

/// An issue with everything it went through.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) issue: Option<Issue>,
    pub(crate) transitions: Vec<Transition>,
    /// The number of the last run.
    pub(crate) last: i64,
    pub(crate) now: i64,
}

impl History {
    /// Runs end while a change lasts, or none does.
    pub(crate) fn runs(&mut self, walls_ms: &[f64], open: Option<SeenChange>) -> &mut Self {
        let first = self.last + 1;
        self.last += walls_ms.len() as i64;
        let runs = walls_ms.iter().zip(first..).map(|(wall_ms, number)| run(number, *wall_ms)).collect();
        self.see(runs, open)
    }

    pub(crate) fn see(&mut self, runs: Vec<SeenRun>, open: Option<SeenChange>) -> &mut Self {
        self.now += SECOND;
        let seen =
            Observed { unix_ns: self.now, runs, open: open.into_iter().collect(), ..Observed::default() };
        if let Some(Moved { issue, transitions }) = observe(QUERY, Kind::Slower, self.issue.clone(), &seen) {
            self.issue = Some(issue);
            self.transitions.extend(transitions);
        }
        self
    }

    pub(crate) fn act(&mut self, action: Action) -> Result<(), Refusal> {
        self.now += SECOND;
        let person = Person { by: Some("Ada".into()), comment: None };
        let transition = self.issue.as_mut().expect("an issue").act(action, person, self.now)?;
        self.transitions.push(transition);
        Ok(())
    }

    pub(crate) fn state(&self) -> State {
        self.issue.as_ref().expect("an issue").state
    }

    pub(crate) fn reasons(&self) -> Vec<&str> {
        self.transitions.iter().map(|transition| transition.reason.as_str()).collect()
    }
}

/// A query that became three times as slow at its eleventh run.
pub(crate) fn slow() -> History {
    let mut history = History::default();
    history.runs(&[100.0; 10], None).runs(&[300.0; 3], Some(change(11, 3.0)));
    assert_eq!(history.state(), State::Open);
    history
}

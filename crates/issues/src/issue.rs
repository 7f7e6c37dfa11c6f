//! The issue itself.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::limits::{CALM_FACTOR, STAKE_MS_A_DAY_MIN};
use crate::mute::Mute;
use crate::seen::{Outcome, SeenChange, SeenRun};
use crate::transition::{Actor, Transition};

/// What an issue is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = IssueKind))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Runs take longer.
    Slower,
    /// Runs fail more often.
    Failing,
    /// Runs take longer because their input grew.
    DataGrew,
    /// A run runs longer than its earlier ones ever did.
    Late,
    /// No run started when one usually does.
    Missing,
    /// Runs warn of what they did not before.
    NewFinding,
}

/// Where an issue stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = IssueState))]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is new, or open again, and nobody has acted on it.
    Open,
    /// Somebody knows of it.
    Acknowledged,
    /// Nobody wants to hear of it until its mute ends.
    Muted,
    /// It is over: a person said so, or runs are as before.
    Resolved,
    /// It was resolved and came back.
    Regressed,
}

/// What changed for the worse in a query: one for each project, service, label and kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Issue))]
pub struct Issue {
    /// Stable for the life of the issue.
    pub id: String,
    /// The project of the query.
    pub project: String,
    /// The service of the query.
    pub service: Option<String>,
    /// The label of the query.
    pub label: String,
    /// What it is about.
    pub kind: Kind,
    /// Where it stands.
    pub state: State,
    /// When it was opened first, in Unix nanoseconds.
    pub opened_unix_ns: i64,
    /// When its last transition was, in Unix nanoseconds.
    pub moved_unix_ns: i64,
    /// How many transitions it has made.
    pub transitions: u64,
    /// The change it is about, by id: the last one that was open. Retention may have deleted it. Null where it is about
    /// a run.
    pub change: Option<String>,
    /// The run it is about, by id; of a missing one the last there was. Null where it is about a change.
    pub run: Option<String>,
    /// Start of the first run that is bad, in Unix nanoseconds; null where an earlier version opened it.
    #[serde(default)]
    pub since_unix_ns: Option<i64>,
    /// Start of the last run before that one that was not, in Unix nanoseconds, where it is known.
    #[serde(default)]
    pub good_unix_ns: Option<i64>,
    /// What the service says of it; null where its change says it.
    pub detail: Option<String>,
    /// The environment whose runs changed.
    pub environment: Option<String>,
    /// The host whose runs changed, where one host alone changed.
    pub host: Option<String>,
    /// Wall time at stake a day, in whole milliseconds; of failures that of the results that are missing.
    pub wall_ms_a_day: f64,
    /// How bad it is: the factor of wall time, or the rate of failures. Of a late run, its time so far by the time
    /// that nine tenths of the earlier runs took. Of a missing run, the time since the last start by the usual gap. Of
    /// new findings, how many they are.
    pub severity: f64,
    /// The findings it is about, by rule; empty where it is about none.
    #[serde(default)]
    pub findings: Vec<String>,
    /// Its mute. A mute outlives a resolution by the service: what comes back is muted again.
    pub mute: Option<Mute>,
    /// The version of the engine of the last run it is about that named one.
    pub engine_version: Option<String>,
    /// The version of the program of the last run it is about that named one.
    pub program_version: Option<String>,
    /// Runs as before in a row, of the five that resolve it.
    pub calm_runs: u64,
    /// The file of the last run it is about that named one.
    pub call_site: Option<String>,
    /// The owner of the query by the settings of the service; null where there is none.
    pub owner: Option<String>,
    /// What runs are measured by, which readers are not shown.
    #[serde(skip)]
    pub(crate) watch: Watch,
}

/// What is counted of runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
pub(crate) struct Watch {
    /// Median wall time before the change, in milliseconds.
    pub(crate) usual_wall_ms: Option<f64>,
    /// Runs since the change is over.
    pub(crate) runs_since_over: u64,
    /// Runs as bad as before since it was resolved.
    pub(crate) bad_runs: u64,
    /// Start and id of the last run that was counted, in the order of starts.
    pub(crate) seen_until: (i64, String),
    /// The start of that run when the issue was resolved.
    pub(crate) resolved_at: i64,
    /// How bad it was when it was acknowledged last.
    #[serde(default)]
    pub(crate) acknowledged_severity: Option<f64>,
}

/// An issue as a store keeps it.
#[derive(Debug, Serialize, Deserialize)]
struct Stored<I, W> {
    issue: I,
    watch: W,
}

/// A stored issue cannot be read.
#[derive(Debug, Error)]
#[error("an issue cannot be read")]
pub struct Unreadable(#[from] serde_json::Error);

impl Kind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Slower, Self::Failing, Self::DataGrew, Self::Late, Self::Missing, Self::NewFinding];

    /// Its name in JSON and in stores.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Failing => "failing",
            Self::DataGrew => "data_grew",
            Self::Late => "late",
            Self::Missing => "missing",
            Self::NewFinding => "new_finding",
        }
    }

    /// The kind of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What is wrong, as a noun.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Slower => "the slowdown",
            Self::Failing => "the failure",
            Self::DataGrew => "the growth",
            Self::Late => "the late run",
            Self::Missing => "the absence",
            Self::NewFinding => "the finding",
        }
    }

    /// Whether so much at stake is worth an issue.
    pub(crate) fn is_worth(self, wall_ms_a_day: f64) -> bool {
        !matches!(self, Self::Slower | Self::DataGrew) || wall_ms_a_day >= STAKE_MS_A_DAY_MIN
    }
}

impl State {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Open, Self::Acknowledged, Self::Muted, Self::Resolved, Self::Regressed];

    /// Its name in JSON and in stores.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Acknowledged => "acknowledged",
            Self::Muted => "muted",
            Self::Resolved => "resolved",
            Self::Regressed => "regressed",
        }
    }

    /// The state of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

impl Issue {
    /// A new issue of a query that a change opens, and its first transition.
    pub(crate) fn open(
        (project, service, label): (&str, Option<&str>, &str),
        change: &SeenChange,
        unix_ns: i64,
    ) -> (Self, Transition) {
        let mut issue = Self::new((project, service, label), change.kind, &change.since_query_id, unix_ns);
        issue.follow(change);
        let reason = format!("the change {} was confirmed", change.id);
        let transition = issue.transition(None, State::Open, Who::Service, reason, unix_ns);
        (issue, transition)
    }

    /// An issue before its first transition, whose id is made of a run.
    pub(crate) fn new(
        (project, service, label): (&str, Option<&str>, &str),
        kind: Kind,
        run: &str,
        unix_ns: i64,
    ) -> Self {
        let run: String = run.chars().filter(|char| *char != '-').collect();
        Self {
            id: format!("issue-{}-{run}", kind.name().replace('_', "-")),
            project: project.to_owned(),
            service: service.map(ToOwned::to_owned),
            label: label.to_owned(),
            kind,
            state: State::Open,
            opened_unix_ns: unix_ns,
            moved_unix_ns: unix_ns,
            transitions: 0,
            change: None,
            run: None,
            since_unix_ns: None,
            good_unix_ns: None,
            detail: None,
            environment: None,
            host: None,
            wall_ms_a_day: 0.0,
            severity: 0.0,
            findings: Vec::new(),
            mute: None,
            engine_version: None,
            program_version: None,
            calm_runs: 0,
            call_site: None,
            owner: None,
            watch: Watch::default(),
        }
    }

    /// Takes over what is known of the change it is about.
    pub(crate) fn follow(&mut self, change: &SeenChange) {
        self.change = Some(change.id.clone());
        let is_same = self.since_unix_ns == Some(change.since_unix_ns);
        self.good_unix_ns = change.good_unix_ns.or(self.good_unix_ns.filter(|_| is_same));
        self.since_unix_ns = Some(change.since_unix_ns);
        self.environment.clone_from(&change.environment);
        self.host.clone_from(&change.host);
        let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
        // Whole milliseconds come back from a text as they were.
        self.wall_ms_a_day = finite(change.wall_ms_a_day).round();
        self.severity = finite(change.severity);
        self.watch.usual_wall_ms = change.usual_wall_ms.filter(|wall_ms| wall_ms.is_finite());
    }

    /// Moves it, and gives back what is to be kept of that.
    pub(crate) fn transition(
        &mut self,
        from: Option<State>,
        to: State,
        who: Who,
        reason: String,
        unix_ns: i64,
    ) -> Transition {
        self.state = to;
        self.transitions += 1;
        self.moved_unix_ns = unix_ns;
        self.calm_runs = 0;
        self.watch.runs_since_over = 0;
        self.watch.bad_runs = 0;
        if to == State::Resolved {
            self.watch.resolved_at = self.watch.seen_until.0;
        }
        let (actor, by, comment) = match who {
            Who::Service => (Actor::Service, None, None),
            Who::Person { by, comment } => (Actor::Person, by, comment),
        };
        let (number, change) = (self.transitions, self.change.clone());
        Transition { number, unix_ns, from, to, actor, by, reason, comment, change }
    }

    /// Whether a run is one of those that changed, and was not counted yet.
    pub(crate) fn is_about(&self, run: &SeenRun) -> bool {
        run.outcome != Outcome::Cancelled
            && run.environment == self.environment
            && (self.host.is_none() || run.host == self.host)
    }

    /// Whether a run is as before the change; `None` where it says nothing of it.
    pub(crate) fn is_calm(&self, run: &SeenRun) -> Option<bool> {
        match (self.kind, run.outcome) {
            (_, Outcome::Cancelled)
            | (
                Kind::Slower | Kind::DataGrew | Kind::Late | Kind::Missing | Kind::NewFinding,
                Outcome::Failed,
            ) => None,
            (Kind::Failing, outcome) => Some(outcome == Outcome::Finished),
            (_, Outcome::Finished) => {
                Some(self.watch.usual_wall_ms.is_none_or(|usual| run.wall_ms <= usual * CALM_FACTOR))
            }
        }
    }

    /// The end of its mute by time, in Unix nanoseconds, while it is muted.
    pub fn muted_until_unix_ns(&self) -> Option<i64> {
        let mute = self.mute.as_ref().filter(|_| self.state == State::Muted);
        mute.and_then(|mute| mute.until_unix_ns)
    }

    /// The whole issue, as a store keeps it.
    pub fn to_json(&self) -> String {
        let stored = Stored { issue: self, watch: &self.watch };
        serde_json::to_string(&stored).expect("texts and finite numbers are written to memory")
    }

    /// The issue a store kept.
    ///
    /// # Errors
    /// When it is none.
    pub fn from_json(text: &str) -> Result<Self, Unreadable> {
        let Stored { issue, watch }: Stored<Self, Watch> = serde_json::from_str(text)?;
        Ok(Self { watch, ..issue })
    }
}

/// The mover of an issue.
pub(crate) enum Who {
    Service,
    Person { by: Option<String>, comment: Option<String> },
}

//! A change: what is stored of it, and what the API tells. The fields are those of the contract in
//! `docs/internals/diagnosis.md`.

use queryscope_protocol::QueryId;

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ChangeKind))]
pub enum Kind {
    /// Runs take longer, and their input does not explain it by slow growth.
    Slower,
    /// Runs take less time.
    Faster,
    /// Runs fail more often.
    Failing,
    /// Runs take longer as their input has slowly grown.
    DataGrew,
}

/// What became of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ChangeState))]
pub enum State {
    /// It lasts.
    Open,
    /// Runs are again as they were before.
    Recovered,
    /// A larger or later change of the same query took its place.
    Superseded,
}

/// What caused a part of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = CauseKind))]
pub enum CauseKind {
    /// More rows came in.
    MoreRows,
    /// The engine planned the query otherwise, and that plan does more work.
    PlanChange,
    /// A node works longer for each row.
    SlowerPerRow,
    /// The query may use fewer threads.
    FewerThreads,
    /// Threads were ready and did not get the processor.
    StarvedCpu,
    /// Reads or writes took longer.
    Waiting,
    /// Memory did not hold what it held before.
    Spilling,
    /// One partition holds far more than the others.
    Skew,
    /// Code of the program takes longer.
    UserCode,
    /// Planning takes longer.
    Planning,
    /// Runs on one host.
    Host,
    /// Another version of the engine.
    EngineVersion,
    /// Another version of the program.
    ProgramVersion,
    /// All nodes are slower at once on one host.
    Contention,
    /// Runs fail.
    Failures,
    /// Not known.
    Unexplained,
}

/// Runs on one side of a change.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ChangeSide))]
pub struct Side {
    /// Ended runs that the medians are of, and those that failed; cancelled ones left out. Since the change they are
    /// counted anew with the medians, once a fifth more of them ended: `cost` has all.
    pub runs: u64,
    /// Median wall time of those that finished, in milliseconds.
    pub median_wall_ms: Option<f64>,
    /// Lower bound of the median's interval of 95 %, in milliseconds.
    pub low_ms: Option<f64>,
    /// Upper bound, in milliseconds.
    pub high_ms: Option<f64>,
    /// Median CPU time, in milliseconds.
    pub median_cpu_ms: Option<f64>,
    /// Runs that failed.
    pub failed: u64,
}

/// A node of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ChangeNode))]
pub struct NodeRef {
    /// Its id in the profile of the example run.
    pub id: u64,
    /// The engine's name for what it is.
    pub kind: String,
    /// The table it scans.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub table: Option<String>,
}

/// What runs after a change have that those before have not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ChangeDimension))]
pub struct Dimension {
    /// `host`, `engine_version` or `program_version`.
    pub name: String,
    /// Before.
    pub before: Option<String>,
    /// After.
    pub after: Option<String>,
}

/// A figure on both sides: medians, unless the name says otherwise.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = CauseEvidence))]
pub struct Figure {
    /// What it is.
    pub name: String,
    /// Before.
    pub before: Option<f64>,
    /// After.
    pub after: Option<f64>,
    /// Its unit.
    pub unit: String,
}

/// A cause and its part of a difference.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ChangeCause))]
pub struct Cause {
    /// What it is.
    pub cause: CauseKind,
    /// Its share of the difference, 0 to 1; those of all causes sum to 1. What happened at a node because of
    /// another host or version has the share 0: its milliseconds are counted at that dimension.
    pub share: f64,
    /// Its part of the difference of the medians, in milliseconds.
    pub wall_ms: f64,
    /// Where it is.
    pub node: Option<NodeRef>,
    /// The dimension it is.
    pub dimension: Option<Dimension>,
    /// The figures it rests on.
    pub evidence: Vec<Figure>,
    /// It in words.
    pub sentence: String,
}

/// What a change has cost so far.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ChangeCost))]
pub struct Cost {
    /// Runs since it began.
    pub runs: u64,
    /// Wall time over the usual, in milliseconds.
    pub extra_wall_ms: f64,
    /// CPU time over the usual, in milliseconds.
    pub extra_cpu_ms: f64,
    /// Wall time over the usual that a day costs, in milliseconds; of failures that of the results that are missing.
    pub wall_ms_a_day: f64,
}

/// Two typical runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ChangeExamples))]
pub struct Examples {
    /// Before.
    pub base: Option<String>,
    /// After.
    pub run: Option<String>,
}

/// A change of a query.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Change))]
pub struct Change {
    /// Stable for the life of the change.
    pub id: String,
    /// The query's project; whoever stores the change knows it, the detector does not.
    pub project: Option<String>,
    /// The query's service.
    pub service: Option<String>,
    /// The query's label.
    pub label: Option<String>,
    /// The environment whose runs changed.
    pub environment: Option<String>,
    /// The host whose runs changed, where those of the others did not, or by much less.
    pub host: Option<String>,
    /// What changed.
    pub kind: Kind,
    /// What became of it.
    pub state: State,
    /// Start of the first run after it.
    pub since_unix_ns: i64,
    /// That run.
    pub since_query_id: String,
    /// The end of the run that made the service sure, or its start where that came later.
    pub confirmed_unix_ns: Option<i64>,
    /// When runs were as before.
    pub recovered_unix_ns: Option<i64>,
    /// Runs before.
    pub before: Side,
    /// Runs after.
    pub after: Side,
    /// After by before: of the medians, or of the rates of failures. Null where none failed before.
    pub factor: Option<f64>,
    /// Causes, the largest share first.
    pub causes: Vec<Cause>,
    /// What it cost.
    pub cost: Cost,
    /// Two typical runs.
    pub examples: Examples,
    /// What also changed and is no cause.
    pub harmless: Vec<String>,
}

/// The id of a change, by a run.
pub(crate) fn id_of(kind: Kind, run: QueryId) -> String {
    format!("{}-{}", kind.name().replace('_', "-"), run.uuid().as_simple())
}

impl Change {
    /// Moves its start.
    pub(crate) fn begin_at(&mut self, since: (i64, QueryId)) {
        self.since_unix_ns = since.0;
        self.since_query_id = since.1.to_string();
    }

    pub(crate) fn new(kind: Kind, since: (i64, QueryId), confirmed_unix_ns: i64) -> Self {
        Self {
            id: id_of(kind, since.1),
            project: None,
            service: None,
            label: None,
            environment: None,
            host: None,
            kind,
            state: State::Open,
            since_unix_ns: since.0,
            since_query_id: since.1.to_string(),
            // Where runs arrive late, the one that made it sure may have ended before it.
            confirmed_unix_ns: Some(confirmed_unix_ns.max(since.0)),
            recovered_unix_ns: None,
            before: Side::default(),
            after: Side::default(),
            factor: None,
            causes: Vec::new(),
            cost: Cost::default(),
            examples: Examples::default(),
            harmless: Vec::new(),
        }
    }
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Slower, Self::Faster, Self::Failing, Self::DataGrew];

    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::Failing => "failing",
            Self::DataGrew => "data_grew",
        }
    }
}

impl State {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Open, Self::Recovered, Self::Superseded];

    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Recovered => "recovered",
            Self::Superseded => "superseded",
        }
    }
}

/// What a run changed about the changes of its query.
#[derive(Debug, Clone, PartialEq)]
pub enum Transition {
    /// A change was confirmed.
    Opened(Change),
    /// An open change has other figures.
    Updated(Change),
    /// A change is over.
    Closed(Change),
}

impl Transition {
    /// The change as it is now.
    pub fn change(&self) -> &Change {
        match self {
            Self::Opened(change) | Self::Updated(change) | Self::Closed(change) => change,
        }
    }
}

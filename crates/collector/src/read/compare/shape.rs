//! A comparison as the read API shows it.

use queryscope_insights as insights;
use queryscope_store::Query;
use serde::Serialize;
use utoipa::ToSchema;

use super::super::summary::QuerySummary;
use super::super::usual::Alike;

/// Two runs side by side.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Comparison {
    /// What the run is compared with.
    base: QuerySummary,
    /// The run.
    run: QuerySummary,
    /// How the base was chosen.
    basis: Basis,
    /// Of how many runs the base is the usual one; null where it was named.
    runs: Option<usize>,
    /// Whether both ran the same physical plan: no node came, went or changed its shape.
    same_plan: bool,
    /// What the difference in wall time is made of.
    account: Account,
    /// Nodes of both physical plans: those of the run in its order, then those only the base has.
    nodes: Vec<NodePair>,
}

/// How the base of a comparison was chosen.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ComparisonBasis)]
pub(super) enum Basis {
    /// It was named.
    Named,
    /// It is the usual run of the plan.
    Plan,
    /// It is the usual run of the label: no earlier run of the plan has finished.
    Label,
}

impl From<Alike> for Basis {
    fn from(alike: Alike) -> Self {
        match alike {
            Alike::Plan => Self::Plan,
            Alike::Label => Self::Label,
        }
    }
}

/// What a difference in wall time is made of, in whole nanoseconds: the parts sum to it exactly.
#[derive(Debug, Serialize, ToSchema)]
struct Account {
    /// Wall time of the base.
    base_wall_ns: i64,
    /// Wall time of the run.
    run_wall_ns: i64,
    /// The run's minus the base's.
    difference_ns: i64,
    /// One part for each cause, always in this order; 0 where it changed nothing.
    parts: Vec<Part>,
}

/// A part of a difference.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AccountPart)]
struct Part {
    /// What it is put down to.
    cause: Cause,
    /// How much, in nanoseconds; negative where it made the run faster.
    ns: i64,
}

/// What a part of a difference is put down to.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = AccountCause)]
enum Cause {
    /// Nodes came, went or do something else; with the rows that come from that.
    PlanChange,
    /// More rows came to nodes that do the same.
    MoreRows,
    /// Nodes worked longer for each row.
    SlowerPerRow,
    /// Fewer threads worked at a time.
    LessParallelism,
    /// Nothing worked while reads or writes were under way.
    Waiting,
    /// Planning took longer.
    Planning,
    /// What is in no counter: of user code, or of a machine that was busy with something else.
    Unexplained,
}

/// A node in both runs, or in one of them.
#[derive(Debug, Serialize, ToSchema)]
struct NodePair {
    /// What became of it.
    fate: Fate,
    /// It in the base; null when it was added.
    base: Option<NodeFigures>,
    /// It in the run; null when it was removed.
    run: Option<NodeFigures>,
    /// Run minus base; null for a node of one run alone.
    delta: Option<NodeDelta>,
    /// What the engine says of it that is different.
    changes: Vec<Change>,
}

/// What became of a node from the base to the run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = NodeFate)]
enum Fate {
    /// It is in both, and does the same.
    Same,
    /// It is in both, and does something else.
    Changed,
    /// It is in the run alone.
    Added,
    /// It is in the base alone.
    Removed,
}

/// A node's figures in one run; null where unknown.
#[derive(Debug, Serialize, ToSchema)]
struct NodeFigures {
    /// Id of the node in that run's physical plan.
    id: u64,
    /// The engine's name for what it is.
    kind: String,
    /// What it does, in words all engines share.
    role: &'static str,
    /// Time threads worked in it, in nanoseconds.
    busy_ns: Option<u64>,
    /// Rows it took.
    rows_in: Option<u64>,
    /// Rows it gave on.
    rows_out: Option<u64>,
    /// Bytes it read.
    bytes_read: Option<u64>,
}

/// Figures of the run minus those of the base; null where one of them is unknown.
#[derive(Debug, Serialize, ToSchema)]
struct NodeDelta {
    /// Of the time threads worked in it, in nanoseconds.
    busy_ns: Option<i64>,
    /// Of the rows it took.
    rows_in: Option<i64>,
    /// Of the rows it gave on.
    rows_out: Option<i64>,
    /// Of the bytes it read.
    bytes_read: Option<i64>,
}

/// One difference of a node.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NodeChange)]
struct Change {
    /// What is different: `kind`, `inputs`, or a property such as `predicate` or `projection`.
    what: &'static str,
    /// The difference in words.
    text: String,
    /// Whether the plan has another shape for it; a literal or a number of files is not shape.
    shape: bool,
}

impl Comparison {
    pub(super) fn of(
        base: Query,
        run: Query,
        basis: Basis,
        runs: Option<usize>,
        compared: insights::Comparison,
    ) -> Self {
        let insights::Comparison { same_plan, account, nodes } = compared;
        Self {
            base: base.into(),
            run: run.into(),
            basis,
            runs,
            same_plan,
            account: account.into(),
            nodes: nodes.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<insights::Account> for Account {
    fn from(account: insights::Account) -> Self {
        let insights::Account { base_wall_ns, run_wall_ns, difference_ns, parts } = account;
        let part = |part: insights::Part| Part { cause: part.cause.into(), ns: part.ns };
        Self { base_wall_ns, run_wall_ns, difference_ns, parts: parts.into_iter().map(part).collect() }
    }
}

impl From<insights::Cause> for Cause {
    fn from(cause: insights::Cause) -> Self {
        match cause {
            insights::Cause::PlanChange => Self::PlanChange,
            insights::Cause::MoreRows => Self::MoreRows,
            insights::Cause::SlowerPerRow => Self::SlowerPerRow,
            insights::Cause::LessParallelism => Self::LessParallelism,
            insights::Cause::Waiting => Self::Waiting,
            insights::Cause::Planning => Self::Planning,
            insights::Cause::Unexplained => Self::Unexplained,
        }
    }
}

impl From<insights::NodePair> for NodePair {
    fn from(pair: insights::NodePair) -> Self {
        let change =
            |change: insights::Change| Change { what: change.what, text: change.text, shape: change.shape };
        Self {
            fate: match pair.fate {
                insights::Fate::Same => Fate::Same,
                insights::Fate::Changed => Fate::Changed,
                insights::Fate::Added => Fate::Added,
                insights::Fate::Removed => Fate::Removed,
            },
            base: pair.base.map(Into::into),
            run: pair.run.map(Into::into),
            delta: pair.delta.map(Into::into),
            changes: pair.changes.into_iter().map(change).collect(),
        }
    }
}

impl From<insights::Figures> for NodeFigures {
    fn from(figures: insights::Figures) -> Self {
        let insights::Figures { id, kind, role, busy_ns, rows_in, rows_out, bytes_read } = figures;
        Self { id, kind, role, busy_ns, rows_in, rows_out, bytes_read }
    }
}

impl From<insights::Delta> for NodeDelta {
    fn from(delta: insights::Delta) -> Self {
        let insights::Delta { busy_ns, rows_in, rows_out, bytes_read } = delta;
        Self { busy_ns, rows_in, rows_out, bytes_read }
    }
}

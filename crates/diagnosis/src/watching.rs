//! What a detector says of a query, as issues see it.

use queryscope_issues::{Kind as IssueKind, Observed, Outcome, SeenChange, SeenRun};

use crate::change::{Change, Kind};
use crate::detector::Detector;
use crate::features::{RunFeatures, Status};

/// What is seen of a query while its runs are evaluated: a part for all runs between two of which no change began or
/// ended. So what becomes of an issue does not depend on how many runs are evaluated at once.
#[derive(Debug)]
pub struct Watching {
    unix_ns: i64,
    parts: Vec<Observed>,
    last: Observed,
}

impl Watching {
    /// Nothing yet, at a time in Unix nanoseconds.
    pub fn new(unix_ns: i64) -> Self {
        Self { unix_ns, parts: Vec::new(), last: Observed { unix_ns, ..Observed::default() } }
    }

    /// Notes a run, and the changes that last after it. One that may begin no part is of a time before there were
    /// issues: what was over then is none.
    pub fn note(&mut self, run: SeenRun, may_begin: bool, detector: &Detector) {
        let seen = |change| {
            let good_unix_ns = detector.last_before(change);
            seen_change(change).map(|seen| SeenChange { good_unix_ns, ..seen })
        };
        let open: Vec<SeenChange> = detector.open().filter_map(seen).collect();
        let ids = |open: &[SeenChange]| open.iter().map(|change| change.id.clone()).collect::<Vec<_>>();
        if may_begin && !self.last.runs.is_empty() && ids(&open) != ids(&self.last.open) {
            let next = Observed { unix_ns: self.unix_ns, ..Observed::default() };
            self.parts.push(std::mem::replace(&mut self.last, next));
        }
        self.last.runs.push(run);
        self.last.open = open;
    }

    /// The parts, in order.
    pub fn parts(mut self) -> Vec<Observed> {
        self.parts.push(self.last);
        self.parts
    }
}

/// A run that was evaluated, with the file that ran it; its findings are not among its features.
pub fn seen_run(run: &RunFeatures, call_site: Option<String>) -> SeenRun {
    let text = |name: &Option<std::sync::Arc<str>>| name.as_deref().map(ToOwned::to_owned);
    SeenRun {
        started_unix_ns: run.started_unix_ns,
        id: run.query_id.to_string(),
        wall_ms: run.wall_ns as f64 / 1e6,
        outcome: match run.status {
            Status::Finished => Outcome::Finished,
            Status::Failed => Outcome::Failed,
            Status::Cancelled => Outcome::Cancelled,
        },
        environment: text(&run.environment),
        host: text(&run.host),
        engine_version: text(&run.engine_version),
        program_version: text(&run.program_version),
        call_site,
        findings: Vec::new(),
    }
}

/// A change that lasts; `None` for one that is no issue.
pub fn seen_change(change: &Change) -> Option<SeenChange> {
    let kind = match change.kind {
        Kind::Slower => IssueKind::Slower,
        Kind::Failing => IssueKind::Failing,
        Kind::DataGrew => IssueKind::DataGrew,
        Kind::Faster => return None,
    };
    let severity = if kind == IssueKind::Failing {
        change.after.failed as f64 / (change.after.runs as f64).max(1.0)
    } else {
        change.factor.unwrap_or(1.0)
    };
    Some(SeenChange {
        id: change.id.clone(),
        kind,
        since_unix_ns: change.since_unix_ns,
        since_query_id: change.since_query_id.clone(),
        good_unix_ns: None,
        environment: change.environment.clone(),
        host: change.host.clone(),
        usual_wall_ms: change.before.median_wall_ms,
        severity,
        wall_ms_a_day: change.cost.wall_ms_a_day,
    })
}

//! Between what detectors say and what moves issues.

use std::collections::BTreeMap;

use queryscope_diagnosis::{Change, Kind, RunFeatures, State, Status};
use queryscope_issues::{Kind as IssueKind, Observed, Outcome, SeenChange, SeenRun};
use queryscope_store::{ChangesRequest, ObservedQuery, QueryKey, StoreError, StoredChange};

use super::found;
use crate::app::App;

/// Changes that are read at once.
const PAGE: usize = 1_000;
const DAY_NS: f64 = 86_400e9;

/// What is seen of a query while its runs are evaluated: a part for all runs between two of which no change began or
/// ended. So what becomes of an issue does not depend on how many runs are evaluated at once.
pub(super) struct Seen {
    unix_ns: i64,
    parts: Vec<Observed>,
    last: Observed,
}

impl Seen {
    pub(super) fn new(unix_ns: i64) -> Self {
        Self { unix_ns, parts: Vec::new(), last: Observed { unix_ns, ..Observed::default() } }
    }

    /// Notes a run, and the changes that last after it. One that ended before there was an inbox begins no part: what
    /// was over when this version came is no issue.
    pub(super) fn note<'c>(
        &mut self,
        run: SeenRun,
        is_of_inbox: bool,
        changes: impl Iterator<Item = &'c Change>,
    ) {
        let open: Vec<SeenChange> = changes.filter_map(|change| seen_change(change, self.unix_ns)).collect();
        let ids = |open: &[SeenChange]| open.iter().map(|change| change.id.clone()).collect::<Vec<_>>();
        if is_of_inbox && !self.last.runs.is_empty() && ids(&open) != ids(&self.last.open) {
            let next = Observed { unix_ns: self.unix_ns, ..Observed::default() };
            self.parts.push(std::mem::replace(&mut self.last, next));
        }
        self.last.runs.push(run);
        self.last.open = open;
    }

    pub(super) fn parts(mut self) -> Vec<Observed> {
        self.parts.push(self.last);
        self.parts
    }
}

/// A run that was evaluated.
pub(super) fn seen_run(run: &RunFeatures, call_site: Option<String>) -> SeenRun {
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
    }
}

/// A change that lasts, as issues see it; `None` for one that is no issue.
fn seen_change(change: &Change, unix_ns: i64) -> Option<SeenChange> {
    let kind = match change.kind {
        Kind::Slower => IssueKind::Slower,
        Kind::Failing => IssueKind::Failing,
        Kind::DataGrew => IssueKind::DataGrew,
        Kind::Faster => return None,
    };
    let (severity, wall_ms_a_day) = if kind == IssueKind::Failing {
        let failed = change.after.failed as f64;
        // The results that are missing take as long as they used to.
        let missing_ms = failed * change.before.median_wall_ms.unwrap_or_default();
        let days = ((unix_ns - change.since_unix_ns) as f64 / DAY_NS).max(1.0);
        (failed / (change.after.runs as f64).max(1.0), missing_ms / days)
    } else {
        (change.factor.unwrap_or(1.0), change.cost.wall_ms_a_day)
    };
    Some(SeenChange {
        id: change.id.clone(),
        kind,
        since_unix_ns: change.since_unix_ns,
        since_query_id: change.since_query_id.clone(),
        environment: change.environment.clone(),
        host: change.host.clone(),
        usual_wall_ms: change.before.median_wall_ms,
        severity,
        wall_ms_a_day,
    })
}

/// Open changes by query, as issues see them: a version without issues found them, and their queries may not run soon.
/// Those that have an issue stay as they are.
///
/// # Errors
/// When the store fails.
pub(super) async fn open_changes(app: &App) -> Result<Vec<ObservedQuery>, StoreError> {
    let unix_ns = app.clock.unix_ns();
    let mut queries: BTreeMap<QueryKey, Vec<SeenChange>> = BTreeMap::new();
    let mut after = None;
    loop {
        let state = Some(State::Open.name().to_owned());
        let request = ChangesRequest { state, after, limit: PAGE, ..ChangesRequest::default() };
        let page = app.store.changes(request).await?;
        for stored in &page {
            // One that cannot be read is told of where its query is evaluated.
            let change = found::change(stored).ok();
            if let Some(seen) = change.and_then(|change| seen_change(&change, unix_ns)) {
                queries.entry(stored.key.clone()).or_default().push(seen);
            }
        }
        after = page.last().map(StoredChange::place);
        if page.len() < PAGE {
            break;
        }
    }
    let observed =
        |(key, open)| ObservedQuery { key, seen: vec![Observed { unix_ns, open, ..Observed::default() }] };
    Ok(queries.into_iter().map(observed).collect())
}

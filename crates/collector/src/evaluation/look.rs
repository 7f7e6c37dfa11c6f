//! What waits in the inbox.

use std::collections::HashMap;

use queryscope_protocol::{QueryId, Seq};
use queryscope_store::{PendingRun, QueryKey, StoreError};

use queryscope_diagnosis::limits::WINDOW_RUNS;

use super::SLICE_RUNS;
use crate::app::App;

/// Runs that are read, or taken out unevaluated, at once.
pub(super) const PAGE: usize = 4_096;
/// Runs a look finds at most.
const FOUND_MAX: usize = 262_144;
/// When a look finds more than this, runs end faster than they can be evaluated: of each query the newest
/// [`WINDOW_RUNS`] alone are.
const FLOOD: usize = 100_000;

/// A run that waits for its evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Waiting {
    /// Its place in the inbox; `None` for a run that ended before there was one.
    pub(super) place: Option<i64>,
    pub(super) query_id: QueryId,
    pub(super) started_unix_ns: i64,
    /// The event that ended it; `None` for the first that did.
    pub(super) seq: Option<Seq>,
}

/// What a look into the inbox found.
#[derive(Debug, Default)]
pub(super) struct Look {
    /// How many runs.
    pub(super) found: usize,
    /// Places of runs that are not evaluated.
    pub(super) skipped: Vec<i64>,
    /// The others by query.
    pub(super) queries: Vec<(QueryKey, Vec<Waiting>)>,
}

/// Reads the inbox.
pub(super) async fn look(app: &App) -> Result<Look, StoreError> {
    let mut look = Look::default();
    let mut numbers: HashMap<QueryKey, usize> = HashMap::new();
    let mut after = None;
    while look.found < FOUND_MAX {
        let page = app.store.pending_runs(after, PAGE).await?;
        let is_last = page.len() < PAGE;
        after = page.last().map(|run| run.place);
        look.found += page.len();
        for run in page {
            let waiting = Waiting::from(&run);
            let number = *numbers.entry(run.key).or_insert_with_key(|key| {
                look.queries.push((key.clone(), Vec::new()));
                look.queries.len() - 1
            });
            look.queries[number].1.push(waiting);
        }
        app.evaluation.rest().await;
        if is_last {
            break;
        }
    }
    for (_, waiting) in &mut look.queries {
        waiting.sort_unstable_by_key(|run| (run.started_unix_ns, run.query_id));
        if look.found > FLOOD {
            let surplus = waiting.len().saturating_sub(WINDOW_RUNS);
            look.skipped.extend(waiting.drain(..surplus).filter_map(|run| run.place));
        }
    }
    Ok(look)
}

/// Runs that are evaluated and stored at once, each query in a slice once.
pub(super) fn slices(queries: Vec<(QueryKey, Vec<Waiting>)>) -> Vec<Vec<(QueryKey, Vec<Waiting>)>> {
    let mut slices: Vec<Vec<(QueryKey, Vec<Waiting>)>> = Vec::new();
    let mut runs = SLICE_RUNS;
    for (key, waiting) in queries {
        // All pieces of a query but its last fill a slice.
        for piece in waiting.chunks(SLICE_RUNS) {
            if runs + piece.len() > SLICE_RUNS {
                slices.push(Vec::new());
                runs = 0;
            }
            runs += piece.len();
            slices.last_mut().expect("one was begun").push((key.clone(), piece.to_vec()));
        }
    }
    slices
}

impl From<&PendingRun> for Waiting {
    fn from(run: &PendingRun) -> Self {
        Self {
            place: Some(run.place),
            query_id: run.query_id,
            started_unix_ns: run.started_unix_ns,
            seq: Some(run.seq),
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn key(label: usize) -> QueryKey {
        QueryKey { project: "p".into(), service: None, label: label.to_string() }
    }

    fn waiting(count: usize) -> Vec<Waiting> {
        let each = (0..count).map(|n| Waiting {
            place: Some(n as i64),
            query_id: QueryId::new(Uuid::from_u128(n as u128)),
            started_unix_ns: n as i64,
            seq: None,
        });
        each.collect()
    }

    #[test]
    fn a_query_is_in_a_slice_once_and_slices_are_bounded() {
        for counts in [vec![], vec![1], vec![SLICE_RUNS], vec![100, 2 * SLICE_RUNS + 7, 90, 90, 90, 1]] {
            let queries: Vec<_> =
                counts.iter().enumerate().map(|(n, &count)| (key(n), waiting(count))).collect();
            let slices = slices(queries.clone());
            let mut joined: Vec<(QueryKey, Vec<Waiting>)> = Vec::new();
            for slice in slices {
                assert!(slice.iter().map(|(_, runs)| runs.len()).sum::<usize>() <= SLICE_RUNS);
                let mut keys: Vec<&QueryKey> = slice.iter().map(|(key, _)| key).collect();
                keys.dedup();
                assert_eq!(keys.len(), slice.len());
                for (key, runs) in slice {
                    match joined.last_mut().filter(|(last, _)| *last == key) {
                        Some((_, known)) => known.extend(runs),
                        None => joined.push((key, runs)),
                    }
                }
            }
            assert_eq!(joined, queries);
        }
    }
}

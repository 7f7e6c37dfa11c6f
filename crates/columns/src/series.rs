//! How the times of some runs developed.

use std::collections::HashMap;

use queryscope_history::{SeriesRun, series as series_of};
use queryscope_store::{Series, SeriesBy, SeriesRequest, Status};

use crate::names::Names;
use crate::select::{Kept, Selection, Snapshot};

/// The runs a selection keeps, slice by slice, as [`Store::series`](queryscope_store::Store::series) gives them.
pub fn series<N: Names>(
    names: &N,
    snapshot: &Snapshot,
    selection: &Selection,
    request: &SeriesRequest,
) -> Result<Series, N::Error> {
    let SeriesRequest { window, by, most, .. } = request;
    let (since_unix_ns, until_unix_ns) = (window.since_unix_ns(), window.until_unix_ns());
    let kept = Kept::of(snapshot, selection);
    let mut terms: Vec<Option<i64>> = Vec::new();
    let mut numbers: HashMap<Option<i64>, u32> = HashMap::new();
    let mut runs = Vec::new();
    if !kept.is_nothing() {
        snapshot.each_row(since_unix_ns, until_unix_ns, |row| {
            if !kept.keeps(|| row.origin, row.plan, row.status) {
                return;
            }
            let (origin, plan) = (&snapshot.origins[row.origin as usize], &snapshot.plans[row.plan as usize]);
            let term = match by {
                None => None,
                Some(SeriesBy::Fingerprint) => plan.fingerprint,
                Some(SeriesBy::EngineVersion) => plan.engine_version,
                Some(SeriesBy::Host) => Some(origin.host),
                Some(SeriesBy::Service) => origin.service,
                Some(SeriesBy::Environment) => origin.environment,
                Some(SeriesBy::ProgramVersion) => origin.program_version,
            };
            let group = *numbers.entry(term).or_insert_with(|| {
                terms.push(term);
                terms.len() as u32 - 1
            });
            let finished =
                row.status == Status::Finished.number() && row.wall_ms.is_finite() && row.wall_ms >= 0.0;
            runs.push(SeriesRun {
                group,
                started_unix_ns: row.started_unix_ns,
                time_ms: if finished { row.wall_ms } else { f64::NAN },
                failed: row.status == Status::Failed.number(),
            });
        });
    }
    // Groups that nothing else tells apart stand by name.
    let mut named: Vec<(Option<String>, u32)> = terms
        .iter()
        .zip(0..)
        .map(|(term, number)| Ok((names.optional(*term)?, number)))
        .collect::<Result<_, _>>()?;
    named.sort_unstable();
    let mut place_of = vec![0; named.len()];
    for ((_, number), place) in named.iter().zip(0..) {
        place_of[*number as usize] = place;
    }
    for run in &mut runs {
        run.group = place_of[run.group as usize];
    }
    let mut groups = series_of(window, runs, *most);
    for (number, group) in &mut groups {
        group.value = number.and_then(|number| named[number as usize].0.take());
    }
    Ok(groups.into_iter().map(|(_, group)| group).collect())
}

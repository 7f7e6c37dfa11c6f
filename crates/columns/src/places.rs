//! What ran where, and how long.

use std::collections::BTreeMap;

use queryscope_history::{Place, PlaceTotal, RunStatus};
use queryscope_store::{Places, Status, in_place_order};

use crate::dictionary::Origin;
use crate::names::Names;
use crate::select::{Kept, Selection, Snapshot};

/// The runs a selection keeps by service, environment and host, as
/// [`Store::place_totals`](queryscope_store::Store::place_totals) gives them.
pub fn places<N: Names>(names: &N, snapshot: &Snapshot, selection: &Selection) -> Result<Places, N::Error> {
    let kept = Kept::of(snapshot, selection);
    let mut totals: Vec<Option<PlaceTotal>> = vec![None; snapshot.origins.len()];
    if !kept.is_nothing() {
        snapshot.each_row(selection.since_unix_ns, selection.until_unix_ns, |row| {
            if kept.keeps(|| row.origin, row.plan, row.status) {
                let total = totals[row.origin as usize].get_or_insert_default();
                total.add(status(row.status), row.wall_ms);
            }
        });
    }
    let by = |field: fn(&Origin) -> Option<i64>| -> Result<Vec<Place>, N::Error> {
        let mut places: BTreeMap<Option<i64>, PlaceTotal> = BTreeMap::new();
        for (origin, total) in snapshot.origins.iter().zip(&totals) {
            if let Some(total) = total {
                places.entry(field(origin)).or_default().merge(*total);
            }
        }
        let named = places.into_iter().map(|(term, total)| Ok(total.named(names.optional(term)?)));
        Ok(in_place_order(named.collect::<Result<_, _>>()?))
    };
    Ok(Places {
        service: by(|origin| origin.service)?,
        environment: by(|origin| origin.environment)?,
        host: by(|origin| Some(origin.host))?,
    })
}

fn status(number: u8) -> RunStatus {
    match Status::of_number(number) {
        Some(Status::Finished) => RunStatus::Finished,
        Some(Status::Failed) => RunStatus::Failed,
        Some(Status::Running) => RunStatus::Running,
        Some(Status::Unfinished) | None => RunStatus::Unfinished,
    }
}

//! What ran where, and how long.

use std::collections::BTreeMap;

use queryscope_history::{Place, PlaceTotal, RunStatus};
use queryscope_store::{NumberField, OwnerOf, Places, Status, YieldPoint, in_place_order};

use crate::dictionary::Origin;
use crate::names::Names;
use crate::select::{Kept, Selection, Snapshot};
use crate::state::CANCELLED;

/// The runs a selection keeps by service, environment, host and owner, as
/// [`Store::place_totals`](queryscope_store::Store::place_totals) gives them.
pub fn places<N: Names>(
    names: &N,
    snapshot: &Snapshot,
    selection: &Selection,
    owner_of: Option<&OwnerOf>,
) -> Result<Places, N::Error> {
    let kept = Kept::of(snapshot, selection);
    let mut totals: Vec<Option<PlaceTotal>> = vec![None; snapshot.origins.len()];
    // Owners are those of labels.
    let mut label_totals: Vec<Option<PlaceTotal>> = match owner_of {
        Some(_) => vec![None; snapshot.labels.len()],
        None => Vec::new(),
    };
    if !kept.is_nothing() {
        snapshot.each_place(selection.since_unix_ns, selection.until_unix_ns, |segment, at, row| {
            if kept.keeps(|| row.origin, row.plan, row.status) {
                let cpu = segment.figure_at(NumberField::Cpu, at);
                let read = segment.figure_at(NumberField::Read, at);
                let add = |total: &mut PlaceTotal| total.add(status(row.status), row.wall_ms, cpu, read);
                add(totals[row.origin as usize].get_or_insert_default());
                if owner_of.is_some() {
                    let label = snapshot.label_of[row.plan as usize] as usize;
                    add(label_totals[label].get_or_insert_default());
                }
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
    let mut owners: BTreeMap<Option<String>, PlaceTotal> = BTreeMap::new();
    let turn = YieldPoint::new(snapshot.foreground());
    for (label, total) in turn.over(snapshot.labels.iter().zip(&label_totals)) {
        if let (Some(owner_of), Some(total)) = (owner_of, total) {
            let text = label.map(|term| names.text(term)).transpose()?;
            owners.entry(text.and_then(|label| owner_of(&label))).or_default().merge(*total);
        }
    }
    Ok(Places {
        service: by(|origin| origin.service)?,
        environment: by(|origin| origin.environment)?,
        host: by(|origin| Some(origin.host))?,
        owner: in_place_order(owners.into_iter().map(|(owner, total)| total.named(owner)).collect()),
    })
}

fn status(number: u8) -> RunStatus {
    match Status::of_number(number) {
        Some(Status::Finished) => RunStatus::Finished,
        Some(Status::Failed) => RunStatus::Failed,
        Some(Status::Running) => RunStatus::Running,
        None if number == CANCELLED => RunStatus::Cancelled,
        Some(Status::Unfinished) | None => RunStatus::Unfinished,
    }
}

//! How the times of some runs developed.

use std::collections::{BTreeSet, HashMap};

use queryscope_history::{SeriesRun, series as series_of};
use queryscope_store::{Series, SeriesBy, SeriesRequest};

use crate::dictionary::{Origin, Plan};
use crate::names::Names;
use crate::point::{failure_of, time_of};
use crate::select::{Kept, Selection, Snapshot};
use crate::words::Words;

/// The runs a selection keeps, slice by slice, as [`Store::series`](queryscope_store::Store::series) gives them.
pub fn series<N: Names>(
    names: &N,
    snapshot: &Snapshot,
    selection: &Selection,
    request: &SeriesRequest,
) -> Result<Series, N::Error> {
    let SeriesRequest { filter, window, by, most } = request;
    let kept = Kept::of(snapshot, selection);
    let words = Words::of(names, snapshot, &filter.expression)?;
    let field: Field = match by {
        None => Field::None,
        Some(SeriesBy::Fingerprint) => Field::Plan(|plan| plan.fingerprint),
        Some(SeriesBy::EngineVersion) => Field::Plan(|plan| plan.engine_version),
        Some(SeriesBy::Host) => Field::Origin(|origin| Some(origin.host)),
        Some(SeriesBy::Service) => Field::Origin(|origin| origin.service),
        Some(SeriesBy::Environment) => Field::Origin(|origin| origin.environment),
        Some(SeriesBy::ProgramVersion) => Field::Origin(|origin| origin.program_version),
    };
    let groups = Groups::of(names, snapshot, &kept, field)?;
    let mut told = series_of(window, groups.values.len(), *most, |take| {
        if kept.is_nothing() {
            return;
        }
        snapshot.each_place(window.since_unix_ns(), window.until_unix_ns(), |segment, at, row| {
            if kept.keeps(|| row.origin, row.plan, row.status) && words.keeps_rounded_at(segment, at) {
                take(SeriesRun {
                    group: groups.group_of(row.origin, row.plan),
                    started_unix_ns: row.started_unix_ns,
                    time_ms: time_of(row.status, row.wall_ms).unwrap_or(f64::NAN),
                    failure: failure_of(row.status),
                });
            }
        });
    });
    for (number, group) in &mut told {
        group.value = number.and_then(|number| groups.values[number as usize].clone());
    }
    Ok(told.into_iter().map(|(_, group)| group).collect())
}

/// What runs are divided by.
#[derive(Clone, Copy)]
enum Field {
    None,
    Origin(fn(&Origin) -> Option<i64>),
    Plan(fn(&Plan) -> Option<i64>),
}

/// Values of a field, by name: the number of each is its place. Groups that nothing else tells apart stand in this
/// order.
struct Groups {
    values: Vec<Option<String>>,
    /// The number of the value of each origin, or plan; empty where it is none of their fields.
    of_origin: Vec<u32>,
    of_plan: Vec<u32>,
}

impl Groups {
    /// Of the origins or plans that are kept.
    fn of<N: Names>(names: &N, snapshot: &Snapshot, kept: &Kept, field: Field) -> Result<Self, N::Error> {
        let terms: Vec<Option<Option<i64>>> = match field {
            Field::None => {
                return Ok(Self { values: vec![None], of_origin: Vec::new(), of_plan: Vec::new() });
            }
            Field::Origin(term) => {
                let kept = |at: usize, origin| kept.keeps_origin(at).then(|| term(origin));
                snapshot.origins.iter().enumerate().map(|(at, origin)| kept(at, origin)).collect()
            }
            Field::Plan(term) => {
                let kept = |at: usize, plan| kept.keeps_plan(at).then(|| term(plan));
                snapshot.plans.iter().enumerate().map(|(at, plan)| kept(at, plan)).collect()
            }
        };
        let distinct: BTreeSet<Option<i64>> = terms.iter().flatten().copied().collect();
        let named = distinct.into_iter().map(|term| Ok((names.optional(term)?, term)));
        let mut named: Vec<(Option<String>, Option<i64>)> = named.collect::<Result<_, _>>()?;
        named.sort_unstable();
        let numbers: HashMap<Option<i64>, u32> =
            named.iter().zip(0..).map(|((_, term), number)| (*term, number)).collect();
        let values = named.into_iter().map(|(value, _)| value).collect();
        let of_each = terms.iter().map(|term| term.and_then(|term| numbers.get(&term)).copied().unwrap_or(0));
        let of_each = of_each.collect();
        Ok(match field {
            Field::Plan(_) => Self { values, of_origin: Vec::new(), of_plan: of_each },
            Field::Origin(_) | Field::None => Self { values, of_origin: of_each, of_plan: Vec::new() },
        })
    }

    fn group_of(&self, origin: u32, plan: u32) -> u32 {
        let group = self.of_origin.get(origin as usize).or_else(|| self.of_plan.get(plan as usize));
        group.copied().unwrap_or(0)
    }
}

//! How many runs each value of a field has.

use std::collections::BTreeMap;

use queryscope_store::{Expression, FacetValue, Facets, Status};

use crate::names::Names;
use crate::select::{Selection, Snapshot, keeps};
use crate::state::{CANCELLED, STATES, status_number};
use crate::words::Words;

/// Queries of one origin by state: those of the labels and times asked for, and of these those the whole
/// filter on plans keeps.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    known: [u64; STATES],
    kept: [u64; STATES],
}

/// Counts each of the six fields under the filters on the other fields, and under what a filter in words says. A value
/// that occurs under the project, label and time filters is listed also when it has no queries under the others.
pub fn facets<N: Names>(
    names: &N,
    snapshot: &Snapshot,
    selection: &Selection,
    expression: &Expression,
) -> Result<Facets, N::Error> {
    let words = Words::of(names, snapshot, expression)?;
    let Counted { origins: counts, plans } =
        count(snapshot, selection, (!expression.is_empty()).then_some(&words));
    let mut service = BTreeMap::new();
    let mut environment = BTreeMap::new();
    let mut host = BTreeMap::new();
    let mut program_version = BTreeMap::new();
    let mut status = [None; Status::ALL.len()];
    let mut cancelled = 0;
    for (origin, counts) in snapshot.origins.iter().zip(&counts) {
        if !keeps(selection.project, Some(origin.project)) {
            continue;
        }
        let of_service = keeps(selection.service, origin.service);
        let of_environment = keeps(selection.environment, origin.environment);
        let of_host = keeps(selection.host, Some(origin.host));
        let of_version = keeps(selection.program_version, origin.program_version);
        for (state, (known, kept)) in counts.known.iter().zip(counts.kept).enumerate() {
            if *known == 0 {
                continue;
            }
            let number = status_number(state as u8);
            let of_status = selection.status.is_none_or(|status| status == number);
            let under = |others: bool| if others { kept } else { 0 };
            let of_place = of_environment && of_host;
            let of_others = of_version && of_status;
            *service.entry(origin.service).or_insert(0) += under(of_place && of_others);
            *environment.entry(origin.environment).or_insert(0) += under(of_service && of_host && of_others);
            *host.entry(Some(origin.host)).or_insert(0) += under(of_service && of_environment && of_others);
            *program_version.entry(origin.program_version).or_insert(0) +=
                under(of_service && of_place && of_status);
            let of_all = under(of_service && of_place && of_version);
            *status[usize::from(number)].get_or_insert(0) += of_all;
            if state as u8 == CANCELLED {
                cancelled += of_all;
            }
        }
    }
    let status = Status::ALL.into_iter().filter_map(|name| {
        let runs = status[usize::from(name.number())]?;
        Some(FacetValue { value: Some(name.name().to_owned()), runs, engines: Vec::new() })
    });
    Ok(Facets {
        service: named(names, service)?,
        environment: named(names, environment)?,
        host: named(names, host)?,
        engine_version: named(names, engine_versions(snapshot, selection, &plans))?,
        program_version: named(names, program_version)?,
        status: ordered(status.collect()),
        cancelled,
    })
}

/// Counts by the number of an origin, and by that of a plan: queries of the project, labels and times asked for, and of
/// these those of origins and states that the filter keeps.
struct Counted {
    origins: Vec<Counts>,
    plans: Vec<(u64, u64)>,
}

fn engine_versions(
    snapshot: &Snapshot,
    selection: &Selection,
    plans: &[(u64, u64)],
) -> BTreeMap<Option<i64>, u64> {
    let mut versions = BTreeMap::new();
    for (plan, (known, kept)) in snapshot.plans.iter().zip(plans).filter(|(_, (known, _))| *known > 0) {
        debug_assert!(kept <= known);
        let kept = if selection.keeps_plan_of_any_version(plan) { *kept } else { 0 };
        *versions.entry(plan.engine_version).or_insert(0) += kept;
    }
    versions
}

fn count(snapshot: &Snapshot, selection: &Selection, words: Option<&Words>) -> Counted {
    let labels: Vec<bool> = snapshot.plans.iter().map(|plan| keeps(selection.label, plan.label)).collect();
    let plans: Vec<bool> = snapshot.plans.iter().map(|plan| selection.keeps_plan(plan)).collect();
    let origins: Vec<(bool, bool)> = snapshot
        .origins
        .iter()
        .map(|origin| (keeps(selection.project, Some(origin.project)), selection.keeps_origin(origin)))
        .collect();
    let mut counted = Counted {
        origins: vec![Counts::default(); snapshot.origins.len()],
        plans: vec![(0, 0); snapshot.plans.len()],
    };
    snapshot.each_place(selection.since_unix_ns, selection.until_unix_ns, |segment, at, row| {
        let plan = row.plan as usize;
        if labels[plan] {
            let in_words = words.is_none_or(|words| words.keeps_rounded_at(segment, at));
            let counts = &mut counted.origins[row.origin as usize];
            counts.known[usize::from(row.status)] += 1;
            counts.kept[usize::from(row.status)] += u64::from(plans[plan] && in_words);
            let (known, kept) = origins[row.origin as usize];
            let of_status = selection.status.is_none_or(|status| status == status_number(row.status));
            let of_plan = &mut counted.plans[plan];
            of_plan.0 += u64::from(known);
            of_plan.1 += u64::from(kept && of_status && in_words);
        }
    });
    counted
}

fn named<N: Names>(names: &N, counts: BTreeMap<Option<i64>, u64>) -> Result<Vec<FacetValue>, N::Error> {
    let values = counts
        .into_iter()
        .map(|(term, runs)| Ok(FacetValue { value: names.optional(term)?, runs, engines: Vec::new() }));
    Ok(ordered(values.collect::<Result<_, _>>()?))
}

/// The most frequent first, then by name.
fn ordered(mut values: Vec<FacetValue>) -> Vec<FacetValue> {
    values.sort_by(|a, b| b.runs.cmp(&a.runs).then_with(|| a.value.cmp(&b.value)));
    values
}

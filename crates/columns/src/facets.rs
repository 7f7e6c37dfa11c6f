//! How many queries each value of a field has.

use std::collections::BTreeMap;

use queryscope_store::{FacetValue, Facets, Status};

use crate::names::Names;
use crate::select::{Selection, Snapshot, keeps};

const STATES: usize = Status::ALL.len();

/// Queries of one origin by status: those of the labels and times asked for, and of these those the whole
/// filter on plans keeps.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    known: [u64; STATES],
    kept: [u64; STATES],
}

/// Counts each of the four fields under the filters on the other fields. A value that occurs under the
/// project, label and time filters is listed also when it has no queries under the others.
pub fn facets<N: Names>(names: &N, snapshot: &Snapshot, selection: &Selection) -> Result<Facets, N::Error> {
    let counts = count(snapshot, selection);
    let mut service = BTreeMap::new();
    let mut environment = BTreeMap::new();
    let mut host = BTreeMap::new();
    let mut status = [None; STATES];
    for (origin, counts) in snapshot.origins.iter().zip(&counts) {
        if !keeps(selection.project, Some(origin.project)) {
            continue;
        }
        let of_service = keeps(selection.service, origin.service);
        let of_environment = keeps(selection.environment, origin.environment);
        let of_host = keeps(selection.host, Some(origin.host));
        for (number, (known, kept)) in counts.known.iter().zip(counts.kept).enumerate() {
            if *known == 0 {
                continue;
            }
            let of_status = selection.status.is_none_or(|status| usize::from(status) == number);
            let under = |others: bool| if others { kept } else { 0 };
            *service.entry(origin.service).or_insert(0) += under(of_environment && of_host && of_status);
            *environment.entry(origin.environment).or_insert(0) += under(of_service && of_host && of_status);
            *host.entry(Some(origin.host)).or_insert(0) += under(of_service && of_environment && of_status);
            *status[number].get_or_insert(0) += under(of_service && of_environment && of_host);
        }
    }
    let status = Status::ALL.into_iter().filter_map(|name| {
        let runs = status[usize::from(name.number())]?;
        Some(FacetValue { value: Some(name.name().to_owned()), runs })
    });
    Ok(Facets {
        service: named(names, service)?,
        environment: named(names, environment)?,
        host: named(names, host)?,
        status: ordered(status.collect()),
    })
}

fn count(snapshot: &Snapshot, selection: &Selection) -> Vec<Counts> {
    let labels: Vec<bool> = snapshot.plans.iter().map(|plan| keeps(selection.label, plan.label)).collect();
    let plans: Vec<bool> = snapshot.plans.iter().map(|plan| selection.keeps_plan(plan)).collect();
    let mut counts = vec![Counts::default(); snapshot.origins.len()];
    for row in snapshot.rows(selection.since_unix_ns, selection.until_unix_ns) {
        let plan = row.plan as usize;
        if labels[plan] {
            let counts = &mut counts[row.origin as usize];
            counts.known[usize::from(row.status)] += 1;
            counts.kept[usize::from(row.status)] += u64::from(plans[plan]);
        }
    }
    counts
}

fn named<N: Names>(names: &N, counts: BTreeMap<Option<i64>, u64>) -> Result<Vec<FacetValue>, N::Error> {
    let values = counts.into_iter().map(|(term, runs)| Ok(FacetValue { value: names.optional(term)?, runs }));
    Ok(ordered(values.collect::<Result<_, _>>()?))
}

/// The most frequent first, then by name.
fn ordered(mut values: Vec<FacetValue>) -> Vec<FacetValue> {
    values.sort_by(|a, b| b.runs.cmp(&a.runs).then_with(|| a.value.cmp(&b.value)));
    values
}

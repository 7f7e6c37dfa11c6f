//! How the model answers over many queries: by the definitions, over all rows.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use queryscope_history::{
    Earlier, Failure, Group, LabelOverview, Place, PlaceTotal, Quantity, Run, RunStatus, SeriesGroup,
    SeriesRun, Totals, Version,
};
use queryscope_protocol::QueryId;
use queryscope_protocol::vocabulary::cancelled::is_cancelled;
use uuid::Uuid;

use super::disk::Row;
use crate::analysis::{
    FacetValue, Facets, GroupBy, GroupPlace, GroupsAnswer, GroupsRequest, OverviewAnswer, OverviewPlace,
    OverviewRequest, OverviewSplit, OwnerOf, Places, Series, SeriesBy, SeriesRequest, in_place_order, rank,
};
use crate::filter::QueryFilter;
use crate::packed::{Packed, pack};
use crate::query::{Query, Status};

type Field = fn(&Query) -> Option<String>;

pub(super) fn facets(rows: &[Row], filter: &QueryFilter) -> Facets {
    let filter = QueryFilter { search: None, ..filter.clone() };
    let service = QueryFilter { service: None, ..filter.clone() };
    let environment = QueryFilter { environment: None, ..filter.clone() };
    let host = QueryFilter { host: None, ..filter.clone() };
    let engine_version = QueryFilter { engine_version: None, ..filter.clone() };
    let program_version = QueryFilter { program_version: None, ..filter.clone() };
    let status = QueryFilter { status: None, ..filter.clone() };
    Facets {
        service: facet(rows, &service, |query| query.service.clone()),
        environment: facet(rows, &environment, |query| query.environment.clone()),
        host: facet(rows, &host, |query| Some(query.host.clone())),
        engine_version: facet(rows, &engine_version, |query| query.engine_version.clone()),
        program_version: facet(rows, &program_version, |query| query.program_version.clone()),
        status: facet(rows, &status, |query| Some(query.status.to_string())),
        cancelled: kept(rows, &status).filter(|row| run_status(&row.query) == RunStatus::Cancelled).count()
            as u64,
    }
}

/// Counts a field under the filters on all others.
fn facet(rows: &[Row], others: &QueryFilter, field: Field) -> Vec<FacetValue> {
    let listed_under = QueryFilter {
        project: others.project.clone(),
        label: others.label.clone(),
        since_unix_ns: others.since_unix_ns,
        until_unix_ns: others.until_unix_ns,
        ..QueryFilter::default()
    };
    let values: BTreeSet<Option<String>> = kept(rows, &listed_under).map(|row| field(&row.query)).collect();
    let runs_of =
        |value: &Option<String>| kept(rows, others).filter(|row| field(&row.query) == *value).count();
    let mut facet: Vec<FacetValue> = values
        .into_iter()
        .map(|value| FacetValue { runs: runs_of(&value) as u64, value, engines: Vec::new() })
        .collect();
    facet.sort_by_key(|facet| (Reverse(facet.runs), facet.value.clone()));
    facet
}

pub(super) fn groups(rows: &[Row], request: &GroupsRequest) -> GroupsAnswer {
    let filter = QueryFilter { search: None, ..request.filter.clone() };
    let key: Field = match request.by {
        GroupBy::Label => |query| query.label.clone(),
        GroupBy::Fingerprint => |query| query.fingerprint.clone(),
    };
    let mut groups: Vec<(GroupPlace, Box<[u8]>)> = by_key(kept(rows, &filter), key)
        .into_iter()
        .filter_map(|(key, rows)| {
            with_runs(&rows, |runs| {
                let group = Group::of(runs)?;
                let last_started_unix_ns = Reverse(group.last_started_unix_ns);
                Some((GroupPlace { last_started_unix_ns, key }, pack(&group)))
            })
        })
        .collect();
    groups.sort();
    groups.retain(|(place, _)| request.after.as_ref().is_none_or(|after| place > after));
    let left_out = groups.split_off(groups.len().min(request.limit.unwrap_or(usize::MAX)));
    let next = groups.last().filter(|_| !left_out.is_empty()).map(|(place, _)| place.clone());
    let entries = Packed::join(groups.into_iter().map(|(place, packed)| (place.key.into(), packed)));
    GroupsAnswer { entries, next }
}

pub(super) fn versions(rows: &[Row], filter: &QueryFilter) -> Vec<Version> {
    let filter = QueryFilter { search: None, ..filter.clone() };
    let rows: Vec<&Row> = kept(rows, &filter).collect();
    with_runs(&rows, |runs| {
        let versions = queryscope_history::versions(runs);
        let latest = |id| rows.iter().find(|row| run_id(row) == id).map(|row| row.query.query_id);
        versions
            .into_iter()
            .filter_map(|version| {
                Some(Version { latest_query_id: latest(version.latest_query_id)?, ..version })
            })
            .collect()
    })
}

pub(super) fn overview(rows: &[Row], request: &OverviewRequest) -> OverviewAnswer {
    let OverviewRequest { filter, window, order, split, after, limit } = request;
    let filter = QueryFilter { search: None, since_unix_ns: None, until_unix_ns: None, ..filter.clone() };
    let mut totals = Totals::default();
    let mut entries: Vec<(OverviewPlace, Box<[u8]>)> = Vec::new();
    for (label, rows) in by_key(kept(rows, &filter), |query| query.label.clone()) {
        let mut parts: BTreeMap<Option<String>, Vec<&Row>> = BTreeMap::new();
        for row in rows {
            let part = row.query.service.clone().filter(|_| *split == OverviewSplit::Service);
            parts.entry(part).or_default().push(row);
        }
        for (service, rows) in parts {
            with_runs(&rows, |runs| {
                if let Some(overview) = LabelOverview::of(window, runs, &Earlier::default()) {
                    totals.add(&overview);
                    let rank = rank(*order, overview.has_news(), overview.total_wall_ms);
                    entries.push((OverviewPlace { rank, label: label.clone(), service }, pack(&overview)));
                }
            });
        }
    }
    entries.sort();
    entries.retain(|(place, _)| after.as_ref().is_none_or(|after| place > after));
    let left_out = entries.split_off(entries.len().min(limit.unwrap_or(usize::MAX)));
    let next = entries.last().filter(|_| !left_out.is_empty()).map(|(place, _)| place.clone());
    let entries = Packed::join(entries.into_iter().map(|(place, packed)| (place.label.into(), packed)));
    OverviewAnswer { totals, entries, next }
}

pub(super) fn series(rows: &[Row], request: &SeriesRequest) -> Series {
    let SeriesRequest { filter, window, by, most } = request;
    let filter = QueryFilter {
        search: None,
        since_unix_ns: Some(window.since_unix_ns()),
        until_unix_ns: Some(window.until_unix_ns()),
        ..filter.clone()
    };
    let field: Field = match by {
        None => |_| None,
        Some(SeriesBy::Fingerprint) => |query| query.fingerprint.clone(),
        Some(SeriesBy::Host) => |query| Some(query.host.clone()),
        Some(SeriesBy::Service) => |query| query.service.clone(),
        Some(SeriesBy::Environment) => |query| query.environment.clone(),
        Some(SeriesBy::EngineVersion) => |query| query.engine_version.clone(),
        Some(SeriesBy::ProgramVersion) => |query| query.program_version.clone(),
    };
    let values: BTreeSet<Option<String>> = kept(rows, &filter).map(|row| field(&row.query)).collect();
    let values: Vec<Option<String>> = values.into_iter().collect();
    let run_of = |row: &Row| {
        let value = field(&row.query);
        SeriesRun {
            group: values.iter().position(|other| *other == value).unwrap_or_default() as u32,
            started_unix_ns: row.query.started_unix_ns,
            time_ms: run(row, &[]).time_ms().unwrap_or(f64::NAN),
            failure: Failure::of(run_status(&row.query)),
        }
    };
    let groups = queryscope_history::series(window, values.len(), *most, |take| {
        kept(rows, &filter).for_each(|row| take(run_of(row)));
    });
    let named = |(number, group): (Option<u32>, SeriesGroup)| SeriesGroup {
        value: number.and_then(|number| values[number as usize].clone()),
        ..group
    };
    groups.into_iter().map(named).collect()
}

pub(super) fn places(rows: &[Row], filter: &QueryFilter, owner_of: Option<&OwnerOf>) -> Places {
    let filter = QueryFilter { search: None, ..filter.clone() };
    let by = |field: &dyn Fn(&Query) -> Option<String>| -> Vec<Place> {
        let mut places: BTreeMap<Option<String>, PlaceTotal> = BTreeMap::new();
        for row in kept(rows, &filter) {
            let (wall_ms, cpu) = (row.query.wall_ms.unwrap_or(f64::NAN), Quantity::from_ms(row.query.cpu_ms));
            let bytes_read = Quantity::from_whole(row.query.bytes_read);
            places.entry(field(&row.query)).or_default().add(run(row, &[]).status, wall_ms, cpu, bytes_read);
        }
        in_place_order(places.into_iter().map(|(value, total)| total.named(value)).collect())
    };
    Places {
        service: by(&|query| query.service.clone()),
        environment: by(&|query| query.environment.clone()),
        host: by(&|query| Some(query.host.clone())),
        owner: owner_of
            .map(|owner_of| by(&|query| query.label.as_deref().and_then(|label| owner_of(label))))
            .unwrap_or_default(),
    }
}

fn kept<'r>(rows: &'r [Row], filter: &QueryFilter) -> impl Iterator<Item = &'r Row> {
    rows.iter().filter(move |row| filter.keeps(&row.query))
}

/// Rows that have a key, by it.
fn by_key<'r>(rows: impl Iterator<Item = &'r Row>, key: Field) -> BTreeMap<String, Vec<&'r Row>> {
    let mut by_key: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        if let Some(key) = key(&row.query) {
            by_key.entry(key).or_default().push(row);
        }
    }
    by_key
}

/// Looks at rows as runs.
fn with_runs<T>(rows: &[&Row], look: impl FnOnce(&[Run<'_>]) -> T) -> T {
    let rules: Vec<Vec<&str>> =
        rows.iter().map(|row| row.query.rules.iter().map(String::as_str).collect()).collect();
    let runs: Vec<Run<'_>> = rows.iter().zip(&rules).map(|(row, rules)| run(row, rules)).collect();
    look(&runs)
}

fn run<'a>(row: &'a Row, rules: &'a [&'a str]) -> Run<'a> {
    let query = &row.query;
    Run {
        query_id: run_id(row),
        started_unix_ns: query.started_unix_ns,
        status: run_status(query),
        wall_ms: query.wall_ms,
        service: query.service.as_deref(),
        fingerprint: query.fingerprint.as_deref(),
        rules,
    }
}

fn run_status(query: &Query) -> RunStatus {
    match query.status {
        Status::Running => RunStatus::Running,
        Status::Finished => RunStatus::Finished,
        Status::Failed if query.failed.as_deref().is_some_and(is_cancelled) => RunStatus::Cancelled,
        Status::Failed => RunStatus::Failed,
        Status::Unfinished => RunStatus::Unfinished,
    }
}

/// The id a run goes by: as in the list, the order in which queries were first stored tells those of the same
/// start apart.
fn run_id(row: &Row) -> QueryId {
    QueryId::new(Uuid::from_u128(u128::from(row.place.unsigned_abs())))
}

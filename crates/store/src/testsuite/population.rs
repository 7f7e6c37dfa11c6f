//! Random queries, and random questions that some of them answer.

use proptest::prelude::*;
use proptest::sample::select;

use super::batch::{BatchBuilder, batch, facts};
use crate::batch::Facts;
use crate::filter::{Is, QueryFilter};
use crate::query::Status;
use crate::store::Store;

pub(super) const PROJECTS: [&str; 2] = ["default", "other"];
/// Used for services, environments and hosts alike: a filter that mixes them up finds too much.
pub(super) const PLACES: [&str; 3] = ["a", "b", ""];
pub(super) const LABELS: [&str; 5] = ["Orders", "täglich", "a%b", "a_b", ""];
const ERRORS: [&str; 3] = ["boom", "BOOM in Orders", "100%"];
const SEARCHES: [&str; 12] =
    ["o", "ORDERS", "ä", "TÄG", "%", "_", "", "b", "8000-0000", "00000003", "zzz", "'"];
const STARTS: std::ops::Range<i64> = 0..12;

/// Queries of several streams.
#[derive(Debug, Clone)]
pub(super) struct Population(Vec<Stream>);

#[derive(Debug, Clone)]
struct Stream {
    project: &'static str,
    service: Option<&'static str>,
    environment: Option<&'static str>,
    program_version: Option<&'static str>,
    host: &'static str,
    queries: Vec<Lived>,
}

#[derive(Debug, Clone)]
struct Lived {
    status: Status,
    start: i64,
    label: Option<&'static str>,
    fingerprint: Option<&'static str>,
    engine_version: Option<&'static str>,
    error: &'static str,
}

impl Population {
    /// Stores all of it.
    pub(super) async fn settle(&self, store: &dyn Store) {
        let (silent, loud) = (1_000, 2_000);
        let mut query = 0;
        for (number, stream) in (1..).zip(&self.0) {
            let begin = |received| {
                batch(number)
                    .project(stream.project)
                    .process(stream.service, stream.environment, stream.host)
                    .program_version(stream.program_version)
                    .received(received)
            };
            let (mut unfinished, mut others) = (begin(silent), begin(loud));
            for lived in &stream.queries {
                query += 1;
                match lived.status {
                    Status::Unfinished => unfinished = lived.add_to(unfinished, query),
                    _ => others = lived.add_to(others, query),
                }
            }
            for batch in [unfinished, others] {
                store.commit(batch.build()).await.expect("stored");
            }
        }
        store.end_silent(loud).await.expect("a store");
    }
}

impl Lived {
    fn add_to(&self, batch: BatchBuilder, query: u64) -> BatchBuilder {
        let told = Facts {
            label: self.label.map(Into::into),
            fingerprint: self.fingerprint.map(Into::into),
            engine_version: self.engine_version.map(Into::into),
            started_unix_ns: Some(self.start),
            failed: (self.status == Status::Failed).then(|| self.error.into()),
            ..facts("")
        };
        match self.status {
            Status::Running | Status::Unfinished => batch.started(query, query, told),
            Status::Finished | Status::Failed => batch.finished(query, query, told),
        }
    }
}

pub(super) fn any_population() -> impl Strategy<Value = Population> {
    let lived = (status(), STARTS, maybe(&LABELS), maybe(&PLACES), maybe(&PLACES), select(&ERRORS[..]))
        .prop_map(|(status, start, label, fingerprint, engine_version, error)| Lived {
            status,
            start,
            label,
            fingerprint,
            engine_version,
            error,
        });
    let stream = (
        select(&PROJECTS[..]),
        maybe(&PLACES),
        maybe(&PLACES),
        maybe(&PLACES),
        select(&PLACES[..]),
        prop::collection::vec(lived, 0..12),
    )
        .prop_map(|(project, service, environment, program_version, host, queries)| Stream {
            project,
            service,
            environment,
            program_version,
            host,
            queries,
        });
    prop::collection::vec(stream, 1..8).prop_map(Population)
}

pub(super) fn any_filter() -> impl Strategy<Value = QueryFilter> {
    let text = |of: &'static [&'static str]| rarely(select(of).prop_map(ToOwned::to_owned));
    let is = |of: &'static [&'static str]| {
        rarely(maybe(of).prop_map(|value| value.map_or(Is::Absent, |value| Is::Value(value.into()))))
    };
    (
        (
            text(&PROJECTS),
            is(&LABELS),
            is(&PLACES),
            is(&PLACES),
            is(&PLACES),
            is(&PLACES),
            is(&PLACES),
            text(&PLACES),
        ),
        (rarely(status()), rarely(STARTS), rarely(STARTS), text(&SEARCHES)),
    )
        .prop_map(|(names, others)| {
            let (project, label, fingerprint, engine_version, program_version, service, environment, host) =
                names;
            let (status, since_unix_ns, until_unix_ns, search) = others;
            QueryFilter {
                project,
                label,
                fingerprint,
                engine_version,
                program_version,
                service,
                environment,
                host,
                status,
                since_unix_ns,
                until_unix_ns,
                search,
            }
        })
}

fn status() -> impl Strategy<Value = Status> {
    select(&Status::ALL[..])
}

/// One of some texts, or none.
pub(super) fn maybe(of: &'static [&'static str]) -> impl Strategy<Value = Option<&'static str>> {
    prop::option::of(select(of))
}

/// A filter's field, mostly not asked for.
fn rarely<S: Strategy>(value: S) -> impl Strategy<Value = Option<S::Value>> {
    prop::option::weighted(0.2, value)
}

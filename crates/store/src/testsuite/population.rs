//! Random queries, and random questions that some of them answer.

use proptest::prelude::*;
use proptest::sample::select;

use super::batch::{BatchBuilder, batch, facts};
use crate::batch::Facts;
use crate::expression::{Amount, Clause, Comparison, Expression, NumberField, Pattern, Test, TextField};
use crate::filter::{Is, QueryFilter};
use crate::query::Status;
use crate::store::Store;

pub(super) const PROJECTS: [&str; 2] = ["default", "other"];
/// Used for services, environments and hosts alike: a filter that mixes them up finds too much.
pub(super) const PLACES: [&str; 3] = ["a", "b", ""];
pub(super) const LABELS: [&str; 5] = ["Orders", "täglich", "a%b", "a_b", ""];
const ERRORS: [&str; 4] = ["boom", "BOOM in Orders", "100%", "Canceled."];
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
    figures: Figures,
}

/// Wall and CPU time, rows, rules that warned, and bytes read, spilled and in memory.
type Figures = (f64, Option<f64>, Option<i64>, &'static [&'static str], [Option<i64>; 3]);

const RULES: [&[&str]; 4] = [&[], &[], &["spilling"], &["skew", "spilling"]];

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
            wall_ms: self.figures.0,
            cpu_ms: self.figures.1,
            result_rows: self.figures.2,
            bytes_read: self.figures.4[0],
            spilled_bytes: self.figures.4[1],
            peak_memory_bytes: self.figures.4[2],
            warnings: 2 * self.figures.3.len() as u32,
            rules: self.figures.3.iter().map(ToString::to_string).collect(),
            ..facts("")
        };
        match self.status {
            Status::Running | Status::Unfinished => batch.started(query, query, told),
            Status::Finished | Status::Failed => batch.finished(query, query, told),
        }
    }
}

pub(super) fn any_population() -> impl Strategy<Value = Population> {
    let whole = || prop::option::of(select(&[0_i64, 1, 2, 1 << 24, (1 << 24) + 1, i64::MAX][..]));
    let figures = (
        (0..4_u8).prop_map(|wall| f64::from(wall) * 0.5),
        // The columns keep those of about 10 s as one.
        prop::option::of(select(&[0.0, 1e4, 10_001.0, 10_002.0, 2e4][..])),
        whole(),
        select(&RULES[..]),
        [whole(), whole(), whole()],
    );
    let lived =
        (status(), STARTS, maybe(&LABELS), maybe(&PLACES), maybe(&PLACES), select(&ERRORS[..]), figures);
    let lived = lived.prop_map(|(status, start, label, fingerprint, engine_version, error, figures)| Lived {
        status,
        start,
        label,
        fingerprint,
        engine_version,
        error,
        figures,
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
                expression: Expression::default(),
            }
        })
}

/// A filter with clauses in words, of which some hold of some runs of a population.
pub(super) fn any_filter_in_words() -> impl Strategy<Value = QueryFilter> {
    let figures =
        [0.0, 0.5, 1.0, 1e4, 2e4, 2.0, 16_777_216.0].map(|value| Amount::new(value).expect("finite"));
    let number = (select(&NumberField::ALL[..]), select(&Comparison::ALL[..]), select(figures.to_vec()));
    let text = || {
        let texts = [&PLACES[..], &LABELS[..], &ERRORS[..], &["spilling"][..]].concat();
        select(texts).prop_map(String::from)
    };
    let glob = (text(), 0..3_usize).prop_map(|(text, at)| {
        let at = text.char_indices().map(|(at, _)| at).nth(at).unwrap_or(0);
        Pattern::Glob(vec![text[..at].into(), text[at..].chars().skip(1).collect()])
    });
    let pattern = prop_oneof![
        1 => Just(Pattern::Absent),
        2 => text().prop_map(Pattern::Is),
        2 => select(&SEARCHES[..]).prop_map(|part| Pattern::Holds(part.into())),
        2 => glob,
    ];
    let test = prop_oneof![
        4 => number.prop_map(|(field, comparison, value)| Test::Number { field, comparison, value }),
        4 => (select(&TextField::ALL[..]), pattern).prop_map(|(field, pattern)| Test::Text { field, pattern }),
        1 => status().prop_map(Test::Status),
        1 => select(&SEARCHES[..]).prop_map(|word| Test::Word(word.into())),
    ];
    let clause = (any::<bool>(), test).prop_map(|(is_negated, test)| Clause { is_negated, test });
    let clauses = prop::collection::vec(clause, 0..3).prop_map(|clauses| Expression { clauses });
    let base = prop_oneof![2 => Just(QueryFilter::default()), 1 => any_filter()];
    (base, clauses, any::<bool>()).prop_map(|(mut filter, expression, moves)| {
        if moves {
            expression.add_to(&mut filter);
        } else {
            filter.expression = expression;
        }
        filter
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

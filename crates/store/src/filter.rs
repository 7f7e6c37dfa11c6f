//! What a reader asks of the list of runs.

use serde::Deserialize;

use crate::expression::{Amount, Clause, Expression, NumberField, Test, TextField, holds};
use crate::query::{Query, Status};

/// A value a query must have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Is {
    /// This text.
    Value(String),
    /// None at all.
    Absent,
}

/// Which queries; a field that is `None` keeps all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct QueryFilter {
    /// With this project.
    pub project: Option<String>,
    /// With this label.
    pub label: Option<Is>,
    /// With this plan fingerprint.
    pub fingerprint: Option<Is>,
    /// Of this version of the engine.
    pub engine_version: Option<Is>,
    /// From processes of this version of the program.
    pub program_version: Option<Is>,
    /// From processes with this service.
    pub service: Option<Is>,
    /// From processes with this environment.
    pub environment: Option<Is>,
    /// From processes on this host.
    pub host: Option<String>,
    /// In this state.
    pub status: Option<Status>,
    /// Started at or after, in Unix nanoseconds.
    pub since_unix_ns: Option<i64>,
    /// Started at or before, in Unix nanoseconds.
    pub until_unix_ns: Option<i64>,
    /// Whose label or error text holds this text in any case, or whose id holds it.
    pub search: Option<String>,
    /// That meet all of these, too.
    pub expression: Expression,
}

impl QueryFilter {
    /// Of how many fields it asks for a value, times and search left out.
    pub fn values(&self) -> usize {
        let Self { project, label, fingerprint, engine_version, program_version, .. } = self;
        let Self { service, environment, host, status, .. } = self;
        let names = [label, fingerprint, engine_version, program_version, service, environment];
        let names = names.map(Option::is_some);
        let others = [project.is_some(), host.is_some(), status.is_some()];
        names.into_iter().chain(others).filter(|asks| *asks).count()
    }

    /// Whether it asks for texts that are in rows alone: those that are searched, the error, or the engine's name.
    pub fn asks_for_texts(&self) -> bool {
        let is_of_rows = |test: &Test| match test {
            Test::Word(_) | Test::Text { field: TextField::Error | TextField::Engine, .. } => true,
            Test::Text { .. } | Test::Number { .. } | Test::Status(_) => false,
        };
        self.search.is_some() || self.expression.clauses.iter().any(|clause| is_of_rows(&clause.test))
    }

    /// Whether a query is one of those.
    pub fn keeps(&self, query: &Query) -> bool {
        let is = |wanted: &Option<Is>, found: &Option<String>| match wanted {
            None => true,
            Some(Is::Value(value)) => found.as_ref() == Some(value),
            Some(Is::Absent) => found.is_none(),
        };
        self.project.as_ref().is_none_or(|project| *project == query.project)
            && is(&self.label, &query.label)
            && is(&self.fingerprint, &query.fingerprint)
            && is(&self.engine_version, &query.engine_version)
            && is(&self.program_version, &query.program_version)
            && is(&self.service, &query.service)
            && is(&self.environment, &query.environment)
            && self.host.as_ref().is_none_or(|host| *host == query.host)
            && self.status.is_none_or(|status| status == query.status)
            && self.since_unix_ns.is_none_or(|since| query.started_unix_ns >= since)
            && self.until_unix_ns.is_none_or(|until| query.started_unix_ns <= until)
            && self.search.as_ref().is_none_or(|text| holds(query, text))
            && self.expression.keeps(query)
    }
}

/// Order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Order {
    /// The newest first.
    #[default]
    Newest,
    /// The oldest first.
    Oldest,
}

/// Place of a query in the order of starts; a page goes on after one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// When the query started, in Unix nanoseconds.
    pub started_unix_ns: i64,
    /// Tells queries of the same start apart; of the store's making.
    pub tie: i64,
}

/// A figure a list is sorted by. Runs of which it is not known come last in either order. Those of one value stand by
/// their start: the newest first where the largest are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortBy {
    /// The figure.
    pub field: NumberField,
    /// What the run has of it after which a page goes on; `None` where it is not known, and where the page is the
    /// first.
    pub after: Option<Amount>,
}

/// The same request with its search as a clause of the expression, where it is sorted by a figure: what finds the runs
/// of a search by their start does not serve it.
pub fn sorted_search(request: &ListRequest) -> Option<ListRequest> {
    let mut request = request.clone();
    request.sort?;
    let word = request.filter.search.take()?;
    request.filter.expression.clauses.push(Clause { is_negated: false, test: Test::Word(word) });
    Some(request)
}

/// One page of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRequest {
    /// Which queries.
    pub filter: QueryFilter,
    /// By which figure; by the start where it is left out.
    pub sort: Option<SortBy>,
    /// In which order: with a figure, the newest first stands for the largest first.
    pub order: Order,
    /// Only those after this place in the order.
    pub after: Option<Position>,
    /// How many to skip.
    pub offset: u64,
    /// How many to give at most.
    pub limit: usize,
}

//! Parameters that several answers take.

use queryscope_protocol::limits::{PAGE_DEFAULT, PAGE_MAX};
use queryscope_store::{
    Expression, Is, NAME_CHARS, NumberField, Order, QueryFilter, Status, parse, short_name,
};
use serde::{Deserialize, Deserializer};
use utoipa::IntoParams;

use super::asked::{parsed, whole};
use crate::act::body::bounded;
use crate::error::ApiError;

/// The filters every answer over several queries takes.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct SourceFilters {
    /// Keeps queries of this project.
    #[param(example = "default")]
    pub(super) project: Option<String>,
    /// Keeps queries with this label; empty keeps those without one.
    #[param(example = "orders/daily")]
    pub(super) label: Option<String>,
    /// Keeps queries from processes with this service; empty keeps those without one.
    #[param(example = "orders-etl")]
    pub(super) service: Option<String>,
    /// Keeps queries from processes with this environment; empty keeps those without one.
    #[param(example = "prod")]
    pub(super) environment: Option<String>,
    /// Keeps queries from processes on this host.
    #[param(example = "worker-1")]
    pub(super) host: Option<String>,
}

impl SourceFilters {
    /// What a store is asked for.
    pub(crate) fn filter(self) -> QueryFilter {
        QueryFilter {
            project: self.project,
            label: self.label.as_deref().map(is),
            service: self.service.as_deref().map(is),
            environment: self.environment.as_deref().map(is),
            host: self.host.as_deref().map(short_name),
            ..QueryFilter::default()
        }
    }
}

/// A filter on a name that may be absent: an empty value keeps queries without it. A long name is shortened as those of
/// the queries are.
pub(super) fn is(name: &str) -> Is {
    if name.is_empty() { Is::Absent } else { Is::Value(short_name(name)) }
}

/// The filters every list takes beside [`SourceFilters`].
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct RunFilters {
    /// Keeps queries with this plan fingerprint; empty keeps those without one.
    #[param(example = "238b6af6d50a")]
    pub(super) fingerprint: Option<String>,
    /// Keeps queries of this version of the engine; empty keeps those of which it is not known.
    #[param(example = "1.35.2")]
    pub(super) engine_version: Option<String>,
    /// Keeps queries of this version of the program; empty keeps those whose process does not say it.
    #[param(example = "2026.11.3")]
    pub(super) program_version: Option<String>,
    /// Keeps queries in this state.
    #[param(value_type = Status, inline, required = false, example = "finished")]
    pub(super) status: Option<Status>,
    /// Keeps queries that started at or after this, in Unix nanoseconds.
    #[param(example = 1_794_000_000_000_000_000_i64)]
    #[serde(deserialize_with = "unix_ns")]
    pub(super) since: Option<i64>,
    /// Keeps queries that started at or before this, in Unix nanoseconds.
    #[param(example = 1_796_000_000_000_000_000_i64)]
    #[serde(deserialize_with = "unix_ns")]
    pub(super) until: Option<i64>,
}

impl RunFilters {
    /// What a store is asked for, with the other filters.
    pub(crate) fn filter(self, source: SourceFilters) -> QueryFilter {
        QueryFilter {
            fingerprint: self.fingerprint.as_deref().map(is),
            engine_version: self.engine_version.as_deref().map(is),
            program_version: self.program_version.as_deref().map(is),
            status: self.status,
            since_unix_ns: self.since,
            until_unix_ns: self.until,
            ..source.filter()
        }
    }
}

/// Reads a point in time.
pub(crate) fn unix_ns<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    parsed(from, "a time in Unix nanoseconds", |text| text.parse().ok())
}

/// A filter in words, beside the others.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct WordsFilter {
    /// Keeps queries that meet all conditions, such as `wall>10s label:orders/* -status:finished timeout`. The
    /// grammar is in docs/reference/api.md.
    #[param(value_type = String, required = false, example = "wall>10s -status:finished")]
    #[serde(deserialize_with = "words")]
    filter: Option<Expression>,
}

impl WordsFilter {
    /// Adds it to what a store is asked for.
    pub(crate) fn add_to(self, filter: &mut QueryFilter) {
        if let Some(expression) = self.filter {
            expression.add_to(filter);
        }
    }

    /// Adds it to what is counted from memory.
    ///
    /// # Errors
    /// Where it asks for texts that are in rows alone.
    pub(crate) fn add_to_counts(self, filter: &mut QueryFilter) -> Result<(), ApiError> {
        self.add_to(filter);
        if filter.asks_for_texts() {
            let allowed = "counts take all conditions but error, engine and words to search for";
            return Err(ApiError::invalid(format!("filter: {allowed}")));
        }
        Ok(())
    }
}

/// Reads a filter in words.
fn words<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Expression>, D::Error> {
    let text = String::deserialize(from)?;
    parse(&text).map(Some).map_err(|mistake| serde::de::Error::custom(format!("filter: {mistake}")))
}

/// The project a request for one query is limited to.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct ProjectFilter {
    /// Answers as if there were only this project's queries.
    #[param(example = "default")]
    project: Option<String>,
}

impl ProjectFilter {
    /// The project.
    pub(crate) fn name(&self) -> Option<&str> {
        self.project.as_deref()
    }

    /// Whether what belongs to a project is kept.
    pub(crate) fn keeps(&self, project: &str) -> bool {
        self.project.as_ref().is_none_or(|kept| kept == project)
    }
}

/// The project of what is made, where none is named.
pub(crate) const PROJECT_DEFAULT: &str = "default";

/// The project that something is written in.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct WrittenIn {
    /// The project it belongs to. If access is to one project, it is that one.
    #[param(min_length = 1, max_length = 512, pattern = r"^[^\x00]+$", default = "default", example = "etl")]
    project: String,
}

impl Default for WrittenIn {
    fn default() -> Self {
        Self { project: PROJECT_DEFAULT.to_owned() }
    }
}

impl WrittenIn {
    /// Its name.
    ///
    /// # Errors
    /// 400 where no project has such a name.
    pub(crate) fn name(self) -> Result<String, ApiError> {
        let some = bounded("project", Some(self.project.clone()), NAME_CHARS)?;
        // As it was given: a project may begin or end with spaces.
        some.map(|_| self.project).ok_or_else(|| ApiError::invalid("project: must not be empty"))
    }
}

// What a list is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
enum Sort {
    Started,
    Wall,
    Cpu,
    Rows,
    Read,
    Spilled,
    Memory,
    Warnings,
}

impl Sort {
    fn field(self) -> Option<NumberField> {
        match self {
            Self::Started => None,
            Self::Wall => Some(NumberField::Wall),
            Self::Cpu => Some(NumberField::Cpu),
            Self::Rows => Some(NumberField::Rows),
            Self::Read => Some(NumberField::Read),
            Self::Spilled => Some(NumberField::Spilled),
            Self::Memory => Some(NumberField::Memory),
            Self::Warnings => Some(NumberField::Warnings),
        }
    }
}

// In which order a list is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
enum Direction {
    Newest,
    Oldest,
    Desc,
    Asc,
}

impl From<Direction> for Order {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::Newest | Direction::Desc => Self::Newest,
            Direction::Oldest | Direction::Asc => Self::Oldest,
        }
    }
}

/// How a list is ordered and cut into pages.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct PageParams {
    /// Keeps queries whose label or error text holds this text in any case, or whose id holds it.
    #[param(example = "daily")]
    q: Option<String>,
    /// What the list is sorted by: `started`, which is the default, `wall`, `cpu`, `rows`, `read`, `spilled`, `memory`
    /// or `warnings`. Queries of which it is not known come last in either order.
    #[param(value_type = Sort, inline, required = false, example = "started")]
    sort: Option<Sort>,
    /// `newest` or `desc` (the largest first), which is the default, or `oldest` or `asc` (the smallest first). Queries
    /// of one figure stand by their start, the newest first where the largest are.
    #[param(value_type = Direction, inline, required = false, example = "newest")]
    order: Option<Direction>,
    /// Queries on the page.
    #[param(minimum = 1, maximum = 1000, default = 100, example = 20)]
    #[serde(deserialize_with = "limit")]
    limit: Option<u64>,
    /// Queries to skip, from 0 to 9223372036854775807; not together with `cursor`.
    #[param(minimum = 0, example = 0)]
    #[serde(deserialize_with = "offset")]
    offset: Option<i64>,
    /// Goes on where a page ended: taken from the `Link` header of that page, and of its sort and order.
    #[param(
        pattern = "^(A[Q-Za-v][A-Za-z0-9_-]{20}[AEIMQUYcgkosw048]|[E-Za-c][A-Za-z0-9_-]{35})$",
        example = "ARjp2vei98pLAAAAAAAAAAE"
    )]
    cursor: Option<String>,
}

/// Reads how many entries a page has.
pub(crate) fn limit<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    whole(from, 1..=PAGE_MAX as u64)
}

fn offset<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    whole(from, 0..=i64::MAX)
}

/// How a list is ordered and cut into pages.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Paging {
    pub(crate) search: Option<String>,
    /// The figure it is sorted by; by the start without one.
    pub(crate) sort: Option<NumberField>,
    pub(crate) order: Order,
    pub(crate) limit: usize,
    pub(crate) offset: u64,
    pub(crate) cursor: Option<String>,
}

impl PageParams {
    /// # Errors
    /// 400 when a page is asked for in two ways.
    pub(crate) fn paging(self) -> Result<Paging, ApiError> {
        if self.offset.is_some() && self.cursor.is_some() {
            return Err(ApiError::invalid("offset: not allowed together with cursor"));
        }
        Ok(Paging {
            search: self.q.filter(|text| !text.is_empty()),
            sort: self.sort.and_then(Sort::field),
            order: self.order.map(Order::from).unwrap_or_default(),
            limit: self.limit.map_or(PAGE_DEFAULT, |limit| limit as usize),
            offset: self.offset.map_or(0, i64::cast_unsigned),
            cursor: self.cursor,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::asked::read;
    use super::*;

    fn paging(query: &str) -> Result<(Order, usize, u64), String> {
        read(Some(query))
            .and_then(PageParams::paging)
            .map(|paging| (paging.order, paging.limit, paging.offset))
            .map_err(|e| e.to_string())
    }

    fn filter(query: &str) -> Result<QueryFilter, ApiError> {
        Ok(read::<RunFilters>(Some(query))?.filter(read(Some(query))?))
    }

    #[test]
    fn defaults_and_limits() {
        assert_eq!(paging(""), Ok((Order::Newest, 100, 0)));
        assert_eq!(
            paging("order=oldest&limit=1000&offset=7&what=ever&what=twice"),
            Ok((Order::Oldest, 1000, 7))
        );
    }

    #[test]
    fn refusals_name_the_parameter_and_what_it_takes() {
        for (query, reason) in [
            ("limit=0", "limit: \"0\" is not a whole number from 1 to 1000"),
            ("limit=1001", "limit: \"1001\" is not a whole number from 1 to 1000"),
            ("limit=x", "limit: \"x\" is not a whole number from 1 to 1000"),
            ("limit=", "limit: \"\" is not a whole number from 1 to 1000"),
            ("offset=-1", "offset: \"-1\" is not a whole number from 0 to 9223372036854775807"),
            ("order=up", "order: \"up\" is not newest, oldest, desc or asc"),
            (
                "sort=size",
                "sort: \"size\" is not started, wall, cpu, rows, read, spilled, memory or warnings",
            ),
            ("limit=1&limit=2", "limit: given twice, once is allowed"),
            ("offset=1&cursor=x", "offset: not allowed together with cursor"),
        ] {
            assert_eq!(paging(query), Err(reason.into()));
        }
    }

    #[test]
    fn a_filter_in_words_is_read() {
        let filter = |query: &str| -> Result<QueryFilter, String> {
            let mut filter = QueryFilter::default();
            let words: WordsFilter = read(Some(query)).map_err(|error| error.to_string())?;
            words.add_to(&mut filter);
            Ok(filter)
        };
        let asked = filter("filter=wall%3E1s+label%3Ax").expect("valid");
        assert_eq!(
            (asked.expression.to_string(), asked.label),
            ("wall>1000ms".into(), Some(Is::Value("x".into())))
        );
        assert_eq!(filter("filter="), Ok(QueryFilter::default()));
        assert_eq!(
            filter("filter=wall%3E1").err().as_deref(),
            Some("filter: at character 6: \"1\" is not a duration such as 500ms, 10s, 2m, 1.5h or 1d")
        );
    }

    #[test]
    fn filters_are_read() {
        let filter = filter(
            "label=a%2Fb&engine_version=1.35&service=&status=failed&since=-5&until=1795206683609778763",
        );
        let filter = filter.expect("valid");
        assert_eq!(filter.label, Some(Is::Value("a/b".into())));
        assert_eq!(filter.engine_version, Some(Is::Value("1.35".into())));
        assert_eq!((filter.service, filter.environment), (Some(Is::Absent), None));
        assert_eq!((filter.status, filter.since_unix_ns), (Some(Status::Failed), Some(-5)));
        assert_eq!(filter.until_unix_ns, Some(1_795_206_683_609_778_763));
    }

    #[test]
    fn wrong_filters_are_refused() {
        for query in [
            "status=done",
            "status=",
            "since=now",
            "until=1.5",
            "until=99999999999999999999",
            "host=a&host=a",
        ] {
            assert!(filter(query).is_err(), "{query}");
        }
    }
}

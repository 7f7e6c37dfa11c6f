//! Parameters of the read API.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;

use percent_encoding::percent_decode_str;
use queryscope_protocol::limits::{PAGE_DEFAULT, PAGE_MAX};
use queryscope_store::{Is, Order, QueryFilter, Status, short_name};
use utoipa::IntoParams;

use crate::error::ApiError;

/// The parameters of one request; those nobody asks for are ignored. A value that is no text is `None`.
pub(crate) struct Params<'q>(Vec<(Cow<'q, str>, Option<Cow<'q, str>>)>);

impl<'q> Params<'q> {
    pub(crate) fn of(query: Option<&'q str>) -> Self {
        let pairs = query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
        let read = |pair: &'q str| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(key)?, decoded(value)))
        };
        Self(pairs.filter_map(read).collect())
    }

    /// The value of a parameter.
    ///
    /// # Errors
    /// 400 when it is given twice, or is no text.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, ApiError> {
        let mut values = self.0.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_deref());
        let value = values.next();
        if values.next().is_some() {
            return Err(ApiError::invalid(format!("{name}: given twice, once is allowed")));
        }
        match value {
            Some(None) => Err(ApiError::invalid(format!("{name}: the value is not percent-encoded UTF-8"))),
            Some(value) => Ok(value),
            None => Ok(None),
        }
    }

    /// The value of a parameter that `read` understands.
    ///
    /// # Errors
    /// 400 that names the parameter, its value and what it takes.
    pub(crate) fn value<T>(
        &self,
        name: &str,
        takes: impl Display,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, ApiError> {
        self.text(name)?
            .map(|text| {
                read(text).ok_or_else(|| {
                    let shown: String = text.chars().take(80).collect();
                    ApiError::invalid(format!("{name}: {shown:?} is not {takes}"))
                })
            })
            .transpose()
    }

    fn number<T: FromStr>(&self, name: &str, takes: &str) -> Result<Option<T>, ApiError> {
        self.value(name, takes, |text| text.parse().ok())
    }

    /// A filter on a name that may be absent: an empty value keeps queries without it. A long name is shortened as
    /// those of the queries are.
    fn is(&self, name: &str) -> Result<Option<Is>, ApiError> {
        Ok(self.text(name)?.map(|text| match text {
            "" => Is::Absent,
            text => Is::Value(short_name(text)),
        }))
    }
}

/// The text that a part of an address stands for; `None` where it stands for none: a `%` without two digits, or bytes
/// that are not UTF-8.
fn decoded(part: &str) -> Option<Cow<'_, str>> {
    let is_encoded = part
        .split('%')
        .skip(1)
        .all(|rest| rest.len() >= 2 && rest.as_bytes()[..2].iter().all(u8::is_ascii_hexdigit));
    if !is_encoded {
        return None;
    }
    if !part.contains('+') {
        return percent_decode_str(part).decode_utf8().ok();
    }
    let part = part.replace('+', " ");
    percent_decode_str(&part).decode_utf8().ok().map(|text| text.into_owned().into())
}

/// The filters every answer over several queries takes.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "says what `source_filter` reads")]
pub(crate) struct SourceFilters {
    /// Keeps queries of this project.
    #[param(example = "default")]
    project: Option<String>,
    /// Keeps queries with this label; empty keeps those without one.
    #[param(example = "orders/daily")]
    label: Option<String>,
    /// Keeps queries from processes with this service; empty keeps those without one.
    #[param(example = "orders-etl")]
    service: Option<String>,
    /// Keeps queries from processes with this environment; empty keeps those without one.
    #[param(example = "prod")]
    environment: Option<String>,
    /// Keeps queries from processes on this host.
    #[param(example = "worker-1")]
    host: Option<String>,
}

/// The filters every list takes beside [`SourceFilters`].
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "says what `filter` reads")]
pub(crate) struct RunFilters {
    /// Keeps queries with this plan fingerprint; empty keeps those without one.
    #[param(example = "238b6af6d50a")]
    fingerprint: Option<String>,
    /// Keeps queries in this state.
    #[param(inline, required = false, example = "finished")]
    status: super::summary::StatusName,
    /// Keeps queries that started at or after this, in Unix nanoseconds.
    #[param(example = 1_794_000_000_000_000_000_i64)]
    since: Option<i64>,
    /// Keeps queries that started at or before this, in Unix nanoseconds.
    #[param(example = 1_796_000_000_000_000_000_i64)]
    until: Option<i64>,
}

const UNIX_NS: &str = "a time in Unix nanoseconds";

/// Reads [`SourceFilters`].
pub(crate) fn source_filter(params: &Params<'_>) -> Result<QueryFilter, ApiError> {
    Ok(QueryFilter {
        project: params.text("project")?.map(Into::into),
        label: params.is("label")?,
        service: params.is("service")?,
        environment: params.is("environment")?,
        host: params.text("host")?.map(short_name),
        ..QueryFilter::default()
    })
}

/// Reads the common filters: [`SourceFilters`] and [`RunFilters`].
pub(crate) fn filter(params: &Params<'_>) -> Result<QueryFilter, ApiError> {
    Ok(QueryFilter {
        fingerprint: params.is("fingerprint")?,
        status: params
            .value("status", "running, finished, failed or unfinished", |text| text.parse::<Status>().ok())?,
        since_unix_ns: params.number("since", UNIX_NS)?,
        until_unix_ns: params.number("until", UNIX_NS)?,
        ..source_filter(params)?
    })
}

/// The project a request for one query is limited to.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "says what `text(\"project\")` reads")]
pub(crate) struct ProjectFilter {
    /// Answers as if there were only this project's queries.
    #[param(example = "default")]
    project: Option<String>,
}

/// How a list is ordered and cut into pages.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "says what `Paging` reads")]
pub(crate) struct PageParams {
    /// Keeps queries whose label or error text holds this text in any case, or whose id holds it.
    #[param(example = "daily")]
    q: Option<String>,
    /// `newest` first, which is the default, or `oldest` first.
    #[param(inline, required = false, example = "newest")]
    order: super::summary::OrderName,
    /// Queries on the page.
    #[param(minimum = 1, maximum = 1000, default = 100, example = 20)]
    limit: Option<u64>,
    /// Queries to skip, from 0 to 9223372036854775807; not together with `cursor`.
    #[param(minimum = 0, example = 0)]
    offset: Option<i64>,
    /// Goes on where a page ended: taken from the `Link` header of that page, and of its order.
    #[param(pattern = "^A[Q-Za-v][A-Za-z0-9_-]{20}[AEIMQUYcgkosw048]$", example = "ARjp2vei98pLAAAAAAAAAAE")]
    cursor: Option<String>,
}

/// How a list is ordered and cut into pages.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Paging<'p> {
    pub(crate) search: Option<&'p str>,
    pub(crate) order: Order,
    pub(crate) limit: usize,
    pub(crate) offset: u64,
    pub(crate) cursor: Option<&'p str>,
}

impl<'p> Paging<'p> {
    pub(crate) fn of(params: &'p Params<'_>) -> Result<Self, ApiError> {
        let order = params.value("order", "newest or oldest", |text| match text {
            "newest" => Some(Order::Newest),
            "oldest" => Some(Order::Oldest),
            _ => None,
        })?;
        let takes = format!("a whole number from 1 to {PAGE_MAX}");
        let limit = params
            .value("limit", takes, |text| text.parse().ok().filter(|limit| (1..=PAGE_MAX).contains(limit)))?;
        let takes = "a whole number from 0 to 9223372036854775807";
        let offset =
            params.value("offset", takes, |text| text.parse().ok().filter(|n| i64::try_from(*n).is_ok()))?;
        let cursor = params.text("cursor")?;
        if offset.is_some() && cursor.is_some() {
            return Err(ApiError::invalid("offset: not allowed together with cursor"));
        }
        Ok(Self {
            search: params.text("q")?.filter(|text| !text.is_empty()),
            order: order.unwrap_or_default(),
            limit: limit.unwrap_or(PAGE_DEFAULT),
            offset: offset.unwrap_or(0),
            cursor,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paging(query: &str) -> Result<(Order, usize, u64), String> {
        let params = Params::of(Some(query));
        Paging::of(&params)
            .map(|paging| (paging.order, paging.limit, paging.offset))
            .map_err(|e| e.to_string())
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
            ("order=up", "order: \"up\" is not newest or oldest"),
            ("limit=1&limit=2", "limit: given twice, once is allowed"),
            ("offset=1&cursor=x", "offset: not allowed together with cursor"),
        ] {
            assert_eq!(paging(query), Err(reason.into()));
        }
    }

    #[test]
    fn filters_are_read() {
        let params =
            Params::of(Some("label=a%2Fb&service=&status=failed&since=-5&until=1795206683609778763"));
        let filter = filter(&params).expect("valid");
        assert_eq!(filter.label, Some(Is::Value("a/b".into())));
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
            assert!(filter(&Params::of(Some(query))).is_err(), "{query}");
        }
    }
}

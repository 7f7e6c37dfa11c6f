//! `GET /api/queries`.

use std::sync::Arc;

use axum::Json;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use queryscope_store::{ListRequest, QueryFilter, SortBy};

use super::asked::Asked;
use super::cursor;
use super::params::{PageParams, RunFilters, SourceFilters, WordsFilter};
use super::summary::QuerySummary;
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// Lists queries.
///
/// Every page that is not the last carries a `Link` header with `rel="next"`. Following it neither skips nor
/// repeats a query while new ones arrive, and costs the same on every page.
#[utoipa::path(
    get,
    path = "/api/queries",
    tag = "read",
    params(SourceFilters, RunFilters, WordsFilter, PageParams),
    responses(
        (
            status = 200,
            description = "Queries in the order asked for",
            body = Vec<QuerySummary>,
            headers(("Link" = String, description = "Address of the next page, where there is one"))
        ),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    Asked(source): Asked<SourceFilters>,
    Asked(runs): Asked<RunFilters>,
    Asked(words): Asked<WordsFilter>,
    Asked(page): Asked<PageParams>,
) -> Result<Response, ApiError> {
    let paging = page.paging()?;
    let order = paging.order;
    let mut filter = QueryFilter { search: paging.search, ..runs.filter(source) };
    words.add_to(&mut filter);
    let (sort, after) = match (paging.sort, paging.cursor) {
        (None, cursor) => (None, cursor.map(|text| cursor::read(order, &text)).transpose()?),
        (Some(field), None) => (Some(SortBy { field, after: None }), None),
        (Some(field), Some(text)) => {
            let (sort, after) = cursor::read_sorted(order, field, &text)?;
            (Some(sort), Some(after))
        }
    };
    let request = ListRequest { filter, sort, order, after, offset: paging.offset, limit: paging.limit + 1 };
    let mut listed = app.store.queries(request).await?;
    let cursor = cursor::cut(&mut listed, paging.limit).map(|last| match paging.sort {
        None => cursor::write(order, last.position),
        Some(field) => cursor::write_sorted(order, field, field.of(&last.query), last.position),
    });
    let next = cursor.map(|cursor| cursor::link("/api/queries", query.as_deref(), &cursor));
    let page: Vec<QuerySummary> = listed.into_iter().map(|listed| listed.query.into()).collect();
    Ok((next.map(|link| [link]), Json(page)).into_response())
}

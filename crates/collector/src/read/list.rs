//! `GET /api/queries`.

use std::sync::Arc;

use axum::Json;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use queryscope_store::{ListRequest, QueryFilter};

use super::asked::Asked;
use super::cursor;
use super::params::{PageParams, RunFilters, SourceFilters};
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
    params(SourceFilters, RunFilters, PageParams),
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
    Asked(page): Asked<PageParams>,
) -> Result<Response, ApiError> {
    let paging = page.paging()?;
    let order = paging.order;
    let filter = QueryFilter { search: paging.search, ..runs.filter(source) };
    let after = paging.cursor.map(|text| cursor::read(order, &text)).transpose()?;
    let request =
        ListRequest { filter, sort: None, order, after, offset: paging.offset, limit: paging.limit + 1 };
    let mut listed = app.store.queries(request).await?;
    let next = cursor::cut(&mut listed, paging.limit)
        .map(|last| cursor::link("/api/queries", query.as_deref(), &cursor::write(order, last.position)));
    let page: Vec<QuerySummary> = listed.into_iter().map(|listed| listed.query.into()).collect();
    Ok((next.map(|link| [link]), Json(page)).into_response())
}

//! `GET /api/changes` and `GET /api/changes/{id}`.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use queryscope_diagnosis::{Change, Kind, State as ChangeState};
use queryscope_protocol::limits::PAGE_DEFAULT;
use queryscope_store::{ChangePlace, ChangesRequest, Is};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::asked::Asked;
use super::cursor;
use super::params::{ProjectFilter, SourceFilters, limit, unix_ns};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};
use crate::evaluation;

/// Form of a cursor.
const FORM: u8 = 9;

/// Which changes are asked for.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct ChangesParams {
    /// Keeps changes of this kind.
    #[param(value_type = Kind, inline, required = false, example = "slower")]
    kind: Option<Kind>,
    /// Keeps changes in this state.
    #[param(value_type = ChangeState, inline, required = false, example = "open")]
    state: Option<ChangeState>,
    /// Keeps changes whose first run started at or after this, in Unix nanoseconds.
    #[param(example = 1_794_000_000_000_000_000_i64)]
    #[serde(deserialize_with = "unix_ns")]
    since: Option<i64>,
    /// Keeps changes whose first run started at or before this, in Unix nanoseconds.
    #[param(example = 1_796_000_000_000_000_000_i64)]
    #[serde(deserialize_with = "unix_ns")]
    until: Option<i64>,
    /// Changes on the page.
    #[param(minimum = 1, maximum = 1000, default = 100, example = 20)]
    #[serde(deserialize_with = "limit")]
    limit: Option<u64>,
    /// Goes on where a page ended: its `next`, for the same parameters.
    #[param(pattern = "^[A-Za-z0-9_-]+$", example = "Cg")]
    cursor: Option<String>,
}

/// Changes of queries.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Changes {
    /// Those with the most wall time a day at stake first.
    changes: Vec<Change>,
    /// The `cursor` of the next page; null where this is the last.
    next: Option<String>,
}

/// Lists what changed in queries: since when, why, and what it costs.
///
/// Each run that ended is compared with the runs of its query and environment before it, within seconds of its
/// end. A change is stored once, and moves on as runs arrive: its figures grow, and it is over when runs are again as
/// they were before. `slower` and `failing` changes are regressions; `data_grew` is none.
///
/// The filters `environment` and `host` keep changes of the runs of that environment or of that host alone; a change of
/// the runs of all hosts has no host. A page that is not the last names the next in `next` and in the `Link` header.
/// Costs grow while pages are read: a change may be on two pages or on none.
#[utoipa::path(
    get,
    path = "/api/changes",
    tag = "read",
    params(SourceFilters, ChangesParams),
    responses(
        (
            status = 200,
            description = "The changes",
            body = Changes,
            headers(("Link" = String, description = "Address of the next page, where there is one"))
        ),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn changes(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    Asked(source): Asked<SourceFilters>,
    Asked(asked): Asked<ChangesParams>,
) -> Result<Response, ApiError> {
    let request = request(source, &asked)?;
    let limit = request.limit;
    let mut found = app.store.changes(ChangesRequest { limit: limit + 1, ..request }).await?;
    let next = cursor::cut(&mut found, limit).map(|last| write_cursor(&last.place()));
    let link = next.as_ref().map(|next| [cursor::link("/api/changes", query.as_deref(), next)]);
    let changes = found.iter().map(evaluation::change).collect::<Result<_, _>>()?;
    Ok((link, Json(Changes { changes, next })).into_response())
}

/// One change.
#[utoipa::path(
    get,
    path = "/api/changes/{id}",
    tag = "read",
    params(
        (
            "id" = String, Path,
            description = "Id of the change",
            example = "slower-01a1faa81bd977b297ab860dd7026506"
        ),
        ProjectFilter
    ),
    responses(
        (status = 200, description = "The change", body = Change),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 404, description = "There is no such change", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn change(
    State(app): State<Arc<App>>,
    id: Result<Path<String>, PathRejection>,
    Asked(project): Asked<ProjectFilter>,
) -> Result<Json<Change>, ApiError> {
    // Only what is no UTF-8 is rejected, and no id holds that.
    let Path(id) = id.map_err(|_| ApiError::not_found("there is no change of this id"))?;
    let found = app.store.change(&id).await?.filter(|change| project.keeps(&change.key.project));
    let found = found.ok_or_else(|| {
        let shown: String = id.chars().take(80).collect();
        ApiError::not_found(format!("there is no change {shown:?}"))
    })?;
    Ok(Json(evaluation::change(&found)?))
}

fn request(source: SourceFilters, asked: &ChangesParams) -> Result<ChangesRequest, ApiError> {
    let source = source.filter();
    Ok(ChangesRequest {
        project: source.project,
        service: source.service,
        // A query without a label has no changes.
        label: source.label.map(|label| match label {
            Is::Value(label) => label,
            Is::Absent => String::new(),
        }),
        environment: source.environment,
        host: source.host,
        kind: asked.kind.map(|kind| kind.name().to_owned()),
        state: asked.state.map(|state| state.name().to_owned()),
        since_unix_ns: asked.since,
        until_unix_ns: asked.until,
        after: asked.cursor.as_deref().map(read_cursor).transpose()?,
        limit: asked.limit.map_or(PAGE_DEFAULT, |limit| limit as usize),
        without_body: false,
    })
}

/// The cost goes by its bits: it comes back as it was.
fn write_cursor(place: &ChangePlace) -> String {
    cursor::write_page(FORM, &(place.wall_ms_a_day.to_bits(), &place.id))
}

fn read_cursor(text: &str) -> Result<ChangePlace, ApiError> {
    let (bits, id) = cursor::read_page::<(u64, String)>(FORM, text)?;
    let wall_ms_a_day = f64::from_bits(bits);
    if wall_ms_a_day.is_finite() {
        Ok(ChangePlace { wall_ms_a_day, id })
    } else {
        Err(ApiError::invalid("cursor: not the next of such a page"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::asked::read;
    use super::*;

    #[test]
    fn a_cursor_comes_back_and_no_other_number() {
        let place = ChangePlace { wall_ms_a_day: 0.1 + 0.2, id: "slower-ä".into() };
        assert_eq!(read_cursor(&write_cursor(&place)), Ok(place.clone()));
        let infinite = ChangePlace { wall_ms_a_day: f64::INFINITY, ..place };
        assert!(read_cursor(&write_cursor(&infinite)).is_err());
    }

    #[test]
    fn refusals_name_the_parameter_and_what_it_takes() {
        for (query, reason) in [
            ("kind=slow", "kind: \"slow\" is not slower, faster, failing or data_grew"),
            ("state=", "state: \"\" is not open, recovered or superseded"),
            ("limit=0", "limit: \"0\" is not a whole number from 1 to 1000"),
            ("since=now", "since: \"now\" is not a time in Unix nanoseconds"),
            ("cursor=x", "cursor: not one from the Link header of such a page"),
        ] {
            let refused =
                read(Some(query)).and_then(|asked: ChangesParams| request(SourceFilters::default(), &asked));
            let refused = refused.map(drop).map_err(|error| error.to_string());
            assert_eq!(refused, Err(reason.into()), "{query}");
        }
    }
}

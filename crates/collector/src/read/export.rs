//! `GET /api/export/…`: telemetry as tables.
//!
//! A table is read from the store some thousand rows at a time, encoded, and written as the socket takes it: memory
//! does not grow with it. Where reading fails on the way, the answer is cut off, so that a part never passes for the
//! whole. Prior art: `COPY … TO STDOUT` of PostgreSQL.

mod columnar;
mod details;
mod issues;
mod lines;
mod runs;
mod source;
mod table;

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, stream};
use queryscope_issues::{Kind, State as IssueState};
use queryscope_store::{IssuesRequest, QueryFilter, short_name};
use serde::Deserialize;
use tokio::sync::OwnedSemaphorePermit;

use super::asked::Asked;
use super::issues::states;
use super::params::{RunFilters, SourceFilters, WordsFilter, is};
use super::stream::PIECE_BYTES;
use crate::app::App;
use crate::error::{ApiError, ErrorBody};
use source::{Of, Source};
use table::{Column, EncodeError, Encoder};

/// Tables that are made at once: each holds some thousand rows.
pub(crate) const EXPORTS_MAX: usize = 4;

// As what a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Parquet,
    Csv,
    Json,
}

impl Format {
    const fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Parquet => "application/vnd.apache.parquet",
            Self::Csv => "text/csv; charset=utf-8",
            Self::Json => "application/x-ndjson",
        })
    }

    const fn ending(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Csv => "csv",
            Self::Json => "jsonl",
        }
    }

    fn encoder(self, columns: &'static [Column]) -> Result<Box<dyn Encoder>, EncodeError> {
        Ok(match self {
            Self::Parquet => Box::new(columnar::Parquet::new(columns)?),
            Self::Csv => Box::new(lines::Csv::new(columns)),
            Self::Json => Box::new(lines::JsonLines::new(columns)),
        })
    }
}

/// As what a table is written.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct FormatParams {
    /// `parquet`, which is the default, `csv`, or `json` for an object a line.
    #[param(value_type = Format, inline, required = false, example = "parquet")]
    format: Option<Format>,
}

/// Which runs a table is of, beside the filters of lists.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct SearchParams {
    /// Keeps queries whose label or error text holds this text in any case, or whose id holds it.
    #[param(example = "daily")]
    q: Option<String>,
}

/// Which issues a table is of.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct IssueFilters {
    /// Keeps issues of this project.
    #[param(example = "default")]
    project: Option<String>,
    /// Keeps issues of queries with this label.
    #[param(example = "orders/daily")]
    label: Option<String>,
    /// Keeps issues of queries with this service; empty keeps those without one.
    #[param(example = "orders-etl")]
    service: Option<String>,
    /// Keeps issues of this kind.
    #[param(value_type = Kind, inline, required = false, example = "slower")]
    kind: Option<Kind>,
    /// Keeps issues in this state, or in one of several, separated by commas.
    #[param(value_type = String, required = false, example = "open,regressed")]
    #[serde(deserialize_with = "states")]
    state: Option<Vec<IssueState>>,
}

macro_rules! export_of_runs {
    ($(#[$doc:meta])* $name:ident, $path:literal, $of:expr, $columns:expr) => {
        $(#[$doc])*
        #[utoipa::path(
            get,
            path = $path,
            tag = "read",
            params(SourceFilters, RunFilters, WordsFilter, SearchParams, FormatParams),
            responses(
                (
                    status = 200,
                    description = "The table, the oldest runs first",
                    content(
                        (String = "application/vnd.apache.parquet"),
                        (String = "text/csv; charset=utf-8"),
                        (String = "application/x-ndjson"),
                    )
                ),
                (status = 400, description = "A parameter is invalid", body = ErrorBody),
                (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
                (status = 503, description = "Reading failed, or too many tables are being made", body = ErrorBody),
            )
        )]
        pub(crate) async fn $name(
            State(app): State<Arc<App>>,
            Asked(source): Asked<SourceFilters>,
            Asked(runs): Asked<RunFilters>,
            Asked(words): Asked<WordsFilter>,
            Asked(search): Asked<SearchParams>,
            Asked(format): Asked<FormatParams>,
        ) -> Result<Response, ApiError> {
            let filter = filter(&app, runs.filter(source), words, search);
            answer(app, stringify!($name), &$columns, Source::of_runs($of, filter), format).await
        }
    };
}

export_of_runs! {
    /// Runs as a table: what `/api/queries` says of each.
    ///
    /// `started_at` is a point in time, `started_unix_ns` the same as a number, `rules` are separated by commas. A cell
    /// of CSV that a spreadsheet would take for a formula begins with an apostrophe. An answer that is cut off was not
    /// read to its end.
    runs, "/api/export/runs", Of::Runs, runs::COLUMNS
}
export_of_runs! {
    /// Nodes of the physical plans of runs that do not run, as a table, with their counters.
    ///
    /// They are read from the recordings: ask for a stretch of time, or a label.
    nodes, "/api/export/nodes", Of::Nodes, details::NODES
}
export_of_runs! {
    /// Findings of runs that do not run, as a table: those that senders sent, else those of this service.
    ///
    /// They are read from the recordings: ask for a stretch of time, or a label.
    findings, "/api/export/findings", Of::Findings, details::FINDINGS
}

/// Issues as a table: what `/api/issues` says of each.
#[utoipa::path(
    get,
    path = "/api/export/issues",
    tag = "read",
    params(IssueFilters, FormatParams),
    responses(
        (
            status = 200,
            description = "The table, those with the most wall time a day at stake first",
            content(
                (String = "application/vnd.apache.parquet"),
                (String = "text/csv; charset=utf-8"),
                (String = "application/x-ndjson"),
            )
        ),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 503, description = "Reading failed, or too many tables are being made", body = ErrorBody),
    )
)]
pub(crate) async fn exported_issues(
    State(app): State<Arc<App>>,
    Asked(asked): Asked<IssueFilters>,
    Asked(format): Asked<FormatParams>,
) -> Result<Response, ApiError> {
    let request = IssuesRequest {
        project: asked.project,
        service: asked.service.as_deref().map(is),
        label: asked.label.as_deref().map(short_name),
        kind: asked.kind,
        states: asked.state.unwrap_or_default(),
        after: None,
        limit: 0,
    };
    answer(app, "issues", &issues::COLUMNS, Source::of_issues(request), format).await
}

/// What starts from now on is left out: a table ends.
fn filter(app: &App, mut filter: QueryFilter, words: WordsFilter, search: SearchParams) -> QueryFilter {
    filter.search = search.q.filter(|text| !text.is_empty());
    words.add_to(&mut filter);
    let now = app.clock.unix_ns();
    filter.until_unix_ns = Some(filter.until_unix_ns.map_or(now, |until| until.min(now)));
    filter
}

async fn answer(
    app: Arc<App>,
    name: &str,
    columns: &'static [Column],
    source: Source,
    format: FormatParams,
) -> Result<Response, ApiError> {
    let permit = Arc::clone(&app.exports).try_acquire_owned();
    let permit =
        permit.map_err(|_| ApiError::overloaded("as many tables are being made as may be: try again"))?;
    let format = format.format.unwrap_or_default();
    let failed = |error: EncodeError| {
        tracing::error!(error = &error as &dyn std::error::Error, "a table cannot be written");
        ApiError::unavailable("the table cannot be written")
    };
    let encoder = format.encoder(columns).map_err(failed)?;
    let mut table = Table { app, source, encoder, is_ended: false, _permit: permit };
    // What cannot be read from the beginning is an error, not a table that is cut off.
    let first = table.piece().await.map_err(|error| match error {
        Broken::Read(error) => error,
        Broken::Write(error) => failed(error),
    })?;
    let name = format!("attachment; filename=\"{name}.{}\"", format.ending());
    let name = HeaderValue::try_from(name).unwrap_or(HeaderValue::from_static("attachment"));
    let headers = [(header::CONTENT_TYPE, format.content_type()), (header::CONTENT_DISPOSITION, name)];
    Ok((headers, Body::from_stream(pieces(first, table))).into_response())
}

fn pieces(first: Option<Vec<u8>>, table: Table) -> impl Stream<Item = Result<Bytes, Broken>> {
    stream::try_unfold((first, table), |(first, mut table)| async move {
        let piece = match first {
            Some(first) => Some(first),
            None => table.piece().await.inspect_err(|error| {
                tracing::warn!(error = error as &dyn std::error::Error, "a table is cut off");
            })?,
        };
        Ok(piece.map(|piece| (Bytes::from(piece), (None, table))))
    })
}

/// A table on its way.
struct Table {
    app: Arc<App>,
    source: Source,
    encoder: Box<dyn Encoder>,
    is_ended: bool,
    _permit: OwnedSemaphorePermit,
}

/// Why a table ends before its end.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error(transparent)]
    Read(#[from] ApiError),
    #[error(transparent)]
    Write(#[from] EncodeError),
}

impl Table {
    /// Its next bytes; `None` at the end.
    async fn piece(&mut self) -> Result<Option<Vec<u8>>, Broken> {
        let mut piece = self.encoder.take();
        while piece.len() < PIECE_BYTES && !self.is_ended {
            if let Some(rows) = self.source.next(&self.app).await? {
                self.encoder.write(rows)?;
            } else {
                self.encoder.finish()?;
                self.is_ended = true;
            }
            piece.append(&mut self.encoder.take());
        }
        Ok((!piece.is_empty()).then_some(piece))
    }
}

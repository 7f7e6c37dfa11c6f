//! `GET /api/facets`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use queryscope_protocol::named_version;
use queryscope_store::{FacetValue, Facets};

use super::asked::Asked;
use super::params::{RunFilters, SourceFilters, WordsFilter};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// Counts queries by service, environment, host, versions of engine and program, and status.
///
/// Each field is counted under the filters on the others, the most frequent value first. A value that occurs
/// under the filters on project, label and time is listed also when it has no queries under the rest.
///
/// A `filter` in words cannot ask for `error`, `engine` or words to search for here. Its figures but `wall` are rounded
/// to 0.05 %.
#[utoipa::path(
    get,
    path = "/api/facets",
    tag = "read",
    params(SourceFilters, RunFilters, WordsFilter),
    responses(
        (status = 200, description = "Counts by field", body = Facets),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 503, description = "Reading failed", body = ErrorBody),
    )
)]
pub(crate) async fn facets(
    State(app): State<Arc<App>>,
    Asked(source): Asked<SourceFilters>,
    Asked(runs): Asked<RunFilters>,
    Asked(words): Asked<WordsFilter>,
) -> Result<Json<Facets>, ApiError> {
    let (store, mut filter) = (Arc::clone(&app.store), runs.filter(source));
    words.add_to_counts(&mut filter)?;
    let project = filter.project.clone();
    let (mut facets, _turn) = app.answers.counts.analyse(async move { store.facets(filter).await }).await?;
    if facets.engine_version.iter().any(|version| version.value.is_some()) {
        let seen = app.store.deploys().engine_versions(project.as_deref()).await?;
        for FacetValue { value, engines, .. } in &mut facets.engine_version {
            let Some(value) = value else { continue };
            let is_it =
                |engine: &Option<String>, version: &str| named_version(engine.as_deref(), value) == version;
            engines.extend(
                seen.iter()
                    .filter(|(engine, version)| is_it(engine, version))
                    .map(|(engine, _)| engine.clone()),
            );
        }
    }
    Ok(Json(facets))
}

//! `GET /api/places`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use queryscope_delivery::Price;
use queryscope_history::Place;
use queryscope_store::{OwnerOf, Places};
use serde::Serialize;
use utoipa::ToSchema;

use super::asked::Asked;
use super::params::{RunFilters, SourceFilters};
use crate::app::App;
use crate::error::{ApiError, ErrorBody};

/// What ran where, and whose it was: the place of the most wall time first, then by name.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Places, example = json!({
    "service": [{
        "value": "orders-etl", "runs": 40, "running": 1, "failed": 2, "unfinished": 0, "total_wall_ms": 81_236.5,
        "total_cpu_ms": 204_800.0, "cpu_runs": 39, "total_bytes_read": 12_884_901_888_u64, "bytes_read_runs": 39
    }],
    "environment": [{
        "value": "prod", "runs": 40, "running": 1, "failed": 2, "unfinished": 0, "total_wall_ms": 81_236.5,
        "total_cpu_ms": 204_800.0, "cpu_runs": 39, "total_bytes_read": 12_884_901_888_u64, "bytes_read_runs": 39
    }],
    "host": [{
        "value": "worker-1", "runs": 40, "running": 1, "failed": 2, "unfinished": 0, "total_wall_ms": 81_236.5,
        "total_cpu_ms": 204_800.0, "cpu_runs": 39, "total_bytes_read": 12_884_901_888_u64, "bytes_read_runs": 39
    }],
    "owner": [{
        "value": "team-orders", "runs": 40, "running": 1, "failed": 2, "unfinished": 0, "total_wall_ms": 81_236.5,
        "total_cpu_ms": 204_800.0, "cpu_runs": 39, "total_bytes_read": 12_884_901_888_u64, "bytes_read_runs": 39
    }],
    "price": {"per_core_hour": 0.05, "currency": "EUR"}
}))]
pub(crate) struct PlacesAnswer {
    /// What the sending processes are.
    service: Vec<Place>,
    /// Where they run.
    environment: Vec<Place>,
    /// Their machines.
    host: Vec<Place>,
    /// Owners of the labels of the runs, by the rules of the file of settings that look at labels; null is nobody.
    /// Empty where the file has no such rule.
    owner: Vec<Place>,
    /// What CPU time costs, by the file of settings; null where it does not say so.
    price: Option<PriceAnswer>,
}

/// What CPU time costs.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Price)]
pub(crate) struct PriceAnswer {
    /// An hour of one core.
    per_core_hour: f64,
    /// What it is counted in.
    currency: String,
}

impl PlacesAnswer {
    fn new(places: Places, price: Option<&Price>) -> Self {
        let Places { service, environment, host, owner } = places;
        let price = price.map(|price| PriceAnswer {
            per_core_hour: price.per_core_hour,
            currency: price.currency.clone(),
        });
        Self { service, environment, host, owner, price }
    }
}

/// Tells what ran where: runs by state, their wall time, their CPU time and the bytes they read, by service,
/// environment, host and owner, the place of the most wall time first. Runs that failed count with the time they took.
#[utoipa::path(
    get,
    path = "/api/places",
    tag = "read",
    params(SourceFilters, RunFilters),
    responses(
        (status = 200, description = "The places", body = PlacesAnswer),
        (status = 400, description = "A parameter is invalid", body = ErrorBody),
        (status = 403, description = "The Host is a name that is not served", body = ErrorBody),
        (status = 503, description = "Reading failed, or too many others read", body = ErrorBody),
    )
)]
pub(crate) async fn places(
    State(app): State<Arc<App>>,
    Asked(source): Asked<SourceFilters>,
    Asked(runs): Asked<RunFilters>,
) -> Result<Json<PlacesAnswer>, ApiError> {
    let (store, filter, config) =
        (Arc::clone(&app.store), runs.filter(source), app.settings.delivery.clone());
    let owner_of = config.clone().filter(|config| config.owners.look_at_labels()).map(|config| {
        let owner_of = move |label: &str| config.owners.of(label, None).map(ToOwned::to_owned);
        Arc::new(owner_of) as OwnerOf
    });
    let answer = async move { store.place_totals(filter, owner_of).await };
    let (places, _turn) = app.answers.counts.analyse(answer).await?;
    Ok(Json(PlacesAnswer::new(places, config.as_ref().and_then(|config| config.price.as_ref()))))
}

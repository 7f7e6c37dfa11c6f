//! What a user pastes to send from Python.

/// A program that reports its Polars queries to the service.
///
/// The sender of today reads its token from a variable of another name than `TELEMETRY_TOKEN`, so it is given.
pub(crate) fn polars(url: &str, token: &str) -> String {
    format!(
        "\
pip install polars polars-telemetry

import polars as pl
import polars_telemetry as pt
from polars_telemetry.export import HttpEventExporter

pt.install(
    exporter=HttpEventExporter(
        \"{url}\",
        token=\"{token}\",
        service=\"my-service\",
        environment=\"dev\",
    )
)

with pt.label(\"first-query\"):
    pl.LazyFrame({{\"n\": range(1_000_000)}}).group_by(pl.col(\"n\") % 10).len().collect()
"
    )
}

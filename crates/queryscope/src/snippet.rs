//! What a user pastes to send from Python.

/// A program that reports its Polars queries to the service.
pub(crate) fn polars(url: &str, token: &str) -> String {
    format!(
        "\
pip install polars polars-telemetry

import polars_telemetry
polars_telemetry.install(polars_telemetry.HttpEventExporter(\"{url}\", token=\"{token}\"))
"
    )
}

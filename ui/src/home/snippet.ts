// What a Python program needs to send its queries here.

export const INSTALL = "pip install polars polars-telemetry";

export function snippet(url: string, token: string): string {
  return `import polars as pl
import polars_telemetry as pt
from polars_telemetry.export import HttpEventExporter

pt.install(
    exporter=HttpEventExporter(
        ${JSON.stringify(url)},
        token=${JSON.stringify(token === "" ? "TOKEN" : token)},
        service="my-service",
        environment="dev",
    )
)

with pt.label("first-query"):
    pl.LazyFrame({"n": range(1_000_000)}).group_by(pl.col("n") % 10).len().collect()`;
}

// What a Python program needs to send its queries here. The service prints the same at its first start.

export const INSTALL = "pip install polars target/wheels/queryscope-*.whl";

export function snippet(url: string, token: string): string {
  return `import polars as pl
import queryscope

queryscope.install(
    ${JSON.stringify(url)},
    token=${JSON.stringify(token === "" ? "TOKEN" : token)},
    service="my-service",
    environment="dev",
)

with queryscope.label("first-query"):
    n = pl.LazyFrame({"n": range(40_000)})
    n.join(n, how="cross").group_by(pl.col("n") * pl.col("n_right") % 7).len().collect()`;
}

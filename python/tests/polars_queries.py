"""Queries of Polars that two senders are compared on: each kind of plan node, and each way a query ends."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import polars as pl
from polars.io.plugins import register_io_source

ROWS = 2_000


def numbers() -> pl.LazyFrame:
    days = [datetime.date(2026, 1, 1) + datetime.timedelta(days=each % 90) for each in range(ROWS)]
    texts = ["x", "yy"] * (ROWS // 2)
    return pl.LazyFrame({"a": range(ROWS), "b": [1, 2, 3, 4] * (ROWS // 4), "day": days, "t": texts})


def names() -> pl.LazyFrame:
    return pl.LazyFrame({"b": [1, 2, 3, 5], "name": ["one", "two", "three", "five"]})


def doubled(value: Any) -> Any:
    return value * 2


def batches(*_: object) -> Iterator[pl.DataFrame]:
    for first in range(3):
        yield pl.DataFrame({"n": [first, first + 1]})


def files(folder: Path) -> None:
    """What the queries read."""
    for part in range(3):
        numbers().slice(part * 500, 500).collect(engine="in-memory").write_parquet(folder / f"part-{part}.parquet")
    numbers().collect(engine="in-memory").write_csv(folder / "numbers.csv")


def queries(folder: Path) -> dict[str, Callable[[], Any]]:
    """Each query by its label. Those that fail raise."""
    few = pl.col("a") < 100

    def lazy(frame: pl.LazyFrame) -> Callable[[], Any]:
        return lambda: frame.collect(engine="streaming")

    frames = {
        "parquet": pl.scan_parquet(folder / "part-*.parquet").filter(few).select("a", "t"),
        "csv": pl.scan_csv(folder / "numbers.csv").group_by("b").agg(pl.col("a").sum()),
        "filter": numbers().filter(pl.col("a") > 10, pl.col("t") == "x"),
        "columns": numbers().with_columns(c=pl.col("a") * 2).with_row_index(),
        "group": numbers().group_by("b").agg(pl.col("a").sum(), pl.len().alias("rows")),
        "group by day": numbers().sort("day").group_by_dynamic("day", every="1w").agg(pl.col("a").max()),
        "rolling": numbers().sort("day").rolling("day", period="3d").agg(pl.col("a").mean()),
        "sum": numbers().select(pl.col("a").sum(), pl.col("b").mean()),
        "inner": numbers().join(names(), on="b"),
        "left": numbers().join(names(), on="b", how="left").filter(pl.col("name").is_null()),
        "semi": numbers().join(names(), on="b", how="semi"),
        "anti": numbers().join(names(), on="b", how="anti"),
        "cross": numbers().filter(few).join(names(), how="cross"),
        "where": numbers().filter(few).join_where(names(), pl.col("a") < pl.col("b_right")),
        "asof": numbers().sort("a").join_asof(names().sort("b"), left_on="a", right_on="b"),
        "sort": numbers().sort("b", "a", descending=True),
        "top": numbers().top_k(5, by="a"),
        "unique": numbers().select("b", "t").unique(),
        "concat": pl.concat([numbers().filter(few), numbers().filter(pl.col("a") > 1_900)]),
        "beside": pl.concat([numbers().select("a"), numbers().select(c="b")], how="horizontal"),
        "merge": numbers().select("a").merge_sorted(numbers().select("a"), key="a"),
        "slice": numbers().slice(10, 20),
        "explode": numbers().filter(few).select(pl.col("b").implode()).explode("b"),
        "unpivot": numbers().filter(few).unpivot(on=["a", "b"]),
        "window": numbers().select(pl.col("a").sum().over("b")),
        "shared": (shared := numbers().group_by("b").agg(pl.col("a").sum())).join(shared, on="b"),
        "python": numbers().select(pl.col("a").map_batches(doubled, return_dtype=pl.Int64)),
        "python batches": numbers().map_batches(lambda frame: frame),
        "python source": register_io_source(batches, schema={"n": pl.Int64}).filter(pl.col("n") > 0),
        "sql": pl.SQLContext(numbers=numbers()).execute("select b, count(*) as c from numbers where a > 5 group by b"),
    }
    return {name: lazy(frame) for name, frame in frames.items()} | {
        "in memory": lambda: numbers().filter(few).collect(engine="in-memory"),
        "sink parquet": lambda: numbers().sink_parquet(folder / "out.parquet", engine="streaming"),
        "sink csv": lambda: numbers().sink_csv(folder / "out.csv", engine="streaming"),
        "sink lazy": lambda: pl.collect_all(
            [numbers().sink_parquet(folder / "lazy.parquet", lazy=True)], engine="streaming"
        ),
        "collect all": lambda: pl.collect_all([numbers().select("a"), numbers().select("b")], engine="streaming"),
        "collect batches": lambda: list(numbers().select("a").collect_batches(engine="streaming")),
        "background": lambda: numbers().select("a").collect(background=True).fetch_blocking(),
        "fails": lambda: pl.LazyFrame({"t": ["x"]}).select(pl.col("t").str.to_integer()).collect(engine="streaming"),
        "fails unplanned": lambda: numbers().select("zz").collect(engine="streaming"),
    }


def run(folder: Path, label: Callable[[str], AbstractContextManager[Any]]) -> None:
    """Runs each query once, one after the other, under its label."""
    for name, query in queries(folder).items():
        with label(name), suppress(pl.exceptions.PolarsError):
            query()

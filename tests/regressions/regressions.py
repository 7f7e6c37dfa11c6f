"""Regressions of real queries: what is made worse, by what, and the cause that must be said.

Each function below makes one. It writes its data into a folder, and returns two calls that run the query: as usual, and
worse. What happens to the process instead (fewer threads, a quota, another version) stands in the decorator.
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Query = Callable[[], Any]

SEED = 7
ROW_GROUP = 50_000


@dataclass(frozen=True)
class Regression:
    """One of them. `causes` are those that are right as the first one; `words` a pattern in its sentence."""

    make: Callable[[Path], tuple[Query, Query]]
    causes: tuple[str, ...]
    words: str
    environment: dict[str, str] = field(default_factory=dict)
    around: str | None = None
    """What is done to the process that runs worse: a key of `around.AROUND`."""
    older: bool = False
    """Whether the worse runs have the older engines."""

    @property
    def name(self) -> str:
        return self.make.__name__.replace("_", "-")

    @property
    def engine(self) -> str:
        return self.name.split("-")[0]


REGRESSIONS: dict[str, Regression] = {}


def regression(*causes: str, words: str, **how: Any) -> Callable[[Callable[[Path], tuple[Query, Query]]], Regression]:
    def add(make: Callable[[Path], tuple[Query, Query]]) -> Regression:
        made = Regression(make, causes, words, **how)
        REGRESSIONS[made.name] = made
        return made

    return add


def events(path: Path, rows: int, compression: str = "lz4") -> Path:
    """A table of events, sorted by day: 50,000 a day."""
    import polars as pl

    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        row = pl.int_range(rows)
        frame = pl.select(
            day=row // ROW_GROUP,
            customer=(row * 7_919) % 5_003,
            amount=((row * 104_729) % 1_000_003) / 100,
            text=pl.format("event-{}", (row * 15_485_863) % 1_000_003),
        )
        frame.write_parquet(path, row_group_size=ROW_GROUP, compression=compression)
    return path


def by_customer(source: Any) -> Query:
    import polars as pl

    return lambda: source().group_by("customer").agg(pl.col("amount").sum(), pl.len()).collect()


@regression("more_rows", words=r"(reads|gives) [56]\S*x the rows")
def polars_more_rows(folder: Path) -> tuple[Query, Query]:
    """Files are added to the folder that is scanned."""
    import polars as pl

    scanned = folder / "scanned"
    first = events(scanned / "0.parquet", 3_000_000)
    query = by_customer(lambda: pl.scan_parquet(scanned))

    def grown() -> Any:
        for number in range(1, 6):
            if not (more := scanned / f"{number}.parquet").exists():
                shutil.copy(first, more)
        return query()

    return query, grown


@regression("more_rows", words=r"(reads|gives) 6\S*x the rows")
def polars_larger_partition(folder: Path) -> tuple[Query, Query]:
    """Each day has a folder of its own, and today's is larger."""
    import polars as pl

    for day, rows in (("monday", 1_000_000), ("tuesday", 6_000_000)):
        events(folder / day / "events.parquet", rows)
    return tuple(by_customer(lambda day=day: pl.scan_parquet(folder / day)) for day in ("monday", "tuesday"))


@regression("plan_change", words="no longer reaches")
def polars_lost_pushdown(folder: Path) -> tuple[Query, Query]:
    """A running total before the filter: the predicate cannot be pushed into the scan any more."""
    import polars as pl

    frame = pl.scan_parquet(events(folder / "events.parquet", 12_000_000))
    condition = pl.col("day").is_between(7, 16)
    running = frame.with_columns(running=pl.col("amount").cum_sum())
    usual = by_customer(lambda: frame.filter(condition))
    worse = by_customer(lambda: running.filter(condition & (pl.col("running") > 0)))
    return usual, worse


@regression("user_code", words="calls user code")
def polars_udf_added(folder: Path) -> tuple[Query, Query]:
    """An expression becomes a Python function that is called once a row."""
    import polars as pl

    path = events(folder / "events.parquet", 600_000)

    def net(amount: float) -> float:
        return amount / 1.19

    frame = pl.scan_parquet(path)
    usual = by_customer(lambda: frame.with_columns(pl.col("amount") / 1.19))
    worse = by_customer(lambda: frame.with_columns(pl.col("amount").map_elements(net, return_dtype=pl.Float64)))
    return usual, worse


def sorted_text(path: Path) -> Query:
    """Work of all threads: a sort by a text."""
    import polars as pl

    return lambda: pl.scan_parquet(path).group_by("text").agg(pl.col("amount").max()).sort("amount").collect()


@regression("fewer_threads", words="runs on 1 threads? instead of 2", environment={"POLARS_MAX_THREADS": "1"})
def polars_fewer_threads(folder: Path) -> tuple[Query, Query]:
    """The process is given one thread."""
    import polars as pl

    # Many columns of arithmetic: nothing that the threads wait for each other for.
    frame = pl.scan_parquet(events(folder / "events.parquet", 2_000_000))
    roots = [pl.col("amount").pow(1.0 / power).sin().sum().alias(f"root{power}") for power in range(2, 8)]
    query = lambda: frame.select(roots).collect()  # noqa: E731
    return query, query


@regression("starved_cpu", words="processor", around="quota")
def polars_cpu_quota(folder: Path) -> tuple[Query, Query]:
    """The process gets 30 % of one core, by its cgroup."""
    query = sorted_text(events(folder / "events.parquet", 300_000))
    return query, query


@regression("starved_cpu", words="processor", around="neighbours")
def datafusion_busy_host(folder: Path) -> tuple[Query, Query]:
    """Other programs take most of the cores."""
    query = datafusion_query(events(folder / "events.parquet", 300_000), BY_TEXT)
    return query, query


BY_TEXT = "SELECT text, max(amount) AS most FROM t GROUP BY text ORDER BY most"


def datafusion_query(path: Path, sql: str, memory: int | None = None, **settings: str) -> Query:
    import datafusion

    config = datafusion.SessionConfig()
    for name, value in settings.items():
        config = config.set(f"datafusion.{name.replace('__', '.')}", value)
    runtime = datafusion.RuntimeEnvBuilder()
    if memory is not None:
        runtime = runtime.with_disk_manager_os().with_greedy_memory_pool(memory)
    context = datafusion.SessionContext(config, runtime)
    context.register_parquet("t", str(path))
    return lambda: context.sql(sql).collect()


@regression("waiting", words="waits for data|under way", around="disk")
def polars_slow_disk(folder: Path) -> tuple[Query, Query]:
    """The disk gives 30 MB/s, by the cgroup. No run finds the file in the page cache."""
    import polars as pl

    path = events(folder / "events.parquet", 1_000_000, "uncompressed")
    query = by_customer(lambda: pl.scan_parquet(path))

    def cold() -> Any:
        forget(path)
        return query()

    return cold, cold


@regression("waiting", words="waits for data|under way", around="disk")
def datafusion_slow_disk(folder: Path) -> tuple[Query, Query]:
    """The same in DataFusion."""
    path = events(folder / "events.parquet", 1_000_000, "uncompressed")
    query = datafusion_query(path, "SELECT customer, sum(amount) FROM t GROUP BY customer")

    def cold() -> Any:
        forget(path)
        return query()

    return cold, cold


def forget(path: Path) -> None:
    """Takes a file out of the page cache."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(handle)


@regression("plan_change", words="changed places|build|join")
def datafusion_join_side(folder: Path) -> tuple[Query, Query]:
    """The hash table of the join is built from the large table instead of the small one."""
    import polars as pl

    large = events(folder / "events.parquet", 2_000_000)
    small = folder / "small.parquet"
    pl.select(text=pl.format("event-{}", pl.int_range(1_000))).write_parquet(small)
    sides = "SELECT count(*) FROM '{}' AS a JOIN '{}' AS b ON a.text = b.text"

    def joined(first: Path, second: Path) -> Query:
        import datafusion

        config = datafusion.SessionConfig().set("datafusion.optimizer.join_reordering", "false")
        context = datafusion.SessionContext(config).enable_url_table()
        return lambda: context.sql(sides.format(first, second)).collect()

    return joined(small, large), joined(large, small)


@regression("spilling", words="spills .* to disk instead of nothing")
def datafusion_spill(folder: Path) -> tuple[Query, Query]:
    """The sort no longer fits in the memory it is given."""
    path = events(folder / "events.parquet", 800_000)
    sql = "SELECT * FROM t ORDER BY text, amount"
    few = {"execution__sort_spill_reservation_bytes": "1000000", "execution__target_partitions": "1"}
    return datafusion_query(path, sql, 1 << 30, **few), datafusion_query(path, sql, 12 << 20, **few)


@regression("spilling", words="spills")
def duckdb_spill(folder: Path) -> tuple[Query, Query]:
    """The sort no longer fits in the memory limit."""
    path = events(folder / "events.parquet", 400_000)
    return tuple(duckdb_query(folder, path, limit) for limit in ("1GB", "36MB"))


def duckdb_query(folder: Path, path: Path, limit: str) -> Query:
    import duckdb

    connection = duckdb.connect(config={"temp_directory": str(folder / "spilled"), "memory_limit": limit})
    # Read to its end and not kept: a result that is kept would need the memory.
    sql = f"SELECT max(place) FROM (SELECT row_number() OVER (ORDER BY text, amount) AS place, * FROM '{path}')"
    return lambda: connection.execute(sql).fetchall()


@regression("skew", words=r"One partition of .* holds")
def datafusion_skew(folder: Path) -> tuple[Query, Query]:
    """As many rows, but nearly all of them have one key: one partition does the work of all."""
    import polars as pl

    path = folder / "events.parquet"
    row = pl.int_range(200_000)
    even, skewed = row % 3_001, pl.when(row % 50 == 0).then(row % 3_001).otherwise(3)
    sql = "SELECT max(place) FROM (SELECT sum(value) OVER (PARTITION BY key ORDER BY value) AS place FROM t)"
    few = {"execution__target_partitions": "4"}

    def over(key: pl.Expr) -> Query:
        def query() -> Any:
            if written != [str(key)]:
                pl.select(key=key, value=(row * 104_729) % 1_000_003).write_parquet(path)
                written[:] = [str(key)]
                contexts[:] = [datafusion_query(path, sql, **few)]
            return contexts[0]()

        return query

    written: list[str] = []
    contexts: list[Query] = []
    return over(even), over(skewed)


@regression("engine_version", words="Since duckdb 1", older=True)
def duckdb_older_version(folder: Path) -> tuple[Query, Query]:
    """An older release of DuckDB."""
    import duckdb

    path = events(folder / "events.parquet", 1_000_000)
    connection = duckdb.connect()
    sql = f"SELECT count(*) FROM '{path}' AS a JOIN '{path}' AS b ON a.text = b.text WHERE a.day < 3 AND b.day < 20"
    query = lambda: connection.execute(sql).fetchall()  # noqa: E731
    return query, query

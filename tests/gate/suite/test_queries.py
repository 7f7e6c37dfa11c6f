"""Twenty programs of three engines. Ten of them have a second version, in which a developer made a mistake.

With GATE_SEEDED=1 these ten run their second version. The other ten are the same at each run, whatever the number of
threads (GATE_THREADS) and the order of tests.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import datafusion
import duckdb
import polars as pl
import pytest

SEEDED = os.environ.get("GATE_SEEDED") == "1"
THREADS = int(os.environ.get("GATE_THREADS", "2"))


@pytest.fixture
def orders(data: Path) -> pl.LazyFrame:
    return pl.scan_parquet(data / "orders.parquet")


@pytest.fixture
def customers(data: Path) -> pl.LazyFrame:
    return pl.scan_parquet(data / "customers.parquet")


@pytest.fixture
def duck(data: Path) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": THREADS})
    for table in ("orders", "customers"):
        connection.execute(f"create view {table} as from '{data / table}.parquet'")
    return connection


@pytest.fixture
def fusion(data: Path) -> datafusion.SessionContext:
    context = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(THREADS))
    for table in ("orders", "customers"):
        context.register_parquet(table, str(data / f"{table}.parquet"))
    return context


def run(query: pl.LazyFrame) -> pl.DataFrame:
    return query.collect(engine="streaming")


def either(first: Any, second: Any) -> Any:
    return second if SEEDED else first


# Ten with a seeded change.


def test_polars_loses_its_predicate(orders: pl.LazyFrame) -> None:
    total = pl.col("amount").sum().over("region").alias("total")
    is_today = pl.col("day") == 3
    totals = either(orders.filter(is_today).with_columns(total), orders.with_columns(total).filter(is_today))
    assert run(totals.group_by("region").agg(pl.col("total").max())).height == 5


def test_polars_reads_all_columns(orders: pl.LazyFrame) -> None:
    by_region = pl.col("amount").sum()
    if SEEDED:
        whole = run(orders)
        assert whole.group_by("region").agg(by_region).height == 5
    else:
        assert run(orders.group_by("region").agg(by_region)).height == 5


def test_polars_joins_on_half_the_key(orders: pl.LazyFrame, customers: pl.LazyFrame) -> None:
    joined = orders.join(customers, on=either(["customer", "region"], ["customer"]), how="inner")
    assert run(joined.group_by("name").agg(pl.col("amount").sum())).height == 500


def test_polars_calls_python(orders: pl.LazyFrame) -> None:
    column = pl.col("amount")
    doubled = either(column * 2, column.map_elements(lambda amount: amount * 2, return_dtype=pl.Int64))
    assert run(orders.group_by("region").agg(doubled.sum())).height == 5


def test_duckdb_selects_everything(duck: duckdb.DuckDBPyConnection) -> None:
    columns = either("region, amount", "*")
    assert len(duck.execute(f"select {columns} from orders where amount > 900").fetchall()) > 0


def test_duckdb_compares_ranges_for_keys(duck: duckdb.DuckDBPyConnection) -> None:
    condition = either("o.customer = c.customer", "o.customer <= c.customer and o.customer >= c.customer")
    query = f"select count(*) from orders o join (select distinct customer from customers) c on {condition}"
    assert duck.execute(query).fetchall() == [(20_000,)]


def test_duckdb_joins_on_half_the_key(duck: duckdb.DuckDBPyConnection) -> None:
    keys = either("(customer, region)", "(customer)")
    query = f"select name, max(amount + length(name)) from orders join customers using {keys} group by name"
    assert len(duck.execute(query).fetchall()) == 500


def test_datafusion_selects_everything(fusion: datafusion.SessionContext) -> None:
    columns = either("region, amount", "*")
    assert len(fusion.sql(f"select {columns} from orders where amount > 900").collect()) > 0


def test_datafusion_filters_in_python(fusion: datafusion.SessionContext) -> None:
    where = either("where day = 3", "")
    rows = fusion.sql(f"select id, day from orders {where}").to_pylist()
    assert len([row for row in rows if row["day"] == 3]) > 0


def test_datafusion_forgets_a_condition(fusion: datafusion.SessionContext) -> None:
    condition = either("o.customer = c.customer and o.region = c.region", "o.customer = c.customer")
    query = f"select name, sum(amount) from orders o join customers c on {condition} group by name"
    assert fusion.sql(query).to_pydict()["name"]


# Ten that stay as they are.


def test_polars_groups(orders: pl.LazyFrame) -> None:
    assert run(orders.group_by("customer").agg(pl.col("amount").mean(), pl.len())).height == 500


def test_polars_stops_at_a_limit(orders: pl.LazyFrame) -> None:
    assert run(orders.filter(pl.col("amount") > 10).head(7)).height == 7


def test_polars_keeps_the_largest(orders: pl.LazyFrame) -> None:
    assert run(orders.top_k(5, by="amount").select("id", "amount")).height == 5


def test_polars_joins(orders: pl.LazyFrame, customers: pl.LazyFrame) -> None:
    large = orders.filter(pl.col("amount") > 500)
    assert run(large.join(customers, on=["customer", "region"]).sort("id").select("id", "name")).height > 0


def test_polars_in_memory(orders: pl.LazyFrame) -> None:
    assert orders.filter(pl.col("day") < 5).select("id", "day").collect(engine="in-memory").height > 0


def test_duckdb_groups_and_sorts(duck: duckdb.DuckDBPyConnection) -> None:
    query = "select customer, sum(amount) from orders where day < 9 group by customer order by 2 desc limit 4"
    assert len(duck.execute(query).fetchall()) == 4


def test_duckdb_joins(duck: duckdb.DuckDBPyConnection) -> None:
    query = """select c.name, count(*) from orders o join customers c using (customer, region)
        where c.name like '%7' group by c.name"""
    assert duck.execute(query).fetchall()


def test_duckdb_runs_many_in_any_order(duck: duckdb.DuckDBPyConnection) -> None:
    cursors = [duck.cursor() for _ in range(3)]
    for day, cursor in enumerate(cursors):
        assert cursor.execute(f"select sum(amount) from orders where day = {day}").fetchone()


def test_datafusion_groups(fusion: datafusion.SessionContext) -> None:
    query = "select region, avg(amount), max(id) from orders where day > 2 group by region order by region"
    assert len(fusion.sql(query).to_pydict()["region"]) == 5


def test_datafusion_joins_and_keeps_the_first(fusion: datafusion.SessionContext) -> None:
    query = """select o.id, c.name from orders o join customers c on o.customer = c.customer and o.region = c.region
        where o.amount > 300 order by o.id limit 10"""
    assert len(fusion.sql(query).to_pydict()["id"]) == 10

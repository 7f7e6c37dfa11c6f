"""dbt with DuckDB: each model, test and seed has its name as label."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from queryscope.adapters._dbt import label_of

FILES = {
    "dbt_project.yml": """
        name: shop
        version: "1.0"
        profile: shop
        models: {+materialized: table}
        """,
    "profiles.yml": """
        shop:
          target: dev
          outputs:
            dev: {type: duckdb, path: shop.duckdb, threads: 2}
        """,
    "seeds/payments.csv": "id,amount\n1,10\n2,20\n",
    "models/orders.sql": "select range as id, range % 10 as customer from range(10000)",
    "models/customers.sql": """
        {{ config(materialized='incremental') }}
        select customer, count(*) as orders from {{ ref('orders') }} group by 1
        """,
    "models/payments_view.sql": "{{ config(materialized='view') }} select sum(amount) s from {{ ref('payments') }}",
    "models/schema.yml": """
        models:
          - name: orders
            columns:
              - {name: id, tests: [unique]}
        """,
    "run.py": """
        import queryscope
        from dbt.cli.main import dbtRunner
        queryscope.install(exporters=[queryscope.ProfilesFile("told-{engine}.jsonl")], engines=["duckdb"])
        for _ in range(2):
            outcome = dbtRunner().invoke(["--quiet", "build", "--profiles-dir", "."])
            assert outcome.success, outcome
        queryscope.uninstall()
        """,
}


def test_a_project(tmp_path: Path) -> None:
    pytest.importorskip("dbt.adapters.duckdb", reason="a later step of make python-test installs it")
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(textwrap.dedent(text))
    subprocess.run([sys.executable, "run.py"], cwd=tmp_path, check=True, timeout=300)
    told = [json.loads(line) for line in (tmp_path / "told-duckdb.jsonl").read_text().splitlines()]
    labels = [profile["label"] for profile in told if profile["label"] is not None]
    # The first run creates the incremental model; the second one makes a table of what is new, and inserts it.
    counts = {label: labels.count(label) for label in labels}
    assert counts.keys() == {"orders", "customers", "payments_view", "test/unique_orders_id", "seed/payments"}
    assert (counts["orders"], counts["payments_view"], counts["test/unique_orders_id"]) == (2, 2, 2)
    assert all(profile["failed"] is None for profile in told)
    assert counts["customers"] == 3
    plans = [each["plan"]["physical"] for each in told if each["label"] == "customers"]
    assert [any(node["role"] == "aggregation" for node in plan) for plan in plans] == [True, True, False]


COMMENT = '/* {"app": "dbt", "dbt_version": "1.9.11", "profile_name": "shop", "target_name": "dev", "node_id": "%s"} */'


@pytest.mark.parametrize(
    ("node", "statement", "label"),
    [
        ("model.shop.orders", 'create  table "d"."main"."orders__dbt_tmp" as (select 1)', "orders"),
        ("model.shop.orders.v2", "create or replace view orders as select 1", "orders.v2"),
        ("model.shop.orders", "create or replace temporary table o as select 1", "orders"),
        ("model.shop.orders", "-- of 2026\ninsert into orders select 1", "orders"),
        ("test.shop.not_null_orders_id.cf6c17daed", "select count(*) from orders", "test/not_null_orders_id"),
        ("model.shop.orders", "select index_name from duckdb_indexes()", None),
        ("analysis.shop.trends", "with a as (select 1) from a", "analysis/trends"),
        ("snapshot.shop.history", "merge into history using changes", "snapshot/history"),
        ("model.shop.orders", "begin", None),
        ("model.shop.orders", "alter table orders__dbt_tmp rename to orders", None),
        ("model.shop.orders", "drop table if exists orders__dbt_backup cascade", None),
        ("model.shop.orders", "create schema if not exists main", None),
        ("orders", "select 1", None),
    ],
)
def test_statements_of_dbt(node: str, statement: str, label: str | None) -> None:
    comment = COMMENT % node
    assert label_of(f"{comment}\n{statement}", None) == label
    # Where dbt is configured to put its comment at the end.
    assert label_of(f"{statement}\n{comment}", None) == label
    assert label_of(f"{comment}\n{statement}", "nightly") == ("nightly" if label is None else f"nightly/{label}")


def test_statements_that_are_not_of_dbt() -> None:
    assert label_of("select 1", None) is None
    assert label_of("select 1", "own") == "own"
    assert label_of("""select '{"node_id": 5}' /* {"node_id": } */ /* {"node_id": 5} */""", None) is None

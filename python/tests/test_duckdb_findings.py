"""Findings on queries of DuckDB: those written to provoke one have it, and TPC-H's have none.

DuckDB 1.5 tells neither row groups nor, of Parquet, how many rows were read: there is nothing to find on these.
"""

from __future__ import annotations

import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import queryscope
from conftest import Sent

GENERATOR = Path(sysconfig.get_path("scripts")) / "tpchgen-cli"
QUERIES = sorted((Path(__file__).parents[2] / "crates" / "tpch" / "src" / "queries").glob("q*.sql"))
IS_OLD = duckdb.__version__.startswith("1.")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tpch")
    command = [str(GENERATOR), "parquet", "-s", "0.1", "--row-group-bytes=1MB", f"--output-dir={folder}"]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return folder


@pytest.fixture
def connection(sent: Sent) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


def findings(sent: Sent, label: str) -> list[tuple[str, str]]:
    return [(each["rule"], each["node_kind"]) for each in sent.profile(label)["insights"]["findings"]]


def tpch(sent: Sent, connection: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    """The rules that find something, by query."""
    assert len(QUERIES) == 22
    for query in QUERIES:
        with queryscope.label(query.stem):
            assert connection.execute(query.read_text("utf-8")).fetchall() is not None
    queryscope.uninstall()
    profiles = [profile for profile in sent.profiles() if profile["label"] is not None]
    assert len(profiles) == 22
    assert all(profile["failed"] is None and profile["plan"]["physical"] for profile in profiles)
    rules = {each["label"]: [finding["rule"] for finding in each["insights"]["findings"]] for each in profiles}
    return {label: found for label, found in rules.items() if found}


def test_tpch_on_tables_has_no_findings(sent: Sent, connection: duckdb.DuckDBPyConnection, tables: Path) -> None:
    for path in tables.glob("*.parquet"):
        connection.execute(f"create table {path.stem} as from '{path}'")
    assert tpch(sent, connection) == {}


def test_tpch_on_files_repeats_what_duckdb_repeats(
    sent: Sent, connection: duckdb.DuckDBPyConnection, tables: Path
) -> None:
    """Queries 2 and 11 join the same tables in a subquery again. DuckDB shares that for tables, not for files."""
    for path in tables.glob("*.parquet"):
        connection.execute(f"create view {path.stem} as from '{path}'")
    assert set(tpch(sent, connection)) <= {"q02", "q11"}
    repeated = [each["insights"]["findings"] for each in sent.profiles() if each["label"] in ("q02", "q11")]
    assert {finding["rule"] for found in repeated for finding in found} <= {"repeated_subplan"}


def test_unpruned_row_groups(sent: Sent, connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("create table shuffled as select range i from range(2_000_000) order by hash(range)")
    connection.execute("create table sorted as select range i from range(2_000_000)")
    for table in ("shuffled", "sorted"):
        with queryscope.label(table):
            connection.execute(f"select count(*) from {table} where i between 700_000 and 710_000").fetchall()
    # DuckDB 1.5 does not count row groups: nothing may be said of them.
    assert findings(sent, "shuffled") == ([] if IS_OLD else [("unpruned_row_groups", "TABLE_SCAN")])
    assert findings(sent, "sorted") == []


def test_exploding_join(sent: Sent, connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("create table a as select range % 50 k from range(20_000)")
    connection.execute("create table b as select range % 50 k from range(10_000)")
    connection.execute("create table c as select range k from range(50)")
    for other in ("b", "c"):
        with queryscope.label(other):
            connection.execute(f"select count(*) from a join {other} using (k)").fetchall()
    assert findings(sent, "b") == [("exploding_join", "HASH_JOIN")]
    assert findings(sent, "c") == []


def test_late_filter(sent: Sent, connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("create table t as select range i, hash(range) h from range(200_000)")
    statement = "select i from (select * from t order by h) where i < 1_000"
    for label, setting in (("early", "''"), ("late", "'filter_pushdown'")):
        connection.execute(f"set disabled_optimizers = {setting}")
        with queryscope.label(label):
            assert len(connection.execute(statement).fetchall()) == 1_000
    assert findings(sent, "late") == [("late_filter", "FILTER")]
    assert findings(sent, "early") == []


def test_spilling(sent: Sent, connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    connection.execute(f"set temp_directory = '{tmp_path / 'spilled'}'")
    connection.execute(f"copy (select hash(range) h from range(3_000_000)) to '{tmp_path / 'h.parquet'}'")
    statement = f"select h from '{tmp_path / 'h.parquet'}' order by h offset 2_999_000"
    connection.execute("set threads = 1")
    for label, limit in (("roomy", "1GB"), ("tight", "30MB"), ("tight again", "30MB")):
        connection.execute(f"set memory_limit = '{limit}'")
        with queryscope.label(label):
            assert len(connection.execute(statement).fetchall()) == 1_000
    rules = [rule for rule, _ in findings(sent, "tight")]
    assert rules == ["spilling"]
    assert sent.profile("tight")["query_metrics"]["spilled_bytes"] > 1_000_000
    # 1.x tells the peak since the database was opened alone, so a second query raises it hardly.
    assert IS_OLD or sent.profile("tight again")["query_metrics"]["spilled_bytes"] > 1_000_000
    assert findings(sent, "roomy") == []
    assert "spilled_bytes" not in sent.profile("roomy")["query_metrics"]


def test_functions_written_in_python(sent: Sent, connection: duckdb.DuckDBPyConnection) -> None:
    def slow(value: int) -> int:
        return sum(range(200)) + value

    connection.create_function("slow_sum", slow)
    with queryscope.label("python"):
        connection.execute("select sum(slow_sum(range)) from range(20_000)").fetchall()
    with queryscope.label("no python"):
        connection.execute("select sum(range + 3) from range(20_000)").fetchall()
    profile = sent.profile("python")
    [finding] = profile["insights"]["findings"]
    [node] = [each for each in profile["plan"]["physical"] if each["properties"].get("user_code") == "slow_sum"]
    assert (finding["rule"], finding["node_id"], finding["level"]) == ("user_code", node["id"], "warn")
    # DuckDB counts the time of the function in the operator that calls it.
    assert finding["cpu_share"] > 0.5
    assert findings(sent, "no python") == []
    connection.remove_function("slow_sum")
    with pytest.raises(duckdb.Error):
        connection.execute("select slow_sum(1)")

"""Queries of DuckDB, as the engine runs them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import queryscope
from conftest import Sent
from queryscope.adapters._duckdb_files import name_files
from queryscope.adapters._duckdb_profile import aligned, operators, role
from queryscope.adapters.duckdb import DuckDBAdapter, is_interrupt, is_read_only, may_change_threads

ROWS = 100_000
IS_OLD = duckdb.__version__.startswith("1.")


@pytest.fixture
def connection(sent: Sent) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(f"create table t as select range i, range % 100 g from range({ROWS})")
        yield connection


def test_a_query_has_its_plan_and_counters(sent: Sent, connection: duckdb.DuckDBPyConnection) -> None:
    with queryscope.label("grouped"):
        rows = connection.execute("select g, sum(i) from t where i >= 50 group by g").fetchall()
    profile = sent.profile("grouped")
    assert profile["duckdb_version"] == duckdb.__version__
    assert len(rows) == 100 and profile["failed"] is None
    [scan] = [node for node in profile["plan"]["physical"] if node["role"] == "scan"]
    [grouping] = [node for node in profile["plan"]["physical"] if node["role"] == "aggregation"]
    assert (scan["metrics"]["rows_out"], scan["metrics"]["rows_scanned"]) == (ROWS - 50, ROWS)
    assert (grouping["metrics"]["rows_in"], grouping["metrics"]["rows_out"]) == (ROWS - 50, 100)
    assert grouping["metrics"]["busy_ns"] > 0 and grouping["metrics"]["done"] is True
    assert profile["insights"]["findings"] == []
    assert profile["call_site"]["filepath"] == __file__


def test_the_rows_of_the_result_are_those_of_the_root(sent: Sent, connection: duckdb.DuckDBPyConnection) -> None:
    with queryscope.label("limited"):
        assert len(connection.execute("select i from t order by i limit 7").fetchall()) == 7
    assert sent.profile("limited")["result_rows"] == 7
    with queryscope.label("none"):
        assert connection.execute("select i from t where i < 0").fetchall() == []
    assert sent.profile("none")["result_rows"] == 0
    with queryscope.label("written"):
        connection.execute("insert into t select i, g from t limit 5").fetchall()
    assert sent.profile("written")["result_rows"] is None, "what it wrote is no result"


def test_of_files_the_rows_read_are_not_told(
    sent: Sent, connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """DuckDB 2.0 counts those that meet the filter alone, and 1.5 counts some twice."""
    path = tmp_path / "t.parquet"
    connection.execute(f"copy t to '{path}'")
    with queryscope.label("files"):
        connection.execute(f"select sum(g) from '{path}' where i < 1000").fetchall()
    [scan] = [node for node in sent.profile("files")["plan"]["physical"] if node["role"] == "scan"]
    assert (scan["properties"]["table"], scan["properties"]["format"]) == (str(path), "parquet")
    assert scan["metrics"]["rows_out"] == 1000 and "rows_scanned" not in scan["metrics"]


def test_of_files_the_bytes_are_told_where_they_are_counted(
    sent: Sent, connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    path = tmp_path / "t.parquet"
    connection.execute(f"copy t to '{path}'")
    for again in ("first", "second"):
        with queryscope.label(again):
            connection.execute(f"select sum(i) from '{path}'").fetchall()
        read = sent.profile(again)["query_metrics"].get("bytes_read")
        assert read is None if duckdb.__version__ < "2" else read > ROWS
    with queryscope.label("of a table"):
        connection.execute("select sum(i) from t").fetchall()
    assert sent.profile("of a table")["query_metrics"]["bytes_read"] == 0


def test_a_common_table_expression_gives_on_the_rows_of_its_last_child() -> None:
    """DuckDB counts none of it, so that its reader would take none."""
    scan = {"type": "TABLE_SCAN", "intermediate_rows": 70, "children": []}
    used = {"type": "CTE_SCAN", "intermediate_rows": 50, "children": []}
    tree = {"type": "CTE", "intermediate_rows": 0, "children": [scan, used]}
    top = {"type": "TOP_N", "intermediate_rows": 10, "children": [tree]}
    limit, cte, _, _ = operators(json.dumps({"type": "RESULT_COLLECTOR", "children": [top]}))
    assert limit.counters == {"rows_out": 10, "rows_in": 50}
    assert cte.counters == {"rows_out": 50, "rows_in": 120}


def test_counters_are_those_of_explain_analyze(sent: Sent, connection: duckdb.DuckDBPyConnection) -> None:
    statement = "select a.g, count(*) from t a join t b using (i) where a.g > 3 group by 1"
    with queryscope.label("joined"):
        connection.execute(statement).fetchall()
    analyzed = operators(connection.execute(f"explain (analyze, format json) {statement}").fetchall()[0][1])
    profile = sent.profile("joined")
    assert [node["kind"] for node in profile["plan"]["physical"]] == [each.kind for each in analyzed]
    # Times differ between two executions; counts are the same.
    for name in ("rows_out", "rows_in", "rows_scanned", "row_groups", "row_groups_pruned"):
        ours = [node["metrics"].get(name) or 0 for node in profile["plan"]["physical"]]
        assert ours == [each.counters.get(name) or 0 for each in analyzed], name
    assert sum(node["metrics"]["rows_scanned"] for node in profile["plan"]["physical"] if node["role"] == "scan") > 0


def test_relations_cursors_and_the_module(sent: Sent, connection: duckdb.DuckDBPyConnection) -> None:
    with queryscope.label("relation"):
        relation = connection.sql("select max(i) from t")
    with queryscope.label("fetched"):
        assert relation.fetchall() == [(ROWS - 1,)]
    with queryscope.label("cursor"):
        assert connection.cursor().execute("select 1 + 1").fetchone() == (2,)
    with queryscope.label("module"):
        assert duckdb.execute("select 42").fetchall() == [(42,)]
    queryscope.uninstall()
    assert {"fetched", "module"} <= {each["label"] for each in sent.profiles()}
    assert "relation" not in {each["label"] for each in sent.profiles()}


def test_threads_have_queries_of_their_own(sent: Sent, connection: duckdb.DuckDBPyConnection) -> None:
    def work(number: int) -> None:
        cursor = connection.cursor()
        for part in range(5):
            with queryscope.label(f"thread {number}.{part}"):
                rows = cursor.execute("select i from t order by i limit ?", [number + 1]).fetchall()
            assert len(rows) == number + 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # The end of following waits two seconds at most for what is written.
    sent.wait(lambda: len(sent.profiles()) >= 32 * 5)
    queryscope.uninstall()
    profiles = [each for each in sent.profiles() if (each["label"] or "").startswith("thread")]
    told = {each["label"]: each["plan"]["physical"][0]["metrics"]["rows_out"] for each in profiles}
    assert told == {f"thread {number}.{part}": number + 1 for number in range(32) for part in range(5)}
    assert len(profiles) == len(told)


def test_parts_are_fetched_to_the_end(sent: Sent, connection: duckdb.DuckDBPyConnection) -> None:
    with queryscope.label("parts"):
        connection.execute("select i from t where i % 1000 = 0")
        seen = 0
        while rows := connection.fetchmany(30):
            seen += len(rows)
    assert seen == 100
    assert sent.profile("parts")["failed"] is None


@pytest.mark.parametrize("way", ["statement", "close", "with", "dropped", "idle"])
def test_a_query_of_which_one_row_is_read_ended_with_that(sent: Sent, way: str) -> None:
    with duckdb.connect() as other:
        connection = duckdb.connect() if way == "with" else other.cursor()
        with connection if way == "with" else contextlib.nullcontext():
            begin = time.monotonic()
            with queryscope.label("one row"):
                assert connection.execute("select range from range(100_000)").fetchone() == (0,)
            took_ms = (time.monotonic() - begin) * 1000
            if way != "idle":
                time.sleep(0.3)
            if way == "statement":
                connection.execute("select 1").fetchall()
            elif way == "close":
                connection.close()
            elif way == "dropped":
                del connection
            elif way == "idle":
                sent.wait(lambda: any(each["label"] == "one row" for each in sent.profiles()))
        profile = sent.profile("one row")
    assert profile["failed"] is None and profile["plan"]["physical"]
    # Two clocks are read, one after the other.
    assert profile["wall_ms"] <= took_ms + 50


def test_what_a_reader_reads_belongs_to_the_query(sent: Sent, connection: duckdb.DuckDBPyConnection) -> None:
    with queryscope.label("batches"):
        reader = connection.execute("select i from t").to_arrow_reader(10_000)
    time.sleep(0.2)
    assert sum(batch.num_rows for batch in reader) == ROWS
    connection.execute("select 1").fetchall()
    assert sent.profile("batches")["wall_ms"] >= 200


def test_failures_and_interrupts(sent: Sent, connection: duckdb.DuckDBPyConnection) -> None:
    with queryscope.label("no table"), pytest.raises(duckdb.CatalogException):
        connection.execute("select * from nothing")
    with queryscope.label("no number"), pytest.raises(duckdb.ConversionException):
        connection.execute("select cast('x' || i as int) from t").fetchall()
    timer = threading.Timer(1.5, connection.interrupt)
    timer.start()
    with queryscope.label("interrupted"), pytest.raises(duckdb.InterruptException):
        connection.execute("select sum(a.i * b.i) from t a, t b, t c").fetchall()
    timer.join()
    no_table, no_number = sent.profile("no table"), sent.profile("no number")
    assert "nothing" in no_table["failed"] and no_table["plan"]["physical"] == []
    assert "Could not convert" in no_number["failed"] and no_number["plan"]["physical"] != []
    # What DuckDB does not tell is not said to be all of it.
    for profile in (no_table, no_number):
        assert (profile["planning_ms"] or 0) < profile["wall_ms"]
    # Where all counters say 0, none says anything.
    nodes = no_number["plan"]["physical"]
    assert no_number.get("cpu_ms") != 0 and not any((node.get("metrics") or {}).get("busy_ns") == 0 for node in nodes)
    assert sent.profile("interrupted")["failed"] == "cancelled"


def test_ctrl_c_cancels_a_query(sent: Sent, connection: duckdb.DuckDBPyConnection) -> None:
    """DuckDB raises an error of no class of its own, and passes some interrupts over: another follows."""
    assert is_interrupt(RuntimeError("Query interrupted")) and not is_interrupt(RuntimeError("Query timed out"))
    timers = [
        threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)),
        threading.Timer(4.0, connection.interrupt),
    ]
    for timer in timers:
        timer.start()
    with queryscope.label("ctrl-c"), pytest.raises((RuntimeError, KeyboardInterrupt, duckdb.InterruptException)):
        connection.execute("create table u as select sum(a.i * b.i) from t a, t b, t c")
    for timer in timers:
        timer.cancel()
    assert sent.profile("ctrl-c")["failed"] == "cancelled"


def test_a_long_query_is_seen_while_it_runs(sent: Sent, connection: duckdb.DuckDBPyConnection) -> None:
    timer = threading.Timer(3.0, connection.interrupt)
    timer.start()
    with queryscope.label("long"), pytest.raises(duckdb.InterruptException):
        connection.execute("select sum(a.i * b.i) from t a, t b, t c").fetchall()
    timer.join()
    queryscope.uninstall()
    [started] = [event for event in sent.events() if event["type"] == "query.started"]
    scans = [str(node["id"]) for node in started["profile"]["plan"]["physical"] if node["role"] == "scan"]
    assert scans
    samples = [event["nodes"] for event in sent.events() if event["type"] == "query.progress"]
    if IS_OLD:
        # A scan that the others wait for has been read to its end meanwhile.
        assert any(nodes.get(scan, {}).get("rows_out") == ROWS for nodes in samples for scan in scans)
    else:
        told = [custom for nodes in samples for node in nodes.values() for custom in node.get("custom", ())]
        assert told and all(custom["key"] == "progress" and 0 <= custom["value"] <= 100 for custom in told)


def test_a_long_query_ends_with_the_files_of_its_scans(
    sent: Sent, connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """While it runs, DuckDB 2.0 tells its plan without them; a short query is told of by its profile alone."""
    path = tmp_path / "t.parquet"
    connection.execute(f"copy t to '{path}'")
    with queryscope.label("long over files"):
        connection.execute(f"select count(*) from '{path}' a, t b where a.i < 40_000 and a.i + b.i % 7 > 3").fetchall()
    profile = sent.profile("long over files")
    assert any(event["type"] == "query.started" for event in sent.events()), "it was told of while it ran"
    tables = [node["properties"].get("table") for node in profile["plan"]["physical"]]
    assert str(path) in tables, profile["plan"]


def test_a_profile_that_the_program_set_is_left(sent: Sent) -> None:
    with duckdb.connect() as connection:
        queryscope.uninstall()
        connection.execute("set enable_profiling = 'json'")
        queryscope.install(exporters=[queryscope.EventsFile(sent.folder / "later-{engine}.jsonl")])
        connection.execute("select 1").fetchall()
        assert connection.execute("select current_setting('enable_profiling')").fetchall() == [("json",)]


def threads_of(sent: Sent, connection: duckdb.DuckDBPyConnection, label: str) -> int | None:
    """The threads that the profile of a query tells."""
    with queryscope.label(label):
        assert connection.execute("select 40 + 2").fetchall() == [(42,)]
    return sent.profile(label)["query_metrics"].get("threads")


@pytest.mark.parametrize(
    "statement",
    ["set threads = 3", "SET GLOBAL Threads TO 3", "pragma threads=3", "/* few */ set\n worker_threads=3;"],
)
@pytest.mark.parametrize("way", ["execute", "sql", "query", "from_query", "cursor", "extracted"])
def test_a_run_has_the_threads_of_its_database(
    sent: Sent, connection: duckdb.DuckDBPyConnection, way: str, statement: str
) -> None:
    connection.execute("set threads = 5")
    assert threads_of(sent, connection, "before") == 5
    if way == "cursor":
        connection.cursor().execute(statement)
    elif way == "extracted":
        connection.execute(connection.extract_statements(statement)[0])
    else:
        getattr(connection, way)(statement)
    assert threads_of(sent, connection, "after") == 3
    assert threads_of(sent, connection.cursor(), "cursor") == 3


def test_threads_are_those_of_configuration_and_reset(sent: Sent) -> None:
    with duckdb.connect() as connection:
        usual = connection.execute("select current_setting('threads')").fetchall()[0][0]
    with duckdb.connect(config={"threads": 3}) as connection:
        assert threads_of(sent, connection, "configured") == 3
        connection.execute("set threads = ?", [5])
        assert threads_of(sent, connection, "parameter") == 5
    with duckdb.connect() as connection:
        connection.execute("set threads = 5")
        assert threads_of(sent, connection, "five") == 5
        connection.execute("reset threads")
        assert threads_of(sent, connection, "reset") == usual


def test_connections_of_one_file_share_their_threads(sent: Sent, tmp_path: Path) -> None:
    path = tmp_path / "shared.duckdb"
    with duckdb.connect(path) as one, duckdb.connect(path) as other, duckdb.connect() as third:
        third.execute("set threads = 4")
        one.execute("set threads = 5")
        assert (threads_of(sent, other, "other"), threads_of(sent, third, "third")) == (5, 4)
        other.execute("set threads = 3")
        assert (threads_of(sent, one, "one later"), threads_of(sent, third, "third later")) == (3, 4)


def test_threads_set_in_a_text_of_several_statements(sent: Sent, connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("set threads = 5")
    with queryscope.label("itself"):
        assert connection.execute("set threads = 3; select 1").fetchall() == [(1,)]
    assert sent.profile("itself")["query_metrics"]["threads"] == 3
    with pytest.raises(duckdb.Error):
        connection.execute("set threads = 2; select nothing")
    assert threads_of(sent, connection, "after a failure") == 2
    with queryscope.label("relation"):
        assert connection.sql("set threads = 4; select 1").fetchall() == [(1,)]
    assert sent.profile("relation")["query_metrics"]["threads"] == 4
    with pytest.raises(duckdb.Error):
        connection.sql("set threads = 6; select nothing")
    with queryscope.label("frame"):
        assert len(connection.sql("select 1").fetchnumpy()) == 1
    assert sent.profile("frame")["query_metrics"]["threads"] == 6


def test_a_failed_query_has_threads(sent: Sent, connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("set threads = 3")
    with queryscope.label("failed"), pytest.raises(duckdb.ConversionException):
        connection.execute("select cast('x' || i as int) from t").fetchall()
    assert sent.profile("failed")["query_metrics"]["threads"] == 3


def test_threads_are_read_beside_a_transaction_and_a_result(sent: Sent, connection: duckdb.DuckDBPyConnection) -> None:
    writer, reader, setter = connection.cursor(), connection.cursor(), connection.cursor()
    writer.execute("begin")
    writer.execute("insert into t values (-1, -1)")
    assert reader.execute("select i from t order by i").fetchone() == (0,)
    setter.execute("set threads = 3")
    assert threads_of(sent, writer, "writer") == 3
    assert reader.fetchone() == (1,)
    with pytest.raises(duckdb.ConstraintException):
        writer.execute("create temp table one (i int unique); insert into one values (1), (1)")
    setter.execute("set threads = 4")
    with queryscope.label("aborted"), pytest.raises(duckdb.TransactionException):
        writer.execute("select 1")
    writer.execute("rollback")
    assert threads_of(sent, writer, "rolled back") == 4
    assert connection.execute("select count(*) from t where i < 0").fetchall() == [(0,)]


def test_threads_that_cannot_be_read_are_not_told(
    sent: Sent, connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection.execute("set threads = 3")
    assert threads_of(sent, connection, "known") == 3
    ask, asked = DuckDBAdapter.ask, []

    def refuse(self: DuckDBAdapter, beside: object, statement: str, parameters: object = None) -> list:
        asked.append(statement)
        raise duckdb.ConnectionException("no")

    monkeypatch.setattr(DuckDBAdapter, "ask", refuse)
    connection.execute("set threads = 4")
    assert threads_of(sent, connection, "unknown") is None
    assert threads_of(sent, connection, "still unknown") is None
    assert asked == ["SELECT current_setting('threads')"], "it is not asked for again with each query"
    monkeypatch.setattr(DuckDBAdapter, "ask", ask)
    connection.execute("set threads = 5")
    assert threads_of(sent, connection, "known again") == 5


def test_threads_are_read_once(
    sent: Sent, connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask, asked = DuckDBAdapter.ask, []

    def count(self: DuckDBAdapter, beside: object, statement: str, parameters: object = None) -> list:
        asked.append(statement)
        return ask(self, beside, statement, parameters)

    monkeypatch.setattr(DuckDBAdapter, "ask", count)
    for number in range(50):
        connection.execute("select ?", [number]).fetchall()
    assert asked == []
    connection.execute("set threads = 3")
    for number in range(50):
        connection.execute("select ?", [number]).fetchall()
    assert asked == ["SELECT current_setting('threads')"]
    with duckdb.connect() as other:
        other.execute("select 1").fetchall()
        other.execute("select 1").fetchall()
    assert len(asked) == 2, "with the other settings of a new connection"


def test_threads_are_read_while_others_set_them(sent: Sent, connection: duckdb.DuckDBPyConnection) -> None:
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            cursor = connection.cursor()
            for part in range(20):
                if number < 2:
                    cursor.execute(f"set threads = {2 + (part + number) % 3}")
                assert cursor.execute("select count(*) from t").fetchall() == [(ROWS,)]
        except BaseException as error:
            failed.append(error)

    workers = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert failed == [] and not any(worker.is_alive() for worker in workers)
    setting = connection.execute("select current_setting('threads')").fetchall()[0][0]
    assert threads_of(sent, connection, "at the end") == setting


def test_statements_that_may_change_threads() -> None:
    several = "select 1;\n/* ; */ PRAGMA worker_threads = 2"
    for statement in ("set threads=1", "RESET Threads", several, 'SET "threads"=1'):
        assert may_change_threads(statement), statement
    for statement in ("select 1", "set memory_limit = '1GB'", "select threads from t", "select 'offset' threads", None):
        assert not may_change_threads(statement), statement


def test_only_single_queries_are_planned_twice() -> None:
    assert is_read_only("select 1") and is_read_only(" (with a as (select 1) from a) ;")
    assert is_read_only("/* of dbt */ -- and more\n select 1") and not is_read_only("-- select 1\ninsert into t from t")
    assert not is_read_only("insert into t values (1)") and not is_read_only("select 1; drop table t")
    assert not is_read_only("") and not is_read_only("create table t (i int)")


def test_both_generations_of_names_are_read() -> None:
    old = {
        "children": [
            {"operator_type": "HASH_JOIN", "operator_timing": 0.5, "operator_cardinality": 7, "extra_info": {},
             "children": [{"operator_type": "TABLE_SCAN", "operator_cardinality": 3, "extra_info": {"Table": "t"}},
                          {"operator_type": "PANDAS_SCAN", "operator_cardinality": 4}]}
        ]
    }
    new = {"operator": [{"type": "RESULT_COLLECTOR", "children": [
        {"type": "HASH_JOIN", "timing": 0.5, "intermediate_rows": 7,
         "children": [{"type": "TABLE_SCAN", "intermediate_rows": 3, "extra_info": {"Table": "t"}},
                      {"type": "PANDAS_SCAN", "intermediate_rows": 4}]}]}]}
    left, right = operators(json.dumps(old)), operators(json.dumps(new))
    assert left == right
    assert left[0].inputs == [1, 2] and left[0].counters == {"rows_out": 7, "busy_ns": 500_000_000, "rows_in": 7}
    assert aligned(left, right) and not aligned(left, right[:2])
    assert role("PANDAS_SCAN") == "dataframe" and role("READ_PARQUET") == "scan" and role("ODD") == "unknown"
    assert left[1].properties == {"table": "t"}


# What the fingerprint of a plan takes of an operator.
TERMS = ("table", "format", "predicate", "keys", "order", "aggregates", "expressions", "how", "limit", "user_code")
QUERIES = {
    "scan": "select g, sum(i) from t where i > 5 group by g order by 2 desc limit 3",
    "join": "select count(*) from t a join t b on a.i = b.g where a.g < 3",
    "semi and anti": "select i from t where i in (select g from t) and i not in (select g from t where g > 7)",
    "cte": "with x as materialized (select g, count(*) n from t group by g) select * from x a join x b using (n)",
    "recursive": "with recursive r(n) as (select 1 union all select n + 1 from r where n < 9) select sum(n) from r",
    "recursive by key": "with recursive r(a, b) using key (a) as "
    "(select 1, 0 union select a, b + 1 from r where b < 9) select * from r",
    "window": "select row_number() over (partition by g order by i) from t qualify row_number() over (order by i) < 9",
    "set operations": "(select i from t union select g from t) except select 5 intersect select g from t",
    "distinct and sample": "select distinct g from t using sample 10 rows",
    "one file": "select sum(n) from '{folder}/events.parquet' a join (select 1 as i) b on a.n > b.i where n < 7",
    "files of a list": "select sum(n) from read_parquet(['{folder}/events.parquet', '{folder}/events2.parquet'])",
    "files by their columns": "with x as (from read_csv('{folder}/names.csv')) "
    "select count(*) from '{folder}/*.parquet', x where n = id and name like '%1'",
    "file and table": "select count(*) from t join '{folder}/names.csv' on i = id",
}


@pytest.fixture
def folder(connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> Path:
    for name in ("events", "events2"):
        connection.execute(f"copy (select range as n from range(10)) to '{tmp_path / name}.parquet'")
    connection.execute(f"copy (select range as id, 'n' || range as name from range(10)) to '{tmp_path}/names.csv'")
    return tmp_path


@pytest.mark.parametrize("name", QUERIES)
def test_a_plan_is_the_same_while_it_runs_and_at_its_end(
    connection: duckdb.DuckDBPyConnection, folder: Path, name: str
) -> None:
    if IS_OLD:
        pytest.skip("DuckDB 1.5 tells the profile itself while a query runs")
    sql = QUERIES[name].format(folder=folder)
    connection.execute(sql).fetchall()
    beside = connection.cursor()
    explained = operators(beside.execute(f"explain (format json) {sql}").fetchall()[0][1])
    name_files(explained, sql, None, lambda *asked: beside.execute(*asked).fetchall())
    ended = operators(connection.get_profiling_information("json"))
    told = [
        [(each.kind, each.inputs, {term: each.properties.get(term) for term in TERMS}) for each in plan]
        for plan in (explained, ended)
    ]
    assert told[0] == told[1]


@pytest.mark.skipif(IS_OLD, reason="DuckDB 1.5 tells the profile itself while a query runs")
@pytest.mark.parametrize(
    ("sql", "parameters", "tables"),
    [
        ("select sum(n) from read_parquet(?)", ["{folder}/events.parquet"], ["{folder}/events.parquet"]),
        ("select sum(n) from read_parquet($path)", {"path": "{folder}/events.parquet"}, ["{folder}/events.parquet"]),
        # Columns do not tell these two apart, and nobody knows what a view reads.
        ("from '{folder}/events.parquet' a join '{folder}/events2.parquet' b using (n)", None, [None] * 2),
        ("select count(*) from v, '{folder}/events.parquet' b where v.id = b.n", None, [None] * 2),
    ],
)
def test_files_of_a_running_query_are_named_where_they_are_certain(
    connection: duckdb.DuckDBPyConnection, folder: Path, sql: str, parameters: object, tables: list[str | None]
) -> None:
    connection.execute(f"create view v as from '{folder}/names.csv'")
    sql, parameters, tables = json.loads(json.dumps([sql, parameters, tables]).replace("{folder}", str(folder)))
    plan = operators(connection.execute(f"explain (format json) {sql}", parameters).fetchall()[0][1])
    name_files(plan, sql, parameters, lambda *asked: connection.execute(*asked).fetchall())
    assert [each.properties.get("table") for each in plan if "format" in each.properties] == tables


def test_a_running_query_has_the_plan_of_an_ended_one(sent: Sent, connection: duckdb.DuckDBPyConnection) -> None:
    for label, rows in (("long", 40_000), ("short", 10)):
        with queryscope.label(label):
            connection.execute(f"select count(*) from t a, t b where a.i < {rows} and a.i + b.i % 7 > 3").fetchall()
    long, short = (sent.profile(label)["plan"]["physical"] for label in ("long", "short"))
    [started] = [event for event in sent.events() if event["type"] == "query.started"]
    kinds = [[node["kind"] for node in plan] for plan in (started["profile"]["plan"]["physical"], long, short)]
    assert kinds[0] == kinds[1] == kinds[2] and "TABLE_SCAN" in kinds[0]


def test_columns_named_by_place_are_not_taken_for_names() -> None:
    tree = {"name": "HASH_GROUP_BY", "extra_info": {"Groups": "#0", "Aggregates": ["sum(#1)"]}}
    assert operators(json.dumps([tree]))[0].properties == {"keys_by_place": ["#0"], "aggregates_by_place": ["sum(#1)"]}


def test_deep_plans_are_read_without_recursion() -> None:
    tree: dict = {"name": "DUMMY_SCAN"}
    for _ in range(300):
        tree = {"name": "PROJECTION", "children": [tree]}
    assert len(operators(json.dumps(tree))) == 301

"""Queries of DataFusion in Python, as the engine runs them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datafusion
import pyarrow as pa
import pytest

import queryscope
from conftest import Sent
from queryscope.adapters._datafusion_plan import logical, physical

ROWS = 1_000
ENDLESS = "select v % 7 g, sum(sin(v)) s from (select value v from generate_series(1, 30000000000)) group by 1"


@pytest.fixture
def context() -> datafusion.SessionContext:
    context = datafusion.SessionContext()
    context.from_pydict({"a": list(range(ROWS)), "b": [1, 2, 3, 4] * (ROWS // 4)}, name="t")
    return context


def grouped(context: datafusion.SessionContext) -> datafusion.DataFrame:
    return context.sql("select b, sum(a) s from t where a > 10 group by b")


def test_a_query_has_its_plan_and_the_engines_counters(sent: Sent, context: datafusion.SessionContext) -> None:
    frame = grouped(context)
    with queryscope.label("grouped"):
        frame.collect()
    profile = sent.profile("grouped")
    assert (profile["datafusion_version"], profile["failed"]) == (datafusion.__version__, None)
    assert profile["result_rows"] == 4 and profile["cpu_ms"] > 0
    assert profile["call_site"]["filepath"] == __file__
    metrics = [metrics for _, metrics in frame.execution_plan().collect_metrics()]
    engines = [each for each in metrics if each.output_rows is not None]
    told = [node["metrics"] for node in profile["plan"]["physical"] if "rows_out" in node.get("metrics", {})]
    assert [each["rows_out"] for each in told] == [each.output_rows for each in engines]
    assert [each["busy_ns"] for each in told] == [each.elapsed_compute for each in engines]
    [filtered] = [node for node in profile["plan"]["physical"] if node["role"] == "selection"]
    # DataFusion counts nothing in a table in memory, so what the filter took is not known.
    assert filtered["metrics"]["rows_out"] == ROWS - 11 and "rows_in" not in filtered["metrics"]
    spread = profile["plan"]["physical"][filtered["id"] - 1]
    assert (spread["kind"], spread["metrics"]["rows_in"]) == ("RepartitionExec", ROWS - 11)
    [condition] = [node for node in profile["plan"]["logical"] if node["role"] == "selection"]
    assert condition["properties"]["predicate"] == "t.a > Int64(10)"
    assert profile["insights"]["findings"] == []


def test_scans_tell_their_waits_and_nodes_their_largest_partition(sent: Sent, tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    config = datafusion.SessionConfig().with_target_partitions(4)
    config = config.set("datafusion.optimizer.repartition_file_min_size", "1")
    context = datafusion.SessionContext(config)
    # One value in 98 of 100 rows: a partition of the aggregation takes nearly all.
    rows = pa.table({"key": [number if number % 50 == 0 else 3 for number in range(20_000)]})
    context.from_arrow(rows).write_parquet(path)
    context.register_parquet("events", path)
    with queryscope.label("skewed"):
        context.sql("select key, row_number() over (partition by key) n from events").collect()
    nodes = sent.profile("skewed")["plan"]["physical"]
    [window] = [node for node in nodes if "Window" in node["kind"]]
    assert window["metrics"]["partitions"] == 4
    assert window["metrics"]["partition_rows_max"] >= 0.98 * 20_000
    [scan] = [node for node in nodes if node["role"] == "scan"]
    # Without the range of bytes that the first partition reads.
    assert scan["properties"]["table"].endswith("/events.parquet")
    custom = {each["key"]: each["value"] for each in scan["metrics"]["custom"]}
    assert custom["time_elapsed_scanning_total"] > 0 and scan["metrics"]["busy_ns"] >= custom["time_elapsed_processing"]


METHODS: dict[str, Callable[[datafusion.DataFrame, Path], Any]] = {
    "collect": lambda frame, _: frame.collect(),
    "collect_partitioned": lambda frame, _: frame.collect_partitioned(),
    "collect_column": lambda frame, _: frame.collect_column("s"),
    "to_arrow_table": lambda frame, _: frame.to_arrow_table(),
    "to_pylist": lambda frame, _: frame.to_pylist(),
    "to_pydict": lambda frame, _: frame.to_pydict(),
    "to_polars": lambda frame, _: frame.to_polars(),
    "iteration": lambda frame, _: list(frame),
    "stream": lambda frame, _: list(frame.execute_stream()),
    "streams": lambda frame, _: [list(stream) for stream in frame.execute_stream_partitioned()],
    "given up": lambda frame, _: next(iter(frame.execute_stream())),
    "asynchronous": lambda frame, _: asyncio.run(all_of(frame)),
    "show": lambda frame, _: frame.show(),
    "repr": lambda frame, _: repr(frame),
    "count": lambda frame, _: frame.count(),
    "cache": lambda frame, _: frame.cache(),
    "parquet": lambda frame, folder: frame.write_parquet(folder / "out.parquet"),
    "csv": lambda frame, folder: frame.write_csv(folder / "out"),
}
WITHOUT_COUNTERS = ("collect_column", "show", "repr", "count", "cache", "parquet", "csv")


async def all_of(frame: datafusion.DataFrame) -> list[Any]:
    return [batch async for batch in frame]


@pytest.mark.parametrize("name", METHODS)
def test_each_execution_is_told_of_once(
    sent: Sent, context: datafusion.SessionContext, tmp_path: Path, name: str
) -> None:
    frame = grouped(context)
    with queryscope.label(name):
        METHODS[name](frame, tmp_path)
    profile = sent.profile(name)
    assert profile["failed"] is None
    assert [node["kind"] for node in profile["plan"]["logical"]] == ["Projection", "Aggregate", "Filter", "TableScan"]
    assert (profile["plan"]["physical"] == []) == (name in WITHOUT_COUNTERS)
    queryscope.uninstall()
    assert len(sent.profiles()) == 1


def test_a_frame_that_is_executed_again_has_new_counters(sent: Sent, context: datafusion.SessionContext) -> None:
    frame = context.sql("select a from t where a < 10")
    for number in range(3):
        with queryscope.label(f"run {number}"):
            frame.collect()
    for number in range(3):
        profile = sent.profile(f"run {number}")
        assert profile["result_rows"] == 10
        assert profile["plan"]["physical"][0]["metrics"]["rows_out"] == 10


def test_failures_and_statements(sent: Sent, context: datafusion.SessionContext) -> None:
    with queryscope.label("no table"), pytest.raises(Exception, match="nothing"):
        context.sql("select * from nothing")
    with queryscope.label("no number"), pytest.raises(Exception, match="Cannot cast"):
        context.sql("select cast('x' || a as int) from t").collect()
    with queryscope.label("no number in a stream"), pytest.raises(Exception, match="Cannot cast"):
        list(context.sql("select cast('x' || a as int) from t").execute_stream())
    context.sql("create table u as select a from t")
    with queryscope.label("insert"):
        context.sql("insert into u select a from t").collect()
    assert "nothing" in sent.profile("no table")["failed"]
    for label in ("no number", "no number in a stream"):
        failed = sent.profile(label)
        assert "Cannot cast" in failed["failed"] and failed["plan"]["logical"] != []
    assert [node["role"] for node in sent.profile("insert")["plan"]["physical"]][0] == "sink"


def test_an_interrupted_query_is_cancelled(tmp_path: Path) -> None:
    program = f"""
    import os, signal, sys, threading
    import datafusion
    import queryscope
    queryscope.install(exporters=[queryscope.ProfilesFile(sys.argv[1])])
    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        with queryscope.label("endless"):
            datafusion.SessionContext().sql("{ENDLESS}").collect()
    except KeyboardInterrupt:
        print("interrupted")
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "{engine}.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert (done.stdout.strip(), done.stderr) == ("interrupted", "")
    [line] = (tmp_path / "datafusion.jsonl").read_text().splitlines()
    assert json.loads(line)["failed"] == "cancelled"


def test_a_long_query_is_seen_while_it_runs(sent: Sent) -> None:
    # A function that waits for each batch makes the query long on a machine of any speed.
    def slow(column: pa.Array) -> pa.Array:
        time.sleep(0.05)
        return column

    batch_rows, batches = 1_000, 60
    config = datafusion.SessionConfig().with_target_partitions(1).with_batch_size(batch_rows)
    context = datafusion.SessionContext(config)
    context.register_udf(datafusion.udf(slow, [pa.int64()], pa.int64(), "volatile", "slow"))
    rows = batch_rows * batches
    with queryscope.label("long"):
        context.sql(f"select sum(slow(value)) from generate_series(1, {rows})").collect()
    queryscope.uninstall()
    assert sent.profile("long")["wall_ms"] > 2_000
    [started] = [event for event in sent.events() if event["type"] == "query.started"]
    source = started["profile"]["plan"]["physical"][-1]
    assert source["kind"] == "LazyMemoryExec"
    samples = [event["nodes"] for event in sent.events() if event["type"] == "query.progress"]
    assert any(0 < nodes.get(str(source["id"]), {}).get("rows_out", 0) <= rows for nodes in samples)


def test_threads_have_queries_of_their_own(sent: Sent, context: datafusion.SessionContext) -> None:
    def work(number: int) -> None:
        with queryscope.label(f"thread {number}"):
            context.sql(f"select a from t order by a limit {number + 1}").collect()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = {number: sent.profile(f"thread {number}")["result_rows"] for number in range(32)}
    assert rows == {number: number + 1 for number in range(32)}


def test_datafusion_is_left_as_it_was(sent: Sent, context: datafusion.SessionContext) -> None:
    frame, stream = datafusion.DataFrame, datafusion.RecordBatchStream
    before = [frame.collect, frame.__repr__, stream.__next__, datafusion.SessionContext.sql]
    queryscope.uninstall()
    after = [frame.collect, frame.__repr__, stream.__next__, datafusion.SessionContext.sql]
    assert not any(old is new for old, new in zip(before, after, strict=True))
    assert all(new.__module__.startswith("datafusion") and not hasattr(new, "__wrapped__") for new in after)
    assert grouped(context).count() == 4
    assert sent.profiles() == []


class Plan:
    """A node of a plan, as DataFusion shows it."""

    def __init__(self, line: str, *below: Plan) -> None:
        self.line = line
        self.below = list(below)

    def display(self) -> str:
        return self.line + "\n"

    def children(self) -> list[Plan]:
        return self.below

    inputs = children


def test_literals_of_physical_nodes_are_not_told() -> None:
    secret = "k9tzq, expr=[k9tzq]"
    lines = (
        f"FilterExec: c@1 = {secret}, projection=[a@0]",
        f"ProjectionExec: expr=[{secret} as a]",
        f"AggregateExec: mode=Partial, gby=[{secret}@0 as b], aggr=[]",
        f"SortExec: expr=[c@0 || {secret} ASC], preserve_partitioning=[true]",
        f"HashJoinExec: mode=Partitioned, join_type=Inner, on=[(a@0, {secret})], filter=a@0 = {secret}",
        f"DataSourceExec: file_groups={{1 group: [[a.parquet]]}}, file_type=parquet, predicate=c@1 = {secret}",
    )
    for line in lines:
        assert "k9tzq" not in json.dumps(physical(Plan(line))[0][0]), line


def test_lines_of_logical_nodes() -> None:
    plan = Plan(
        "Inner Join: t.a = u.a, t.b = u.b Filter: t.c = Utf8(\"x, y\")",
        Plan("Aggregate: groupBy=[[t.a, t.b]], aggr=[[sum(t.c), count(Int64(1))]]"),
        Plan("TableScan: u projection=[a, b], full_filters=[u.a > Int64(1), u.b < Int64(2)], fetch=5"),
    )
    join, aggregate, scan = logical(plan)
    assert join["properties"] == {
        "how": "inner",
        "keys": ["t.a = u.a", "t.b = u.b"],
        "predicate": 't.c = Utf8("x, y")',
    }
    assert aggregate["properties"] == {"keys": ["t.a", "t.b"], "expressions": ["sum(t.c)", "count(Int64(1))"]}
    assert scan["properties"]["predicate"] == ["u.a > Int64(1)", "u.b < Int64(2)"]
    assert (scan["properties"]["limit"], scan["properties"]["projection"]) == (5, ["a", "b"])
    odd = logical(Plan("Teleport"))[0]
    assert (odd["kind"], odd["role"], odd["properties"]) == ("Teleport", "unknown", {})

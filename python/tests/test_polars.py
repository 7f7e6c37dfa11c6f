"""Queries of Polars, as the engine runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import polars as pl
import pytest

import queryscope
from conftest import Sent

ROWS = 1_000


def frame() -> pl.LazyFrame:
    return pl.LazyFrame({"a": range(ROWS), "b": [1, 2, 3, 4] * (ROWS // 4)})


def nodes(profile: dict, kind: str) -> list[dict]:
    return [node for node in profile["plan"]["physical"] if node["kind"] == kind]


def test_a_query_has_its_plan_and_counters_in_our_names(sent: Sent) -> None:
    with queryscope.label("grouped"):
        frame().filter(pl.col("a") > 10).group_by("b").agg(pl.col("a").sum()).collect(engine="streaming")
    profile = sent.profile("grouped")
    assert profile["schema"] == "polars-telemetry/profile@1"
    assert profile["polars_version"] == pl.__version__
    assert (profile["result_rows"], profile["failed"]) == (4, None)
    assert 0 < profile["cpu_ms"] and 0 < profile["planning_ms"] <= profile["wall_ms"]
    assert profile["call_site"]["filepath"] == __file__
    assert profile["call_site"]["function"] == "test_a_query_has_its_plan_and_counters_in_our_names"
    [scan], [filtered] = nodes(profile, "InMemorySource"), nodes(profile, "Filter")
    assert (scan["role"], scan["metrics"]["rows_out"]) == ("dataframe", ROWS)
    counters = filtered["metrics"]
    assert (filtered["role"], counters["rows_in"], counters["rows_out"]) == ("selection", ROWS, ROWS - 11)
    assert counters["busy_ns"] > 0 and counters["done"] is True
    assert filtered["properties"]["predicate"] == 'col("a") > 10'
    assert {node["role"] for node in profile["plan"]["logical"]} >= {"sink", "aggregation", "selection"}


def test_an_in_memory_query_has_a_logical_plan_alone(sent: Sent) -> None:
    with queryscope.label("in memory"):
        frame().filter(pl.col("a") > 10).collect(engine="in-memory")
    profile = sent.profile("in memory")
    assert profile["plan"]["physical"] == []
    assert [node["kind"] for node in profile["plan"]["logical"]] == ["Sink", "Filter", "DataFrameScan"]


def test_failures_before_and_after_planning(sent: Sent) -> None:
    with queryscope.label("no column"), pytest.raises(pl.exceptions.ColumnNotFoundError):
        frame().select("zz").collect()
    with queryscope.label("no number"), pytest.raises(pl.exceptions.ComputeError):
        pl.LazyFrame({"t": ["x"]}).select(pl.col("t").str.to_integer(strict=True)).collect()
    unplanned, planned = sent.profile("no column"), sent.profile("no number")
    assert "unable to find column" in unplanned["failed"] and unplanned["plan"]["logical"] == []
    assert "strict integer parsing failed" in planned["failed"] and planned["plan"]["logical"] != []


def test_sinks_and_collect_all(sent: Sent, tmp_path: Path) -> None:
    target = tmp_path / "out.parquet"
    with queryscope.label("sink"):
        frame().sink_parquet(target)
    with queryscope.label("both"):
        pl.collect_all([frame().select("a"), frame().group_by("b").len()])
    assert [node["role"] for node in nodes(sent.profile("sink"), "FileSink")] == ["sink"]
    assert len(sent.profile("both")["plan"]["physical"]) > 4


def test_threads_have_queries_of_their_own(sent: Sent) -> None:
    def work(number: int) -> None:
        with queryscope.label(f"thread {number}"):
            frame().select(pl.col("a").head(number)).collect()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = {number: sent.profile(f"thread {number}")["result_rows"] for number in range(32)}
    assert rows == {number: number for number in range(32)}


def test_a_forked_child_is_a_stream_of_its_own(sent: Sent) -> None:
    with queryscope.label("parent"):
        frame().select("a").collect(engine="in-memory")
    child = os.fork()
    if child == 0:
        # The in-memory engine: Polars' own threads do not survive a fork.
        with queryscope.label("child"):
            pl.LazyFrame({"a": [1]}).collect(engine="in-memory")
        queryscope.uninstall()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    queryscope.uninstall()
    assert sorted(each["label"] for each in sent.profiles()) == ["child", "parent"]
    streams = {event["id"] for event in sent.events() if event["type"] == "process"}
    assert len(streams) == 2


def test_an_interrupted_query_is_cancelled(tmp_path: Path) -> None:
    program = """
    import os, signal, sys, threading
    import polars as pl
    import queryscope
    queryscope.install(exporters=[queryscope.ProfilesFile(sys.argv[1])])
    numbers = pl.LazyFrame({"a": range(600_000)})
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        with queryscope.label("endless"):
            numbers.join(numbers, how="cross").select((pl.col("a") * pl.col("a_right")).sum()).collect()
    except KeyboardInterrupt:
        print("interrupted")
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "{engine}.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert (done.stdout.strip(), done.stderr) == ("interrupted", "")
    [line] = (tmp_path / "polars.jsonl").read_text().splitlines()
    assert json.loads(line)["failed"] == "cancelled"


def test_polars_is_left_as_it_was(tmp_path: Path) -> None:
    from polars._utils import monitoring

    before = monitoring.monitoring_enabled_globally
    environment = dict(os.environ)
    queryscope.install(exporters=[queryscope.EventsFile(tmp_path / "{engine}.jsonl")])
    assert monitoring.monitoring_enabled_globally is not before
    assert dict(os.environ) == environment
    queryscope.uninstall()
    assert monitoring.monitoring_enabled_globally is before
    assert frame().collect().height == ROWS

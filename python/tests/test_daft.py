"""Queries of Daft, as the engine runs them."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import threading
import time
import types
from pathlib import Path
from typing import Any

import daft
import pytest

import queryscope
from conftest import Sent
from queryscope.adapters._daft_plan import logical, physical, reading
from queryscope.adapters.daft import DaftAdapter

ROWS = 1_000


def frame() -> daft.DataFrame:
    return daft.from_pydict({"a": list(range(ROWS)), "b": [1, 2, 3, 4] * (ROWS // 4)})


def nodes(profile: dict[str, Any], role: str, plan: str = "physical") -> list[dict[str, Any]]:
    return [node for node in profile["plan"][plan] if node["role"] == role]


def test_a_query_has_its_plan_and_counters(sent: Sent) -> None:
    with queryscope.label("grouped"):
        frame().where(daft.col("a") > 10).groupby("b").agg(daft.col("a").sum()).collect()
    profile = sent.profile("grouped")
    assert (profile["daft_version"], profile["failed"], profile["result_rows"]) == (daft.__version__, None, 4)
    assert profile["call_site"]["filepath"] == __file__
    [scan], [filtered] = nodes(profile, "dataframe"), nodes(profile, "selection")
    assert (scan["metrics"]["rows_out"], scan["metrics"]["done"]) == (ROWS, True)
    assert (filtered["metrics"]["rows_in"], filtered["metrics"]["rows_out"]) == (ROWS, ROWS - 11)
    assert filtered["inputs"] == [scan["id"]] and filtered["metrics"]["tasks_ns"] > 0
    [grouping] = nodes(profile, "aggregation", "logical")
    assert grouping["properties"] == {"expressions": ["sum(col(a))"], "keys": ["col(b)"]}
    assert profile["insights"]["findings"] == []


def test_files_are_read_and_written(sent: Sent, tmp_path: Path) -> None:
    with queryscope.label("written"):
        frame().write_parquet(str(tmp_path / "out"))
    with queryscope.label("read"):
        assert daft.read_parquet(str(tmp_path / "out" / "*.parquet")).where(daft.col("a") < 5).count_rows() == 5
    [write, _] = nodes(sent.profile("written"), "sink")[::-1]
    assert write["metrics"]["rows_written"] == ROWS and write["metrics"]["bytes_written"] > 0
    [scan] = nodes(sent.profile("read"), "scan")
    assert scan["metrics"]["rows_out"] == 5


def test_each_execution_is_told_of_once(sent: Sent) -> None:
    with queryscope.label("given up"):
        next(frame().select("a").iter_rows())
    with queryscope.label("shown"):
        frame().select("b").show(2)
    with queryscope.label("sql"):
        bound = frame()
        daft.sql("select max(a) as m from bound").collect()
    for label in ("given up", "shown", "sql"):
        assert sent.profile(label)["failed"] is None


def test_failures(sent: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    @daft.func
    def fail(value: int) -> int:
        raise ValueError(f"no such value {value}")

    with queryscope.label("in a function"), pytest.raises(Exception, match="no such value"):
        frame().select(fail(daft.col("a"))).collect()
    # What Daft tells no subscriber: a query that fails before it is executed.
    from daft.logical.builder import LogicalPlanBuilder

    def unplanned(*_: Any) -> Any:
        raise RuntimeError("cannot be planned")

    monkeypatch.setattr(LogicalPlanBuilder, "optimize", unplanned)
    with queryscope.label("planning"), pytest.raises(RuntimeError, match="cannot be planned"):
        frame().select("a").collect()
    failed = sent.profile("in a function")
    assert "no such value" in failed["failed"]
    [called] = [node for node in failed["plan"]["physical"] if "user_code" in node.get("properties", {})]
    assert (called["properties"]["user_code"], called["role"]) == ("fail", "map")
    assert sent.profile("planning")["failed"] == "cannot be planned"


@pytest.mark.parametrize("where", ["main", "thread"])
def test_an_interrupted_query_is_cancelled(tmp_path: Path, where: str) -> None:
    """On another thread, Daft says that the query has finished, and gives a part of its rows."""
    program = """
    import os, signal, sys, threading, time
    import daft
    import queryscope
    queryscope.install(exporters=[queryscope.ProfilesFile(sys.argv[1])])
    @daft.func
    def wait(value: int) -> int:
        time.sleep(0.01)
        return value
    def run():
        one, two = (daft.from_pydict({name: list(range(100_000))}) for name in "ab")
        pairs = one.join(two, how="cross").select(daft.col("a") * daft.col("b"))
        frame = one.limit(500).select(wait(daft.col("a"))) if sys.argv[2] == "main" else pairs.sum("a")
        with queryscope.label("endless"):
            frame.collect()
    worker = threading.Thread(target=run)
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        if sys.argv[2] == "main":
            run()
        else:
            worker.start()
            worker.join()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    if worker.is_alive():
        worker.join()
    queryscope.uninstall()
    # Daft's own threads still call the function, and abort where the interpreter ends under them.
    os._exit(0)
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "{engine}.jsonl"), where]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip().endswith("interrupted")
    [line] = (tmp_path / "daft.jsonl").read_text().splitlines()
    assert json.loads(line)["failed"] == "cancelled"


def test_a_result_that_is_not_read_on_has_finished(sent: Sent) -> None:
    with queryscope.label("given up"):
        rows = daft.from_pydict({"a": list(range(100_000))}).where(daft.col("a") > 1).iter_rows()
        assert next(rows) == {"a": 2}
        del rows
    assert sent.profile("given up")["failed"] is None


def test_a_long_query_is_seen_while_it_runs(sent: Sent) -> None:
    @daft.func
    def wait(value: int) -> int:
        time.sleep(0.02)
        return value

    with queryscope.label("long"):
        daft.from_pydict({"a": list(range(120))}).select(wait(daft.col("a"))).collect()
    queryscope.uninstall()
    [started] = [event for event in sent.events() if event["type"] == "query.started"]
    assert [node["role"] for node in started["profile"]["plan"]["physical"]] == ["map", "dataframe"]
    assert any(event["type"] == "query.progress" for event in sent.events())


def test_threads_have_queries_of_their_own(sent: Sent) -> None:
    def work(number: int) -> None:
        with queryscope.label(f"thread {number}"):
            frame().limit(number + 1).select("a").collect()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = {number: sent.profile(f"thread {number}")["result_rows"] for number in range(8)}
    assert rows == {number: number + 1 for number in range(8)}


def test_results_are_those_of_daft_alone(sent: Sent) -> None:
    def query() -> dict[str, Any]:
        return frame().groupby("b").agg(daft.col("a").sum()).sort("b").to_pydict()

    followed = query()
    queryscope.uninstall()
    assert query() == followed
    assert len(sent.profiles()) == 1


def test_names_of_functions_lose_their_numbers() -> None:
    plan = '{"type": "UDFProject", "expr": "__main__.f-424077-0(col(a)) as a", "children": [{"type": "Source"}]}'
    assert logical(plan)[0]["properties"] == {"expressions": "__main__.f(col(a)) as a"}
    assert logical(plan)[0]["inputs"] == [1]


def test_plans_of_another_shape() -> None:
    assert physical('{"type": "Teleport", "id": 3, "children": null}')[0]["role"] == "unknown"
    assert physical('{"type": "Filter"}') == []
    scanned = {"rows.out": ("COUNT", 3), "bytes.read": ("BYTES", 0)}
    assert reading(1, scanned, True)["counters"] == {"rows_out": 3}
    assert reading(1, {**scanned, "bytes.read": ("BYTES", 9)}, True)["counters"] == {"rows_out": 3, "bytes_read": 9}
    assert reading(1, {"selectivity": ("PERCENT", 50.0), "odd.name": ("COUNT", 3)}, True) == {
        "id": 1,
        "counters": {"odd_name": 3},
        "custom": [{"key": "selectivity", "unit": "%", "value": 50.0}],
        "done": True,
    }


def test_an_end_of_a_query_that_is_not_followed_is_passed_over() -> None:
    adapter = DaftAdapter.__new__(DaftAdapter)
    adapter._queries = {}
    adapter._end("unknown", types.SimpleNamespace(end_state="QueryEndState.Finished", error_message=None))
    assert adapter._queries == {}

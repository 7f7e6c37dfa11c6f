"""Queries of Polars, as the engine runs them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
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


def test_an_in_memory_query_is_nothing_to_warn_of(tmp_path: Path) -> None:
    program = """
    import sys
    import polars as pl
    import queryscope
    queryscope.install(exporters=[queryscope.ProfilesFile(sys.argv[1])])
    pl.LazyFrame({"a": [1]}).collect(engine="in-memory")
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "{engine}.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stderr == ""
    [line] = (tmp_path / "polars.jsonl").read_text().splitlines()
    assert json.loads(line)["plan"]["physical"] == []


def test_failures_before_and_after_planning(sent: Sent) -> None:
    with queryscope.label("no column"), pytest.raises(pl.exceptions.ColumnNotFoundError):
        frame().select("zz").collect()
    with queryscope.label("no number"), pytest.raises(pl.exceptions.ComputeError):
        pl.LazyFrame({"t": ["x"]}).select(pl.col("t").str.to_integer(strict=True)).collect()
    unplanned, planned = sent.profile("no column"), sent.profile("no number")
    assert "unable to find column" in unplanned["failed"] and unplanned["plan"]["logical"] == []
    assert 0 < unplanned["planning_ms"] <= unplanned["wall_ms"]
    assert "strict integer parsing failed" in planned["failed"] and planned["plan"]["logical"] != []


def test_a_panic_is_a_failure(sent: Sent) -> None:
    def of_another_type(part: pl.DataFrame) -> pl.DataFrame:
        return pl.DataFrame({"a": ["x"] * part.height})

    with queryscope.label("panic"), pytest.raises(pl.exceptions.PanicException) as raised:
        other = frame().select("a").map_batches(of_another_type, validate_output_schema=False)
        other.select(pl.col("a").sum()).collect()
    assert sent.profile("panic")["failed"] == str(raised.value) != ""


def test_sinks_and_collect_all(sent: Sent, tmp_path: Path) -> None:
    target = tmp_path / "out.parquet"
    with queryscope.label("sink"):
        frame().sink_parquet(target)
    with queryscope.label("both"):
        pl.collect_all([frame().select("a"), frame().group_by("b").len()])
    assert [node["role"] for node in nodes(sent.profile("sink"), "FileSink")] == ["sink"]
    assert len(sent.profile("both")["plan"]["physical"]) > 4


def test_queries_on_threads_of_polars_have_the_label_and_call_site_of_their_call(sent: Sent) -> None:
    async def await_it(lazy: pl.LazyFrame) -> pl.DataFrame:
        with queryscope.label("async"):
            return await lazy.collect_async(engine="streaming")

    async def await_both() -> None:
        with queryscope.label("all async"):
            await pl.collect_all_async([frame().select("a"), frame().select("b")], engine="streaming")

    assert asyncio.run(await_it(frame())).height == ROWS
    asyncio.run(await_both())
    with queryscope.label("batches"):
        assert sum(part.height for part in frame().collect_batches(engine="streaming")) == ROWS
    with queryscope.label("lazy batches"):
        batches = frame().collect_batches(engine="streaming", lazy=True)
    assert sum(part.height for part in batches) == ROWS
    with queryscope.label("sink batches"):
        frame().sink_batches(lambda _: None)
    for label, function in (
        ("async", "await_it"),
        ("all async", "await_both"),
        ("batches", "test_queries_on_threads_of_polars_have_the_label_and_call_site_of_their_call"),
        ("lazy batches", "test_queries_on_threads_of_polars_have_the_label_and_call_site_of_their_call"),
    ):
        assert sent.profile(label)["call_site"]["function"] == function
    assert [node["role"] for node in sent.profile("sink batches")["plan"]["physical"]][0] == "sink"


def test_where_calls_differ_a_label_is_not_guessed(sent: Sent) -> None:
    async def named(name: str) -> pl.DataFrame:
        with queryscope.label(name):
            return await frame().select(pl.col("a").head(5)).collect_async(engine="streaming")

    async def both() -> None:
        await asyncio.gather(*(named(name) for name in ("left", "right")))

    for _ in range(20):
        asyncio.run(both())
    queryscope.uninstall()
    labels = [each["label"] for each in sent.profiles()]
    assert len(labels) == 40
    # Right where it is certain, and else none: in each round both begin before either is told of, or one after another.
    assert set(labels) <= {"left", "right", None}
    assert labels.count("left") <= 20 and labels.count("right") <= 20


def test_a_lazy_sink_runs_once(sent: Sent, tmp_path: Path) -> None:
    with queryscope.label("lazy sink"):
        frame().sink_parquet(tmp_path / "out.parquet", lazy=True).collect(engine="streaming")
    assert [node["role"] for node in nodes(sent.profile("lazy sink"), "FileSink")] == ["sink"]
    assert pl.read_parquet(tmp_path / "out.parquet").height == ROWS


def test_each_failure_ends_its_own_query_where_queries_overlap(sent: Sent) -> None:
    """Polars hands out the observer that it made last: one is told of several queries, and of other threads'."""

    def work(number: int) -> None:
        for part in range(5):
            with queryscope.label(f"{number}.{part}"), pytest.raises(pl.exceptions.ComputeError):
                pl.LazyFrame({"t": [f"x{number}.{part}"]}).select(pl.col("t").str.to_integer()).collect()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    queryscope.uninstall()
    profiles = sent.profiles()
    assert len(profiles) == 80
    wrong = [each["label"] for each in profiles if f'"x{each["label"]}"' not in (each["failed"] or "")]
    assert wrong == []


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


INTERRUPTED = """
import os, signal, sys, threading, time
import polars as pl
import queryscope

def slowly(frame):
    time.sleep(1)
    return frame

queryscope.install(exporters=[queryscope.ProfilesFile(sys.argv[1])])
numbers = pl.LazyFrame({"a": range(600_000)})
pairs = numbers.join(numbers, how="cross").select(pl.col("a") * pl.col("a_right"))
queries = {
    "collect": lambda: pairs.sum().collect(),
    "collect_all": lambda: pl.collect_all([pairs.sum(), pairs.max()]),
    "sink": lambda: pairs.filter(pl.col("a") < 0).sink_csv(os.devnull),
    "in-memory": lambda: numbers.map_batches(slowly).sort("a").collect(engine="in-memory"),
}

def run(name):
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        with queryscope.label(name):
            queries[name]()
    except KeyboardInterrupt:
        print(name)

for name in sys.argv[3:]:
    if sys.argv[2] == "thread":
        worker = threading.Thread(target=run, args=(name,))
        worker.start()
        try:
            worker.join()
        except KeyboardInterrupt:
            worker.join()
    else:
        run(name)
"""


@pytest.mark.parametrize("where", ["main", "thread", "ignored"])
def test_an_interrupted_query_is_cancelled(tmp_path: Path, where: str) -> None:
    """Also one of another thread, and one of a program that a shell has started in the background.

    Python is not told of such an interrupt, or on another thread: that of Polars reaches all of its queries.
    """
    names = ["collect", "collect_all", "sink", "in-memory"]
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "{engine}.jsonl"), where, *names]
    ignore = (lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if where == "ignored" else None
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, preexec_fn=ignore)
    assert (done.stdout.splitlines(), done.stderr) == (names, "")
    profiles = [json.loads(line) for line in (tmp_path / "polars.jsonl").read_text().splitlines()]
    assert [(each["label"], each["failed"]) for each in profiles] == [(name, "cancelled") for name in names]


def test_an_interrupt_amid_batches(tmp_path: Path) -> None:
    """It reaches the program, and ends the query; between two batches, the query ends as one that is not read on."""
    program = """
    import os, signal, sys, threading
    import polars as pl
    import queryscope
    queryscope.install(exporters=[queryscope.ProfilesFile(sys.argv[1])])
    numbers = pl.LazyFrame({"a": range(600_000)})
    for _ in range(24):  # Some two of five interrupts come amid a batch.
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            for _ in numbers.join(numbers, how="cross").collect_batches(engine="streaming"):
                pass
            print("returned")
        except KeyboardInterrupt:
            pass
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "{engine}.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    # Now and then, also alone, Polars says of a thread of its own that the interrupt stopped it. Nothing else is said.
    ours = [line for line in done.stderr.splitlines() if "queryscope" in line or "Traceback" in line]
    assert (done.stdout, ours) == ("", [])
    assert done.stderr == "" or "__POLARS_ABORT_KEYBOARD_INTERRUPT" in done.stderr
    profiles = [json.loads(line) for line in (tmp_path / "polars.jsonl").read_text().splitlines()]
    assert "cancelled" in {each["failed"] for each in profiles} <= {"cancelled", None}


def test_what_a_handler_of_a_signal_raises_reaches_the_program(sent: Sent) -> None:
    def handler(*_: object) -> None:
        raise TimeoutError("too slow")

    numbers = pl.LazyFrame({"a": range(20_000)})
    before = signal.signal(signal.SIGALRM, handler)
    try:
        with queryscope.label("alarm"), pytest.raises(TimeoutError):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            numbers.join(numbers, how="cross").select((pl.col("a") * pl.col("a_right")).sum()).collect()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert sent.profile("alarm")["failed"] == "too slow"


def test_a_warning_of_polars_names_the_line_of_the_program(sent: Sent) -> None:
    with pytest.warns(DeprecationWarning, match="is_in") as warned:
        frame().select(pl.col("a").is_in(pl.Series([1]))).collect()
    assert {each.filename for each in warned} == {__file__}


def test_polars_is_left_as_it_was(tmp_path: Path) -> None:
    from polars._utils import monitoring
    from polars.lazyframe.engine import _LocalEngine

    collect = _LocalEngine.collect
    before = monitoring.monitoring_enabled_globally
    environment = dict(os.environ)
    queryscope.install(exporters=[queryscope.EventsFile(tmp_path / "{engine}.jsonl")])
    assert monitoring.monitoring_enabled_globally is not before
    assert _LocalEngine.collect is not collect
    assert dict(os.environ) == environment
    queryscope.uninstall()
    assert monitoring.monitoring_enabled_globally is before
    assert _LocalEngine.collect is collect
    assert frame().collect().height == ROWS

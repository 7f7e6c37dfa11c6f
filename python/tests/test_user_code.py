"""How long functions of the program run inside of queries of Polars."""

from __future__ import annotations

import pickle
import re
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl
import pytest
from polars.io.plugins import register_io_source

import queryscope
from conftest import Sent
from queryscope._native import Timed, UserCode
from queryscope.adapters._polars_user_code import TimedSource

BURNED = 0.3
TOLD_MIN_NS = 0.99 * BURNED * 1e9
"""What is told of it at least: the clocks differ a little."""


def burn(value: Any) -> Any:
    """Keeps the processor busy for a while by both clocks, which differ a little, and gives back what it got."""
    processor, wall = time.thread_time(), time.monotonic()
    while time.thread_time() < processor + BURNED or time.monotonic() < wall + BURNED:
        pass
    return value


def frame() -> pl.LazyFrame:
    return pl.LazyFrame({"a": [1, 2], "g": [1, 1]})


def summed(window: pl.Series) -> Any:
    return burn(window.sum())


def rows(*_: object) -> Iterator[pl.DataFrame]:
    for value in range(2):
        yield burn(pl.DataFrame({"a": [value]}))


QUERIES: dict[str, Callable[[], pl.LazyFrame]] = {
    "Expr.map_batches": lambda: frame().select(pl.col("a").map_batches(burn, return_dtype=pl.Int64)),
    "Expr.map_elements": lambda: frame().select(pl.col("a").head(1).map_elements(burn, return_dtype=pl.Int64)),
    "pl.map_batches": lambda: frame().select(
        pl.map_batches(["a"], lambda columns: burn(columns[0]), return_dtype=pl.Int64)
    ),
    "LazyFrame.map_batches": lambda: frame().map_batches(burn),
    "Expr.rolling_map": lambda: frame().select(pl.col("a").head(1).rolling_map(summed, window_size=1)),
    "pl.fold": lambda: frame().select(pl.fold(pl.lit(0), lambda sum_, column: burn(sum_ + column), ["a"])),
    "pl.reduce": lambda: frame().select(pl.reduce(lambda left, right: burn(left + right), ["a", "g"])),
    "pl.cum_fold": lambda: frame().select(pl.cum_fold(pl.lit(0), lambda sum_, column: burn(sum_ + column), ["a"])),
    "pl.cum_reduce": lambda: frame().select(pl.cum_reduce(lambda left, right: burn(left + right), ["a", "g"])),
    "register_io_source": lambda: register_io_source(rows, schema={"a": pl.Int64}, is_pure=True),
    "LazyGroupBy.map_groups": lambda: frame().group_by("g").map_groups(burn, schema=None),
}


@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
@pytest.mark.parametrize("name", QUERIES)
def test_the_time_of_a_function_that_burns_cpu_is_told(sent: Sent, name: str, engine: Any) -> None:
    with queryscope.label("burning"):
        QUERIES[name]().collect(engine=engine)
    with queryscope.label("plain"):
        frame().select("a").collect(engine=engine)
    profile = sent.profile("burning")
    told = profile["query_metrics"]["user_code_ns"]
    assert TOLD_MIN_NS <= told <= profile["wall_ms"] * 1e6
    assert "user_code_ns" not in (sent.profile("plain").get("query_metrics") or {})


def test_the_finding_names_the_node_its_time_and_its_share(sent: Sent) -> None:
    with queryscope.label("slow"):
        pl.LazyFrame({"a": range(5)}).select(pl.col("a").map_elements(burn, return_dtype=pl.Int64)).collect(
            engine="streaming"
        )
    profile = sent.profile("slow")
    counters = profile["query_metrics"]
    assert 5 * TOLD_MIN_NS <= counters["user_code_ns"]
    # Its first and last moments are outside of what is measured.
    assert 0.9 * 5 * BURNED * 1e9 <= counters["process_cpu_ns"]
    [finding] = [each for each in profile["insights"]["findings"] if each["rule"] == "user_code"]
    [node] = [each for each in profile["plan"]["physical"] if each["id"] == finding["node_id"]]
    assert (node["kind"], node["metrics"]["rows_in"]) == ("Select", 5)
    # On a busy machine the calls wait for a core.
    title = r"User code \(python_udf\) is called for 5 rows; its calls take \S+ s of \S+ s"
    assert re.match(title + r"(, at least \S+ s of it off the CPU)?$", finding["title"])
    evidence = {each["name"]: each["value"] for each in finding["evidence"]}
    assert evidence["user_code"] == pytest.approx(counters["user_code_ns"] / 1e6)
    assert (finding["level"], evidence["saves_wall_at_most"]) == ("warn", evidence["user_code"])


def test_the_finding_names_a_source_written_in_python(sent: Sent) -> None:
    with queryscope.label("source"):
        register_io_source(rows, schema={"a": pl.Int64}, explain_name="orders").collect(engine="streaming")
    [finding] = sent.profile("source")["insights"]["findings"]
    assert (finding["rule"], finding["node_kind"]) == ("user_code", "PythonScan")
    assert finding["title"].startswith("User code (orders) gives 2 rows; its calls take ")


def test_a_source_is_timed_while_it_makes_rows_alone(sent: Sent) -> None:
    numbers = pl.LazyFrame({"b": range(20_000)})
    with queryscope.label("light source"):
        register_io_source(lambda *_: iter([pl.DataFrame({"a": range(20_000)})]), schema={"a": pl.Int64}).join(
            numbers, how="cross"
        ).select((pl.col("a") * pl.col("b")).sum()).collect(engine="streaming")
    profile = sent.profile("light source")
    assert 0 < profile["query_metrics"]["user_code_ns"] < profile["wall_ms"] * 1e6 / 2


def test_a_function_that_fails_is_told_too(sent: Sent) -> None:
    def fail(value: Any) -> Any:
        burn(value)
        raise ValueError("no such value")

    with queryscope.label("failing"), pytest.raises(ValueError, match="no such"):
        frame().select(pl.col("a").map_batches(fail, return_dtype=pl.Int64)).collect()
    profile = sent.profile("failing")
    assert "no such value" in profile["failed"]
    assert profile["query_metrics"]["user_code_ns"] >= TOLD_MIN_NS


def test_queries_at_the_same_time_get_no_figure(sent: Sent) -> None:
    both = threading.Barrier(2, timeout=20)

    def meet(value: Any) -> Any:
        both.wait()
        return value

    def work(name: str) -> None:
        with queryscope.label(name):
            frame().select(pl.col("a").map_batches(meet, return_dtype=pl.Int64)).collect()

    threads = [threading.Thread(target=work, args=(name,)) for name in ("left", "right")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in ("left", "right"):
        assert "user_code_ns" not in (sent.profile(name).get("query_metrics") or {})


def test_plans_and_results_are_those_of_polars_alone(sent: Sent) -> None:
    followed = [(query().explain(), query().collect()) for query in QUERIES.values()]
    queryscope.uninstall()
    alone = [(query().explain(), query().collect()) for query in QUERIES.values()]
    for (plan, rows), (plan_alone, rows_alone) in zip(followed, alone, strict=True):
        assert plan == plan_alone
        assert rows.equals(rows_alone)


def test_a_function_that_is_pickled_leaves_without_its_clock() -> None:
    clock = UserCode()
    copied = pickle.loads(pickle.dumps(Timed(abs, clock)))
    assert "queryscope" not in pickle.dumps(Timed(abs, clock)).decode("latin-1")
    assert copied(-3) == 3


def test_a_source_keeps_what_polars_puts_there(sent: Sent) -> None:
    def source(*_: object) -> Any:
        return iter([])

    source.io_source = "the program's own"  # type: ignore[attr-defined]
    timed = TimedSource(source, UserCode())
    assert timed.io_source == "the program's own"  # type: ignore[attr-defined]
    copy, arguments = timed.__reduce__()
    assert copy(*arguments) is source

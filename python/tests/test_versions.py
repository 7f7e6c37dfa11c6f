"""Versions of engines that nobody has seen yet, faked: the program goes on, with one warning."""

from __future__ import annotations

import logging
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import queryscope
from queryscope import _guard

POLARS = """
import logging
logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
import polars as pl
from queryscope.adapters.polars import _Observer
planned = _Observer.on_query_planned
{fake}
import queryscope
queryscope.install(exporters=[queryscope.EventsFile("{{engine}}.jsonl")], engines=["polars"])
for _ in range(3):
    print(pl.LazyFrame({{"a": [1, 2]}}).filter(pl.col("a") > 1).collect(engine="streaming").height)
queryscope.uninstall()
print(queryscope.stats()["sent"])
"""
DUCKDB = """
import logging
logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
import duckdb
{fake}
import queryscope
queryscope.install(exporters=[queryscope.EventsFile("{{engine}}.jsonl")], engines=["duckdb"])
connection = duckdb.connect()
for _ in range(3):
    print(len(connection.execute("select * from range(2)").fetchall()))
queryscope.uninstall()
print(queryscope.stats()["sent"])
"""
WITHOUT_MONITORING = """
import importlib
found = importlib.import_module
importlib.import_module = lambda name, *rest: found(name.replace("monitoring", "moved"), *rest)
"""
PROFILE = "duckdb.DuckDBPyConnection.get_profiling_information = "


def run(program: str, fake: str, folder: Path) -> tuple[list[str], list[str]]:
    """What a program printed, and what it warned of."""
    code = textwrap.dedent(program).format(fake=fake)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout.split(), done.stderr.splitlines()


@pytest.mark.parametrize(
    ("fake", "sent", "warning"),
    [
        ("", 3, None),
        (WITHOUT_MONITORING, 0, "following polars"),
        ("_Observer.on_query_planned = lambda self, *told: planned(self, *told[:2])", 0, "following a query of Polars"),
        ("_Observer.on_query_planned = lambda self, *told: planned(self, *told, 5, 6)", 3, None),
        ("_Observer.on_query_planned = lambda self, *told: planned(self, 'i', 5, 'text', None)", 0, "TypeError"),
        (
            "_Observer.on_query_planned = lambda self, i, handle, *plans: planned(self, i, handle, b'x', b'{}')",
            3,
            "could not be read",
        ),
        ("_Observer.on_query_planned = lambda self, i, handle, *plans: planned(self, i, 5, *plans)", 3, "snapshot"),
        ("import polars._plr as plr; function = plr.map_expr; del plr.map_expr", 3, "no time of user code"),
    ],
)
def test_polars(fake: str, sent: int, warning: str | None, tmp_path: Path) -> None:
    printed, warned = run(POLARS, fake, tmp_path)
    assert printed == ["1", "1", "1", str(sent)]
    assert len(warned) == (0 if warning is None else 1), warned
    assert warning is None or (warned[0].startswith("queryscope: queryscope: ") and warning in warned[0])


@pytest.mark.parametrize(
    ("fake", "sent", "warning"),
    [
        ("", 3, None),
        (f"{PROFILE}lambda *_: 'no JSON'", 3, "reading a profile of DuckDB"),
        (f"{PROFILE}lambda *_: '5'", 3, "reading a profile of DuckDB"),
        (f"{PROFILE}lambda *_: '{{}}'", 3, None),
        (f"{PROFILE}None", 3, "asking DuckDB for a profile"),
        ("del duckdb.DuckDBPyConnection", 0, "following duckdb"),
        ("del duckdb.sql, duckdb.query, duckdb.executemany", 3, None),
    ],
)
def test_duckdb(fake: str, sent: int, warning: str | None, tmp_path: Path) -> None:
    printed, warned = run(DUCKDB, fake, tmp_path)
    assert printed == ["2", "2", "2", str(sent)]
    assert len(warned) == (0 if warning is None else 1), warned
    assert warning is None or (warned[0].startswith("queryscope: queryscope: ") and warning in warned[0])


def test_a_call_of_the_observer_that_is_not_known(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    import polars  # noqa: F401

    _guard._warned.clear()
    queryscope.install(exporters=[queryscope.EventsFile(tmp_path / "{engine}.jsonl")], engines=["polars"])
    try:
        with caplog.at_level(logging.WARNING, logger="queryscope"):
            for _ in range(2):
                observer = sys.modules["polars_cloud"].QueryCloudObserver("workspace", "organization")
                assert observer.on_query_paused("an id") is None
    finally:
        queryscope.uninstall()
    assert [record.getMessage() for record in caplog.records] == [
        "queryscope: this version of Polars calls on_query_paused, which is not known"
    ]

"""Versions of engines that nobody has seen yet, faked: the program goes on, with one warning."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

import queryscope
from queryscope import _guard

# Three queries, each of which prints its number of rows.
PROGRAM = """
import logging, os, sys
logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
{imports}
{fake}
import queryscope
queryscope.install(exporters=[queryscope.ProfilesFile("{{engine}}.jsonl")], engines=["{engine}"])
for _ in range(3):
    print({query})
queryscope.uninstall()
# Daft may crash while the interpreter ends, also without this package: 2 of 25 times on a busy machine.
sys.stdout.flush()
os._exit(0)
"""
OBSERVER = """
from queryscope.adapters.polars import _Observer
planned = _Observer.on_query_planned
"""
IMPORTS = {
    "polars": f"import polars as pl{OBSERVER}",
    "duckdb": "import duckdb",
    "daft": "import daft",
    "datafusion": "import datafusion",
}
QUERIES = {
    "polars": 'pl.LazyFrame({"a": [1, 2]}).filter(pl.col("a") > 1).collect(engine="streaming").height',
    "duckdb": 'len(duckdb.connect().execute("select * from range(2)").fetchall())',
    "daft": 'daft.from_pydict({"a": [1, 2]}).where(daft.col("a") > 1).count_rows()',
    "datafusion": (
        'datafusion.SessionContext().sql("select * from generate_series(1, 2)").to_arrow_table().num_rows'
    ),
}
WITHOUT_MONITORING = """
import importlib
found = importlib.import_module
importlib.import_module = lambda name, *rest: found(name.replace("monitoring", "moved"), *rest)
"""
PROFILE = "duckdb.DuckDBPyConnection.get_profiling_information = "


def check(engine: str, fake: str, rows: int, ended: int, warning: str | None, folder: Path) -> None:
    """Runs the program with a fake: so many runs are written, and it warns once or not at all."""
    code = PROGRAM.format(engine=engine, imports=IMPORTS[engine], fake=fake, query=QUERIES[engine])
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split() == [str(rows)] * 3
    profiles = folder / f"{engine}.jsonl"
    written = profiles.read_text().splitlines() if profiles.exists() else []
    assert len(written) == ended
    warned = done.stderr.splitlines()
    assert len(warned) == (0 if warning is None else 1), warned
    assert warning is None or (warned[0].startswith("queryscope: queryscope: ") and warning in warned[0])


@pytest.mark.parametrize(
    ("fake", "ended", "warning"),
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
def test_polars(fake: str, ended: int, warning: str | None, tmp_path: Path) -> None:
    check("polars", fake, 1, ended, warning, tmp_path)


@pytest.mark.parametrize(
    ("fake", "ended", "warning"),
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
def test_duckdb(fake: str, ended: int, warning: str | None, tmp_path: Path) -> None:
    check("duckdb", fake, 2, ended, warning, tmp_path)


OURS = "import queryscope.adapters.daft as ours; "


@pytest.mark.parametrize(
    ("fake", "ended", "warning"),
    [
        ("", 3, None),
        ("del daft.attach_subscriber", 0, "has no subscribers"),
        (f"{OURS}ours.physical = lambda text: 1 / 0", 3, "following a query of Daft"),
        (f"{OURS}ours.reading = lambda *_: 1 / 0", 3, "reading counters of Daft"),
        (f"{OURS}ours.logical = lambda text: 1 / 0", 3, "reading a plan of Daft"),
    ],
)
def test_daft(fake: str, ended: int, warning: str | None, tmp_path: Path) -> None:
    check("daft", fake, 1, ended, warning, tmp_path)


@pytest.mark.parametrize(
    ("fake", "ended", "warning"),
    [
        ("", 3, None),
        ("del datafusion.RecordBatchStream", 0, "following datafusion"),
        ("del datafusion.DataFrame.collect_column, datafusion.SessionContext.sql_with_options", 3, None),
        ("datafusion.DataFrame.execution_plan = lambda frame: 5", 3, "reading a plan of DataFusion"),
        ("datafusion.DataFrame.optimized_logical_plan = lambda frame: 5", 3, "reading a plan of DataFusion"),
    ],
)
def test_datafusion(fake: str, ended: int, warning: str | None, tmp_path: Path) -> None:
    check("datafusion", fake, 2, ended, warning, tmp_path)


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

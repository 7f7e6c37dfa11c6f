"""Installing: options, counts, engines that are imported later or do not fit."""

from __future__ import annotations

import logging
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import queryscope
from queryscope import _guard, _install


def run(program: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"url": "no address", "token": "t"}, "not the address of a server"),
        ({"url": "http://127.0.0.1:1"}, "TELEMETRY_TOKEN"),
        ({"url": "http://127.0.0.1:1", "token": "t", "timeout": 0}, "timeout"),
        ({"redact": ["secrets"]}, "literals, paths, errors"),
        ({"engines": ["spark"]}, "polars, duckdb, datafusion, daft"),
    ],
)
def test_an_invalid_option_is_named(
    options: dict[str, object], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TELEMETRY_TOKEN", raising=False)
    with pytest.raises(ValueError, match=said):
        queryscope.install(**options)  # type: ignore[arg-type]
    assert _install._installation is None


def test_only_one_is_installed(tmp_path: Path) -> None:
    place = queryscope.EventsFile(tmp_path / "{engine}.jsonl")
    queryscope.install(exporters=[place], engines=[])
    try:
        with pytest.raises(RuntimeError, match="uninstall"):
            queryscope.install(exporters=[place])
        assert queryscope.last() is None
    finally:
        queryscope.uninstall()
    queryscope.uninstall()
    assert queryscope.stats()["enqueued"] == 0


def test_without_an_address_events_go_to_a_file_below_home(tmp_path: Path) -> None:
    done = run(
        """
        import queryscope
        queryscope.install()
        import duckdb
        duckdb.execute("select 1").fetchall()
        """,
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    files = list((tmp_path / ".local/state/queryscope").glob("events-duckdb-*.jsonl.gz"))
    assert len(files) == 1
    assert files[0].stat().st_size > 0


def test_an_engine_that_does_not_fit_costs_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import polars

    from queryscope.adapters import polars as adapter

    def refuse(*_: object) -> None:
        raise RuntimeError("another version")

    monkeypatch.setattr(adapter, "start", refuse)
    _guard._warned.clear()
    with caplog.at_level(logging.WARNING, logger="queryscope"):
        for _ in range(2):
            queryscope.install(exporters=[queryscope.EventsFile(tmp_path / "{engine}.jsonl")], engines=["polars"])
            assert polars.LazyFrame({"a": [1]}).collect().height == 1
            queryscope.uninstall()
    assert [record.getMessage() for record in caplog.records] == [
        "queryscope: following polars failed (RuntimeError: another version)"
    ]


def test_importing_the_package_imports_no_engine(tmp_path: Path) -> None:
    done = run(
        """
        import sys
        import queryscope
        print([name for name in ("polars", "duckdb", "datafusion", "daft") if name in sys.modules])
        """,
        tmp_path,
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_a_service_that_refuses_is_warned_of(tmp_path: Path) -> None:
    """The library warns on its own threads; the warning comes out of Python's logging."""
    done = run(
        """
        import http.server, logging, threading, time
        logging.basicConfig(level=logging.WARNING, format="%(name)s %(levelname)s %(message)s")

        class Refusing(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(401)
                self.send_header("Content-Length", "0")
                self.end_headers()
            def log_message(self, *_): pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        import queryscope
        queryscope.install(f"http://127.0.0.1:{server.server_port}", "wrong", engines=["duckdb"])
        import duckdb
        for _ in range(3):
            duckdb.execute("select 1").fetchall()
            time.sleep(0.7)
        queryscope.uninstall()
        """,
        tmp_path,
    )
    lines = done.stderr.splitlines()
    assert done.returncode == 0 and len(lines) == 1, done.stderr
    assert lines[0].startswith("queryscope WARNING queryscope: ") and "401" in lines[0]


def test_a_table_of_queries_is_printed_with_one_header(tmp_path: Path) -> None:
    done = run(
        """
        import queryscope
        queryscope.install(exporters=[queryscope.ConsoleTable()])
        import duckdb
        import polars
        with queryscope.label("from duckdb"):
            duckdb.execute("select 1").fetchall()
        with queryscope.label("from polars"):
            polars.LazyFrame({"a": [1, 2]}).collect()
        queryscope.uninstall()
        assert queryscope.stats()["sent"] == 2, queryscope.stats()
        """,
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    header, *rows = done.stderr.splitlines()
    assert header.split() == ["label", "engine", "outcome", "time", "CPU", "rows", "found"]
    assert sorted(" ".join(row.split()[:4]) for row in rows) == [
        "from duckdb duckdb finished",
        "from polars polars finished",
    ]

"""From a program to the service of the same wheel, and back through its read API."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time
import urllib.request
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

WAIT_SECONDS = 60
TOKEN = "a-token-of-these-tests"

LONG_POLARS = """
numbers = pl.LazyFrame({"a": range(20_000), "g": [1, 2, 3, 4] * 5_000})
until = time.monotonic() + 4
with queryscope.label("long"):
    # Rows that are made by Python until the time is over.
    def rows(columns, predicate, n_rows, batch_size):
        while time.monotonic() < until:
            yield pl.DataFrame({"a": [1, 2, 3]})
            time.sleep(0.05)
    from polars.io.plugins import register_io_source
    register_io_source(rows, schema={"a": pl.Int64}).group_by("a").agg(pl.len()).collect()
"""
LONG_DUCKDB = """
connection = duckdb.connect()
connection.execute("create table t as select range i from range(100000)")
threading.Timer(4, connection.interrupt).start()
with queryscope.label("long"):
    try:
        connection.execute("select sum(a.i * b.i) from t a, t b, t c").fetchall()
    except duckdb.InterruptException:
        pass
"""
SHORT = """
for _ in range(10_000):
    with queryscope.label("short"):
        pl.LazyFrame({"a": [1]}).select("a").collect()
# Events of queries that ended just now are still being made: an empty queue is not the end.
deadline = time.monotonic() + 60
while queryscope.stats()["sent"] < 10_000 and time.monotonic() < deadline:
    time.sleep(0.05)
queryscope.uninstall()
print(queryscope.stats())
"""


class Service:
    def __init__(self, folder: Path) -> None:
        binary = shutil.which("queryscope", path=str(Path(sys.executable).parent))
        assert binary, "the wheel has no binary"
        self.binary = binary
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        arguments = ["--data", str(self.folder / "data"), "--bind", f"127.0.0.1:{self.port}", "--token", TOKEN]
        log = (self.folder / "log").open("ab")
        self.process = subprocess.Popen([self.binary, *arguments], stdout=log, stderr=log)
        self.eventually(lambda: self.get("/v1/health")["status"] == "ok")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:
            return json.load(answer)

    def queries(self, label: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get(f"/api/queries?limit=1000&label={quote(label)}")
        return found

    def eventually(self, what: Callable[[], Any]) -> Any:
        give_up = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                if answer := what():
                    return answer
            except OSError:
                pass
            assert time.monotonic() < give_up, (self.folder / "log").read_text()
            time.sleep(0.1)

    def program(self, text: str) -> subprocess.Popen[str]:
        head = f"""
        import threading, time
        import queryscope
        queryscope.install(
            {self.url!r}, {TOKEN!r}, service="programs", environment="tests", program_version="1.4.2"
        )
        import duckdb
        import polars as pl
        """
        code = textwrap.dedent(head) + text
        return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    service = Service(tmp_path)
    service.start()
    try:
        yield service
    finally:
        service.kill()


def fine(program: subprocess.Popen[str]) -> str:
    out, _ = program.communicate(timeout=120)
    assert program.returncode == 0
    return out


@pytest.mark.parametrize(
    ("engine", "text", "status"), [("polars", LONG_POLARS, "finished"), ("duckdb", LONG_DUCKDB, "failed")]
)
def test_a_query_is_followed_while_it_runs(service: Service, engine: str, text: str, status: str) -> None:
    program = service.program(text)
    [running] = service.eventually(lambda: service.queries("long"))
    assert (running["status"], running["engine"]) == ("running", engine)
    assert (running["service"], running["environment"]) == ("programs", "tests")
    assert running["program_version"] == "1.4.2"
    fine(program)
    [ended] = service.eventually(
        lambda: [each for each in service.queries("long") if each["status"] != "running"]
    )
    assert (ended["query_id"], ended["status"]) == (running["query_id"], status)
    assert ended["wall_ms"] > 2_000
    assert ended["engine_version"] == version(engine)
    assert ended in service.get(f"/api/queries?program_version=1.4.2&engine_version={version(engine)}")


def test_short_queries_are_counted_exactly_while_the_service_is_away(service: Service) -> None:
    program = service.program(SHORT)
    service.eventually(lambda: service.queries("short"))
    service.kill()
    time.sleep(1)
    service.start()
    counts = fine(program)
    assert "'enqueued': 10000, 'sent': 10000, 'queued': 0" in counts, counts
    runs = {group["key"]: group["runs"] for group in service.get("/api/groups")}
    assert runs["short"] == 10_000


def test_an_interrupted_program_leaves_no_query_running(service: Service) -> None:
    program = service.program("with queryscope.label('endless'):\n" + textwrap.indent(LONG_POLARS, "    "))
    service.eventually(lambda: service.queries("endless/long"))
    program.send_signal(signal.SIGINT)
    program.communicate(timeout=60)
    [ended] = service.eventually(
        lambda: [each for each in service.queries("endless/long") if each["status"] != "running"]
    )
    assert (ended["status"], ended["failed"]) == ("failed", "cancelled")


def test_events_files_are_imported(service: Service, tmp_path: Path) -> None:
    code = f"""
    import queryscope
    queryscope.install(exporters=[queryscope.EventsFile({str(tmp_path / "events.jsonl.gz")!r})])
    import duckdb
    with queryscope.label("offline"):
        duckdb.execute("select 42").fetchall()
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, timeout=60)
    service.kill()
    data = str(service.folder / "data")
    file = str(tmp_path / "events-duckdb.jsonl.gz")
    subprocess.run([service.binary, "import", "--data", data, file], check=True, timeout=60)
    service.start()
    assert [each["status"] for each in service.queries("offline")] == ["finished"]

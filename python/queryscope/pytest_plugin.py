"""Records the queries of a test run: `pytest --queryscope FILE` writes an events file, in which the label of each query
is the id of its test.

The file is what `queryscope gate` compares and `queryscope import` stores. The plugin sends nothing. With pytest-xdist,
each worker writes a file of its own; they are joined at the end.

Fixtures that several tests share run in whichever test comes first. Their queries are labelled by the fixture, so that
the labels do not depend on the order of tests.
"""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest

from queryscope import _install, _label
from queryscope._exporters import EventsFile

_PARTS = "queryscope_parts"
_FILE_BYTES = 1 << 40
_QUEUE_BYTES = 256 << 20
_WRITTEN_WITHIN_SECONDS = 60.0
_ENDED = b'"type":"query.finished"'
# Set by workers of pytest-xdist.
_WORKER = "workerinput"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("queryscope")
    group.addoption(
        "--queryscope",
        metavar="FILE",
        help="record the queries of each test in an events file, for `queryscope gate`; compressed with .gz at its end",
    )


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("queryscope")
    if not path:
        return
    worker = getattr(config, _WORKER, None)
    if worker is not None:
        config.pluginmanager.register(_Recorder(Path(worker[_PARTS])), "queryscope-recorder")
        return
    joiner = _Joiner(Path(path).absolute())
    config.pluginmanager.register(joiner, "queryscope-joiner")
    # With workers, this process runs no test.
    if getattr(config.option, "dist", "no") == "no" and not getattr(config.option, "tx", None):
        config.pluginmanager.register(_Recorder(joiner.parts), "queryscope-recorder")


class _Recorder:
    """Records the queries of this process."""

    def __init__(self, parts: Path) -> None:
        self._parts = parts
        _install.record(EventsFile(parts / "{engine}-{pid}.jsonl", _FILE_BYTES, 1), _QUEUE_BYTES)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        with _only(item.nodeid):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        place = f" in {fixturedef.baseid}" if fixturedef.baseid else ""
        name = f"fixture {fixturedef.argname}{place}"
        # The last to be added is the first to be called: between these two, what the fixture itself cleans up.
        stack: list[Callable[[], None]] = []
        fixturedef.addfinalizer(lambda: stack.pop()() if stack else None)
        try:
            with _only(name):
                return (yield)
        finally:
            fixturedef.addfinalizer(lambda: stack.append(_enter(name)))

    # The innermost: after the last fixture has ended, and before a worker says that it has finished.
    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self) -> Generator[None, None, None]:
        yield
        # Telemetry ends after two seconds whatever waits; a recording may take longer on a busy machine.
        give_up = time.monotonic() + _WRITTEN_WITHIN_SECONDS
        while _install.stats()["queued"] and time.monotonic() < give_up:
            time.sleep(0.01)
        _install.end_recording()
        lost = sum(count for count in _install.stats()["dropped"].values() if isinstance(count, int))
        if lost:
            (self._parts / f"{os.getpid()}.lost").write_text(str(lost), "utf-8")


class _Joiner:
    """Makes one file of what all processes have recorded."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_joined = False
        path.parent.mkdir(parents=True, exist_ok=True)
        self.parts = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=path.parent))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput[_PARTS] = str(self.parts)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        told = f"{self._join()} queries are recorded in {self._path}"
        lost = sum(int(part.read_text("utf-8")) for part in self.parts.glob("*.lost"))
        terminalreporter.write_line(f"queryscope: {told}{f'; {lost} events were lost' if lost else ''}")

    def pytest_unconfigure(self) -> None:
        # A run without a terminal has no summary.
        if not self._is_joined:
            self._join()
        shutil.rmtree(self.parts, ignore_errors=True)

    def _join(self) -> int:
        """Joins the files, and counts the queries that have ended."""
        self._is_joined = True
        queries = 0
        whole = self.parts / "whole"
        with _opened(whole, self._path.suffix == ".gz") as joined:
            for part in sorted(self.parts.glob("*.jsonl")):
                with part.open("rb") as lines:
                    for line in lines:
                        # A worker that crashed may have left half a line.
                        if line.endswith(b"\n"):
                            joined.write(line)
                            queries += _ENDED in line
        os.replace(whole, self._path)
        return queries


class _Writer(Protocol):
    def write(self, data: bytes, /) -> int: ...


@contextmanager
def _opened(path: Path, is_gzip: bool) -> Iterator[_Writer]:
    with path.open("wb") as file:
        if is_gzip:
            # Without the time and the name, the same queries are the same bytes.
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                yield packed
        else:
            yield file


@contextmanager
def _only(name: str) -> Iterator[None]:
    leave = _enter(name)
    try:
        yield
    finally:
        leave()


def _enter(name: str) -> Callable[[], None]:
    """Sets a label in the place of all that are set, until the returned function is called."""
    before = _label._labels.get()
    _label._labels.set((name,))
    return lambda: _label._labels.set(before) and None

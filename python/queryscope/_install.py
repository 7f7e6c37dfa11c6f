"""What a process has installed: the engines it follows and where their events go."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from queryscope._exporters import Exporter, Http, default_file
from queryscope._guard import guarded, warn_once
from queryscope._imports import Watch
from queryscope._native import Telemetry
from queryscope._report import Report
from queryscope._stats import Stats, none, plus

ENGINES = ("polars", "duckdb", "datafusion", "daft")


class Adapter(Protocol):
    """Follows the queries of one engine from `start` to `stop`."""

    telemetry: Telemetry

    def stop(self) -> None: ...


class _Installation:
    def __init__(self, exporters: Sequence[Exporter], settings: dict[str, Any], engines: Sequence[str]) -> None:
        self.exporters = exporters
        self.settings = settings
        self.adapters: dict[str, Adapter] = {}
        self.watch = Watch({engine: self._follower(engine) for engine in engines})

    def start(self) -> None:
        for engine, follow in self.watch._callbacks.items():
            if engine in sys.modules:
                guarded(f"following {engine}")(follow)()
        self.watch.start()

    def _follower(self, engine: str) -> Callable[[], None]:
        def follow() -> None:
            if engine in self.adapters:
                return
            adapter = _load(engine)
            if adapter is not None:
                self.adapters[engine] = adapter.start(self._telemetry)

        return follow

    def _telemetry(self, engine: str, version: str) -> Telemetry:
        exporters = [exporter.option(engine) for exporter in self.exporters]
        return Telemetry(engine, version, exporters=exporters, **self.settings)

    def stop(self) -> None:
        self.watch.stop()
        for adapter in self.adapters.values():
            guarded("ending an adapter")(adapter.stop)()
        threads = [threading.Thread(target=adapter.telemetry.shutdown) for adapter in self.adapters.values()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


_lock = threading.RLock()
_installation: _Installation | None = None
# Where a test run is recorded, beside the places of the program.
_recorder: Exporter | None = None
_is_recorders = False
_ended: dict[str, Telemetry] = {}


def _load(engine: str) -> Any:
    """The adapter of an engine, or `None` where this package has none."""
    try:
        return __import__(f"queryscope.adapters.{engine}", fromlist=["start"])
    except ModuleNotFoundError:
        return None


def install(
    url: str | None = None,
    token: str | None = None,
    *,
    service: str | None = None,
    environment: str | None = None,
    program_version: str | None = None,
    engines: Sequence[str] = ENGINES,
    redact: Sequence[str] = (),
    exporters: Sequence[Exporter] | None = None,
    timeout: float | None = None,
    max_queue_bytes: int | None = None,
) -> None:
    """Follows the queries of every engine of this process, those imported later too.

    Args:
        url: The service, such as `http://127.0.0.1:7766`; left out: the variable `QUERYSCOPE_URL`. Without either,
            and without `exporters`, events are written to files below `~/.local/state/queryscope`, which
            `queryscope import` reads.
        token: The service's token; left out: the variable `TELEMETRY_TOKEN`.
        service: What this process is; left out: the variable `QUERYSCOPE_SERVICE`.
        environment: Where it runs; left out: the variable `QUERYSCOPE_ENVIRONMENT`.
        program_version: Version of the program, such as a release or a commit; left out: the variable
            `QUERYSCOPE_PROGRAM_VERSION`.
        engines: Engines to follow.
        redact: What to mask before events leave the process: `literals`, `paths`, `errors`, `call_sites`,
            `labels`, `properties` or `all`.
        exporters: Where events go, instead of or beside `url`.
        timeout: Seconds to wait for the service on each request; left out: 10.
        max_queue_bytes: Bytes of events that may wait for each exporter; left out: 16 MiB.

    Raises:
        ValueError: an option is invalid, or there is no token.
        RuntimeError: telemetry is installed already.
    """
    global _installation, _is_recorders
    url = url or os.environ.get("QUERYSCOPE_URL") or None
    places = list(exporters or ())
    if url:
        places.append(Http(url, token, timeout))
    if not places:
        places.append(default_file())
    unknown = [engine for engine in engines if engine not in ENGINES]
    if unknown:
        raise ValueError(f"engines takes {', '.join(ENGINES)}; there is no {unknown[0]!r}")
    settings = {
        "service": service or os.environ.get("QUERYSCOPE_SERVICE") or None,
        "environment": environment or os.environ.get("QUERYSCOPE_ENVIRONMENT") or None,
        "program_version": program_version or os.environ.get("QUERYSCOPE_PROGRAM_VERSION") or None,
        "redact": list(redact),
        "max_queue_bytes": max_queue_bytes,
    }
    with _lock:
        if _installation is not None and not _is_recorders:
            raise RuntimeError("queryscope is installed already: call uninstall() first")
        if _recorder is not None:
            places.append(_recorder)
        installation = _Installation(places, settings, engines)
        _check(installation)
        # The program's own settings take the place of those that the recording of tests began with.
        uninstall()
        installation.start()
        _installation, _is_recorders = installation, False


def record(recorder: Exporter, max_queue_bytes: int) -> None:
    """Follows every engine for the recording of a test run, also where the tests install something of their own."""
    global _installation, _recorder, _is_recorders
    with _lock:
        _recorder = recorder
        if _installation is None:
            names = ("service", "environment", "program_version")
            settings: dict[str, Any] = {
                name: os.environ.get(f"QUERYSCOPE_{name.upper()}") or None for name in names
            }
            settings |= {"redact": [], "max_queue_bytes": max_queue_bytes}
            _installation, _is_recorders = _Installation([recorder], settings, ENGINES), True
            _installation.start()


def end_recording() -> None:
    """Ends what `record` began."""
    global _recorder
    with _lock:
        _recorder = None
        if _is_recorders:
            uninstall()


def _check(installation: _Installation) -> None:
    """Raises what is wrong with the options now, and not when an engine is imported."""
    http = [exporter for exporter in installation.exporters if isinstance(exporter, Http)]
    options = [exporter.option("check") for exporter in http]
    Telemetry("check", "0", exporters=options, **installation.settings).shutdown()


@atexit.register
def uninstall() -> None:
    """Ends following, and sends what waits for at most two seconds. Does nothing where nothing is installed."""
    global _installation, _is_recorders
    with _lock:
        installation, _installation, _is_recorders = _installation, None, False
        if installation is not None:
            _ended.clear()
            _ended.update({engine: adapter.telemetry for engine, adapter in installation.adapters.items()})
            installation.stop()


def _telemetries() -> dict[str, Telemetry]:
    if _installation is None:
        return _ended
    return {engine: adapter.telemetry for engine, adapter in _installation.adapters.items()}


def stats() -> Stats:
    """What became of every event since `install`, summed over engines and exporters.

    `enqueued` is always `sent` + all of `dropped` + `queued`. Counts stay readable after `uninstall()`.
    """
    total = none()
    for telemetry in _telemetries().values():
        total = plus(total, telemetry.stats())
    return total


def last() -> Report | None:
    """The run of this process that ended last: its plan with time shares, and findings.

    Shows as text in a terminal and as a page in a notebook. A run is known about half a second after its end.
    `None` where no query has ended.
    """
    reports = [Report(text) for text in (telemetry.last() for telemetry in _telemetries().values()) if text]
    if not reports:
        if _installation is None and not _ended:
            warn_once("last", "queryscope: nothing is installed, so last() knows no runs")
        return None
    return max(reports, key=lambda report: report.ended_unix_ns)

"""Follows the queries of Polars.

Polars constructs `polars_cloud.QueryCloudObserver` for each query that it monitors and calls it at the start, once the
query is planned, when it fails and at its end. The adapter answers to that name. A real `polars_cloud` that is
installed is called as well. Neither the environment nor the engine that Polars chooses is changed: the function that
says whether queries are monitored is replaced instead, so that child processes are what they were.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import json
import sys
import threading
import time
import types
import weakref
from collections.abc import Callable
from typing import Any

from queryscope._guard import guarded, log, warn_once
from queryscope._native import ActiveQuery, Guard, PolarsQuery, Telemetry, UserCode
from queryscope.adapters._polars_context import Calls
from queryscope.adapters._polars_user_code import measure

OBSERVER = "QueryCloudObserver"
CLOUD = "polars_cloud"
_STARTED_MAX = 10_000


class _Unplanned:
    """A query that failed before it had a plan."""

    def __init__(self, planning: float) -> None:
        self._planning = planning

    def plan(self) -> None: ...
    def sample(self) -> None: ...

    def totals(self) -> str:
        return json.dumps({"planning_ms": self._planning * 1e3})


class _Observer:
    """What Polars tells of queries. Nothing that it calls here raises.

    Polars makes one for each query, but hands out the one that it made last: where queries overlap, an observer may be
    told of several, and of those of other threads. So what is known of a query is kept by its id.
    """

    def __init__(self, adapter: PolarsAdapter, real: Any) -> None:
        self._adapter = adapter
        self._real = real

    def __getattr__(self, name: str) -> Any:
        """Answers to what another version of Polars calls."""
        if name.startswith("_"):
            raise AttributeError(name)
        warn_once(f"polars:{name}", "queryscope: this version of Polars calls %s, which is not known", name)
        return functools.partial(self._forward, name)

    def on_query_started(self, *args: Any) -> None:
        self._started(*args)
        self._forward("on_query_started", *args)

    def on_query_planned(self, *args: Any) -> Guard:
        guard = self._forward("on_query_planned", *args)
        return Guard(self._planned(*args), guard)

    def on_query_failed(self, *args: Any) -> None:
        self._failed(*args)
        self._forward("on_query_failed", *args)

    @guarded("following a query of Polars")
    def _started(self, number: object, *_: object) -> None:
        started = self._adapter.started
        if len(started) >= _STARTED_MAX:
            # Where a version of Polars does not plan what it starts.
            started.clear()
        started[number] = time.perf_counter()

    @guarded("following a query of Polars")
    def _planned(self, number: object, handle: object, logical: bytes, physical: bytes, *_: object) -> ActiveQuery:
        planning = self._adapter.since_start(number)
        source = PolarsQuery(bytes(logical), bytes(physical), handle, self._adapter.user_code)
        source.set_planning_ms(planning * 1e3)
        query = self._adapter.begin(source, planning)
        self._adapter.running[number] = query
        return query

    @guarded("following a failed query of Polars")
    def _failed(self, number: object, *args: object) -> None:
        texts = [argument for argument in args if isinstance(argument, str)]
        error = texts[-1] if texts else "unknown error"
        query = self._adapter.running.get(number)
        if query is None:
            planning = self._adapter.since_start(number)
            query = self._adapter.begin(_Unplanned(planning), planning)
        if is_interrupt(error):
            query.cancel()
        else:
            query.fail(error)

    def _forward(self, method: str, *args: Any) -> Any:
        if self._real is None:
            return None
        try:
            return getattr(self._real, method)(*args)
        except Exception as error:
            warn_once(f"cloud:{method}", "queryscope: polars_cloud's observer failed in %s: %s", method, error)
            return None


def is_interrupt(error: str) -> bool:
    """Whether an error text of Polars says that the user interrupted the query."""
    return "KeyboardInterrupt" in error


class PolarsAdapter:
    """Follows the queries of Polars from its creation until `stop`."""

    def __init__(self, telemetry: Telemetry) -> None:
        self.telemetry = telemetry
        self._lock = threading.Lock()
        self._undo: list[Callable[[], None]] = []
        self.user_code = UserCode()
        self.started: dict[object, float] = {}
        # Those whose guard Polars holds.
        self.running: weakref.WeakValueDictionary[object, ActiveQuery] = weakref.WeakValueDictionary()
        self._calls = Calls()
        try:
            self._observe()
            self._monitor()
        except BaseException:
            self.stop()
            raise
        self._undo.extend(measure(self.user_code))

    def since_start(self, number: object) -> float:
        """Seconds since a query was started. It is not asked for again."""
        now = time.perf_counter()
        return now - self.started.pop(number, now)

    def begin(self, source: object, started_ago: float) -> ActiveQuery:
        context = self._calls.begin()
        trace_id, span_id = context.span
        return self.telemetry.begin(
            source,
            label=context.label,
            call_site=context.call_site,
            trace_id=trace_id,
            span_id=span_id,
            started_ago=started_ago,
        )

    def _observe(self) -> None:
        """Answers to the name that Polars looks for."""
        is_real = CLOUD in sys.modules or importlib.util.find_spec(CLOUD) is not None
        module: Any = importlib.import_module(CLOUD) if is_real else types.ModuleType(CLOUD)
        real = getattr(module, OBSERVER, None)
        note = guarded("following a call of Polars")(self._calls.note)

        def observer(*args: Any, **named: Any) -> _Observer:
            note()
            return _Observer(self, real(*args, **named) if real is not None else None)

        setattr(module, OBSERVER, observer)
        if is_real:
            self._undo.append(lambda: setattr(module, OBSERVER, real))
        else:
            module.authenticate = lambda *args, **named: None
            sys.modules[CLOUD] = module
            self._undo.append(self._forget)

    @staticmethod
    def _forget() -> None:
        sys.modules.pop(CLOUD, None)

    def _monitor(self) -> None:
        """Has Polars monitor every query."""
        monitoring: Any = importlib.import_module("polars._utils.monitoring")
        before = monitoring.monitoring_enabled_globally
        monitoring.monitoring_enabled_globally = lambda: True
        self._undo.append(lambda: setattr(monitoring, "monitoring_enabled_globally", before))

    def stop(self) -> None:
        """Leaves Polars as it was."""
        with self._lock:
            while self._undo:
                self._undo.pop()()


def start(telemetry: Callable[[str, str], Telemetry]) -> PolarsAdapter:
    """Begins to follow. Raises where this version of Polars has no observer."""
    import polars

    version = polars.__version__
    monitoring = importlib.import_module("polars._utils.monitoring")
    if not hasattr(monitoring, "monitoring_enabled_globally"):
        raise RuntimeError(f"polars {version} cannot be observed; 2.0 and newer can")
    log.debug("queryscope: following polars %s", version)
    return PolarsAdapter(telemetry("polars", version))

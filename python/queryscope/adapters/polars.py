"""Follows the queries of Polars.

Polars constructs `polars_cloud.QueryCloudObserver` for each query that it monitors and calls it at the start, once the
query is planned, when it fails and at its end. The adapter answers to that name. A real `polars_cloud` that is
installed is called as well. Neither the environment nor the engine that Polars chooses is changed: the function that
says whether queries are monitored is replaced instead, so that child processes are what they were.

Polars does not tell of an interrupt: it closes what the observer returned as at any end, and raises afterwards. So a
query ends with the call that ran it, by what the call raises.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import json
import os
import sys
import threading
import time
import types
import weakref
from collections.abc import Callable
from typing import Any

from queryscope._guard import guarded, log, warn_once
from queryscope._native import ActiveQuery, PolarsQuery, Telemetry, UserCode
from queryscope.adapters._polars_context import Calls
from queryscope.adapters._polars_user_code import measure

OBSERVER = "QueryCloudObserver"
CLOUD = "polars_cloud"
# Where queries run on the thread that calls: module, class and methods.
_CALLED = ("polars.lazyframe.engine", "_LocalEngine", ("collect", "collect_all"))
# What a sample of Polars has of a node that has not ended: the name and `false` in MessagePack.
_NOT_DONE = b"\xa4done\xc2"
# Closed without an instruction of Python: at the first one, Python delivers an interrupt, which Polars would drop.
_NOTHING = types.SimpleNamespace(close=bool)
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

    def on_query_planned(self, *args: Any) -> Any:
        """Returns what Polars closes when the query runs no more."""
        guard = self._forward("on_query_planned", *args) or _NOTHING
        query = self._planned(*args)
        called = self._adapter.called.queries
        if query is None:
            return guard
        if called is None:
            return _End(functools.partial(self._adapter.end, {args[0]: query}), args[1], guard)
        called[args[0]] = query
        return guard

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
        self._adapter.running[number] = weakref.ref(query)
        return query

    @guarded("following a failed query of Polars")
    def _failed(self, number: object, *args: object) -> None:
        texts = [argument for argument in args if isinstance(argument, str)]
        error = texts[-1] if texts else "unknown error"
        running = self._adapter.running.get(number)
        query = running() if running is not None else None
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


class _End:
    """The end of a query that runs on a thread of Polars' own: no call raises what ended it."""

    def __init__(self, end: Callable[[Callable[[ActiveQuery], None]], None], handle: Any, real: Any) -> None:
        self._end = end
        self._handle = handle
        self._real = real

    def close(self) -> None:
        self._close()
        self._real.close()

    @guarded("ending a query of Polars")
    def _close(self) -> None:
        """Of a query that ran to its end, also one that is read in part, every node has ended."""
        is_whole = _NOT_DONE not in self._handle.snapshot_query_metrics()
        self._end(ActiveQuery.finish if is_whole else ActiveQuery.cancel)


class _Called(threading.local):
    """The queries that the innermost call of this thread has begun; `None` outside of calls."""

    queries: dict[object, ActiveQuery] | None = None


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
        # Those that have not ended. No `WeakValueDictionary`: that forgets by a function in Python, and an interrupt
        # that Python delivers in one, where an object goes, is lost.
        self.running: dict[object, weakref.ref[ActiveQuery]] = {}
        self._calls = Calls()
        self.called = _Called()
        try:
            self._observe()
            self._monitor()
            self._follow_calls()
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

    def end(self, queries: dict[object, ActiveQuery], how: Callable[[ActiveQuery], None]) -> None:
        """Ends those of the queries that have not ended otherwise."""
        for number, query in queries.items():
            how(query)
            self.running.pop(number, None)

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

    def _follow_calls(self) -> None:
        """Ends the queries of each call with the call."""
        path, owner_name, names = _CALLED
        for name in names:
            try:
                owner = getattr(importlib.import_module(path), owner_name)
                original = getattr(owner, name)
            except (ImportError, AttributeError) as error:
                log.debug("queryscope: some interrupted queries of Polars end as finished: %s", error)
                continue
            setattr(owner, name, functools.wraps(original)(_as_of_polars(self._ending(original))))
            self._undo.append(functools.partial(setattr, owner, name, original))

    def _ending(self, original: Callable[..., Any]) -> Callable[..., Any]:
        called = self.called

        def call(*args: Any, **named: Any) -> Any:
            outer = called.queries
            queries: dict[object, ActiveQuery] = {}
            called.queries = queries
            try:
                answer = original(*args, **named)
                self.end(queries, ActiveQuery.finish)
                return answer
            except KeyboardInterrupt:
                try:
                    self.end(queries, ActiveQuery.cancel)
                except KeyboardInterrupt:
                    # The same once more, which Polars has raised before Python could.
                    self.end(queries, ActiveQuery.cancel)
                raise
            except BaseException as error:
                # Polars has told of its errors, but for a panic. Others are raised by handlers of signals.
                text = str(error) or type(error).__name__
                self.end(queries, lambda query: query.fail(text))
                raise
            finally:
                called.queries = outer

        return call

    def stop(self) -> None:
        """Leaves Polars as it was."""
        with self._lock:
            while self._undo:
                self._undo.pop()()


def _as_of_polars(function: Any) -> Any:
    """The function, as if a file of Polars had it.

    Polars warns of the line of the first caller that is not in its folder. That must stay the program's.
    """
    import polars

    path = os.path.join(os.path.dirname(polars.__file__), "queryscope")
    return types.FunctionType(
        function.__code__.replace(co_filename=path),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )


def start(telemetry: Callable[[str, str], Telemetry]) -> PolarsAdapter:
    """Begins to follow. Raises where this version of Polars has no observer."""
    import polars

    version = polars.__version__
    monitoring = importlib.import_module("polars._utils.monitoring")
    if not hasattr(monitoring, "monitoring_enabled_globally"):
        raise RuntimeError(f"polars {version} cannot be observed; 2.0 and newer can")
    log.debug("queryscope: following polars %s", version)
    return PolarsAdapter(telemetry("polars", version))

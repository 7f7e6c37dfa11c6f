"""Follows the queries of DataFusion in Python.

DataFusion calls nobody when a query runs. The adapter replaces the methods of data frames that execute by ones that
call the original. After most of them, and while they run, a frame has the plan that is executed, with its counters.
After `show`, `count` and the methods that write, DataFusion keeps no such plan: these queries have their logical plan.
"""

from __future__ import annotations

import functools
import json
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from queryscope._callsite import call_site
from queryscope._guard import guarded, log
from queryscope._label import current
from queryscope._native import ActiveQuery, Telemetry
from queryscope._trace import current_span
from queryscope.adapters._datafusion_plan import first_start, logical, physical, readings

# Methods of a data frame after which it has the plan that was executed.
_KEEPS_PLAN = (
    *("collect", "collect_partitioned", "to_arrow_table", "to_pandas", "to_polars", "to_pylist", "to_pydict"),
)
# Those after which it has not.
_LOSES_PLAN = (
    *("collect_column", "cache", "show", "count", "describe", "__repr__", "_repr_html_"),
    *("write_csv", "write_parquet", "write_parquet_with_options", "write_json", "write_table"),
)
# Those that give streams. A query of theirs ends with its last batch.
_STREAMS = ("execute_stream", "execute_stream_partitioned")
_INTERRUPT = "KeyboardInterrupt"


class _Query:
    """One execution of a data frame."""

    def __init__(self, frame: Any, keeps_plan: bool, is_first: bool) -> None:
        self._frame = frame
        self._keeps_plan = keeps_plan
        self._is_first = is_first
        self._began = time.time()
        # Reentrant: a stream that is collected as garbage ends its query, also amid the methods below.
        self._lock = threading.RLock()
        self._executed: Any = None
        self._nodes: list[tuple[dict[str, Any], Any]] = []
        self._is_over = False
        self.streams: set[int] = set()
        self.active: ActiveQuery | None = None

    # What the sampler calls, on its own thread.

    @guarded("reading a plan of DataFusion")
    def plan(self) -> str:
        with self._lock:
            self._find()
            nodes = [] if self._frame is None else logical(_logical_plan(self._frame))
            return json.dumps({"physical": [node for node, _ in self._nodes], "logical": nodes})

    @guarded("reading counters of DataFusion")
    def sample(self) -> str:
        with self._lock:
            self._find()
            return json.dumps(readings(self._nodes, self._is_over))

    @guarded("reading counters of DataFusion")
    def totals(self) -> str:
        with self._lock:
            self._find()
            counters = [reading["counters"] for reading in readings(self._nodes, True)]
            busy = [each["busy_ns"] for each in counters if "busy_ns" in each]
            rows = counters[0].get("rows_out") if counters and self._is_over else None
            return json.dumps({"result_rows": rows, "cpu_ms": sum(busy) / 1e6 if busy else None})

    @guarded("reading a plan of DataFusion")
    def _find(self) -> None:
        """Takes the plan that is executed. A frame that was executed before has the plan of that time until then."""
        plan = self._executed or self._plan_of_frame()
        if self._nodes or plan is None:
            return
        nodes = physical(plan)
        start = first_start(nodes)
        # Nodes without any counters have no times.
        is_new = self._is_over and self._is_first if start is None else start >= self._began
        if is_new:
            self._nodes = nodes

    def _plan_of_frame(self) -> Any:
        if self._nodes or not self._keeps_plan or self._frame is None:
            return None
        try:
            return self._frame.execution_plan()
        except Exception as error:
            # A query that cannot be planned has no plan.
            log.debug("queryscope: a query of DataFusion has no plan: %s", error)
            return None

    # What the query's own thread calls.

    @guarded("reading a plan of DataFusion")
    def _over(self) -> None:
        """Takes the plan before the frame is executed again; it is read later."""
        with self._lock:
            self._is_over = True
            self._executed = self._plan_of_frame()

    def finish(self) -> None:
        if self.active is not None:
            self._over()
            self.active.finish()

    def fail(self, error: BaseException) -> None:
        if self.active is None:
            return
        self._over()
        if isinstance(error, KeyboardInterrupt) or _INTERRUPT in str(error):
            self.active.cancel()
        else:
            self.active.fail(str(error))


def _logical_plan(frame: Any) -> Any:
    """The plan as it is executed, or as it was written where it cannot be."""
    try:
        return frame.optimized_logical_plan()
    except Exception:
        return frame.logical_plan()


class DataFusionAdapter:
    """Follows the queries of DataFusion from its creation until `stop`."""

    def __init__(self, telemetry: Telemetry, datafusion: Any) -> None:
        self.telemetry = telemetry
        self._inside = threading.local()
        self._streams: weakref.WeakKeyDictionary[Any, _Query] = weakref.WeakKeyDictionary()
        self._executed: weakref.WeakSet[Any] = weakref.WeakSet()
        self._undo: list[Callable[[], None]] = []
        frame, stream = datafusion.DataFrame, datafusion.RecordBatchStream
        for name in _KEEPS_PLAN:
            self._replace(frame, name, functools.partial(self._execute, True))
        for name in _LOSES_PLAN:
            self._replace(frame, name, functools.partial(self._execute, False))
        for name in _STREAMS:
            self._replace(frame, name, self._execute_stream)
        self._replace(stream, "__next__", self._next)
        self._replace(stream, "__anext__", self._next_async)
        self._replace(datafusion.SessionContext, "sql", self._sql)
        self._replace(datafusion.SessionContext, "sql_with_options", self._sql)

    def _replace(self, owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        original = owner.__dict__.get(name)
        if original is None:
            return
        setattr(owner, name, functools.wraps(original)(make(original)))
        self._undo.append(lambda: setattr(owner, name, original))

    def stop(self) -> None:
        """Leaves DataFusion as it was."""
        while self._undo:
            self._undo.pop()()

    # The replaced methods.

    def _execute(self, keeps_plan: bool, original: Callable[..., Any]) -> Callable[..., Any]:
        def execute(frame: Any, *args: Any, **named: Any) -> Any:
            if getattr(self._inside, "query", False):
                return original(frame, *args, **named)
            query = self._begin(frame, keeps_plan)
            answer = self._watched(query, original, frame, *args, **named)
            if query is not None:
                query.finish()
            return answer

        return execute

    def _execute_stream(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def execute(frame: Any, *args: Any, **named: Any) -> Any:
            if getattr(self._inside, "query", False):
                return original(frame, *args, **named)
            query = self._begin(frame, True)
            answer = self._watched(query, original, frame, *args, **named)
            if query is not None:
                self._read(query, answer if isinstance(answer, list) else [answer])
            return answer

        return execute

    @guarded("following a stream of DataFusion")
    def _read(self, query: _Query, streams: list[Any]) -> None:
        """The query ends with its last stream, or when its streams are given up."""
        query.streams = {id(stream) for stream in streams}
        for stream in streams:
            self._streams[stream] = query
            weakref.finalize(stream, self._given_up, query, id(stream))

    @staticmethod
    def _given_up(query: _Query, stream: int) -> None:
        query.streams.discard(stream)
        if not query.streams:
            query.finish()

    def _next(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def following(stream: Any) -> Any:
            try:
                return original(stream)
            except StopIteration:
                self._stream_ends(stream, None)
                raise
            except BaseException as error:
                self._stream_ends(stream, error)
                raise

        return following

    def _next_async(self, original: Callable[..., Any]) -> Callable[..., Any]:
        async def following(stream: Any) -> Any:
            try:
                return await original(stream)
            except StopAsyncIteration:
                self._stream_ends(stream, None)
                raise
            except BaseException as error:
                self._stream_ends(stream, error)
                raise

        return following

    @guarded("ending a stream of DataFusion")
    def _stream_ends(self, stream: Any, error: BaseException | None) -> None:
        query = self._streams.pop(stream, None)
        if query is None:
            return
        if error is not None:
            query.fail(error)
        else:
            self._given_up(query, id(stream))

    def _sql(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """A statement that cannot be planned has failed; one that can begins when its frame is executed."""

        def sql(context: Any, *args: Any, **named: Any) -> Any:
            if getattr(self._inside, "query", False):
                return original(context, *args, **named)
            began = time.perf_counter()
            try:
                return self._watched(None, original, context, *args, **named)
            except Exception as error:
                query = self._begin(None, False, time.perf_counter() - began)
                if query is not None:
                    query.fail(error)
                raise

        return sql

    # Beginnings and ends. Nothing of these raises.

    def _watched(self, query: _Query | None, original: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """Calls the engine; a query that raises has failed."""
        nested = getattr(self._inside, "query", False)
        self._inside.query = True
        try:
            return original(*args, **named)
        except BaseException as error:
            if query is not None:
                query.fail(error)
            raise
        finally:
            self._inside.query = nested

    @guarded("following a query of DataFusion")
    def _begin(self, frame: Any, keeps_plan: bool, started_ago: float = 0.0) -> _Query | None:
        query = _Query(frame, keeps_plan, frame not in self._executed)
        if frame is not None:
            self._executed.add(frame)
        trace_id, span_id = current_span()
        query.active = self.telemetry.begin(
            query,
            label=current(),
            call_site=call_site(("datafusion",)),
            trace_id=trace_id,
            span_id=span_id,
            started_ago=started_ago,
        )
        return query


def start(telemetry: Callable[[str, str], Telemetry]) -> DataFusionAdapter:
    """Begins to follow."""
    import datafusion

    return DataFusionAdapter(telemetry("datafusion", datafusion.__version__), datafusion)

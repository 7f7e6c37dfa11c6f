"""Follows the queries of Daft.

Daft tells subscribers of each query: its start, its plans, the counters of its operators while it runs, and its end.
A query that fails while it is planned is told of by the generator that plans it, since Daft tells nobody.
"""

from __future__ import annotations

import functools
import importlib
import json
import threading
from collections.abc import Callable, Generator
from typing import Any

from queryscope._callsite import call_site
from queryscope._guard import guarded, log, warn_once
from queryscope._label import current
from queryscope._native import ActiveQuery, Telemetry
from queryscope._trace import current_span
from queryscope.adapters._daft_plan import logical, physical, reading

_ALIAS = "queryscope"
# Where a query is planned and executed: module, class and method.
_PLANNED = ("daft.runners.native_runner", "NativeRunner", "_optimize_and_execute")


class _Query:
    """What Daft has told of one query."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._logical = ""
        self._physical: list[dict[str, Any]] = []
        self._stats: dict[int, dict[str, Any]] = {}
        self._done: set[int] = set()
        # Whether the program has stopped reading the result.
        self.is_given_up = False
        self.active: ActiveQuery | None = None

    # What Daft's threads call.

    def planned(self, text: str) -> None:
        with self._lock:
            self._logical = text

    def executing(self, text: str) -> None:
        nodes = physical(text)
        with self._lock:
            self._physical = nodes

    def counted(self, stats: dict[int, dict[str, Any]]) -> None:
        with self._lock:
            for number, counters in stats.items():
                self._stats.setdefault(number, {}).update(counters)

    def ended(self, number: int) -> None:
        with self._lock:
            self._done.add(number)

    def is_whole(self) -> bool:
        """Whether every operator has ended."""
        with self._lock:
            return self._done.issuperset(node["id"] for node in self._physical)

    # What the sampler calls, on its own thread.

    @guarded("reading a plan of Daft")
    def plan(self) -> str:
        with self._lock:
            nodes = logical(self._logical) if self._logical else []
            return json.dumps({"physical": self._physical, "logical": nodes})

    @guarded("reading counters of Daft")
    def sample(self) -> str:
        with self._lock:
            known = [node["id"] for node in self._physical if node["id"] in self._stats]
            return json.dumps([reading(number, self._stats[number], number in self._done) for number in known])

    @guarded("reading counters of Daft")
    def totals(self) -> str | None:
        with self._lock:
            root = self._stats.get(self._physical[0]["id"]) if self._physical else None
            rows = reading(0, root, False)["counters"].get("rows_out") if root else None
            return json.dumps({"result_rows": rows})


class DaftAdapter:
    """Follows the queries of Daft from its creation until `stop`. Daft calls it as one of its subscribers."""

    def __init__(self, telemetry: Telemetry, daft: Any) -> None:
        self.telemetry = telemetry
        self._queries: dict[str, _Query] = {}
        self._undo: list[Callable[[], None]] = []
        daft.attach_subscriber(_ALIAS, self)
        self._undo.append(lambda: daft.detach_subscriber(_ALIAS))
        self._follow_planning()

    @guarded("following a query of Daft")
    def on_event(self, event: Any) -> None:
        """Takes what Daft tells. An event that is not known is passed over."""
        kind = type(event).__name__
        if kind == "QueryStarted":
            self._begin(event)
            return
        query = self._queries.get(event.query_id)
        if query is None:
            return
        if kind == "OptimizationCompleted":
            query.planned(event.optimized_plan)
        elif kind == "ExecutionStarted":
            query.executing(event.physical_plan)
        elif kind == "Stats":
            query.counted(event.stats)
        elif kind == "OperatorFinished":
            query.ended(event.node_id)
        elif kind == "QueryFinished":
            self._end(event.query_id, event.result)

    def __getattr__(self, name: str) -> Any:
        """Answers to what another version of Daft calls."""
        if not name.startswith("on_"):
            raise AttributeError(name)
        warn_once(f"daft:{name}", "queryscope: this version of Daft calls %s, which is not known", name)
        return lambda *args, **named: None

    def close(self) -> None:
        """Daft detaches the subscriber."""

    def _begin(self, event: Any) -> None:
        query = _Query()
        query.planned(event.metadata.unoptimized_plan)
        trace_id, span_id = current_span()
        query.active = self.telemetry.begin(
            query, label=current(), call_site=call_site(("daft",)), trace_id=trace_id, span_id=span_id
        )
        self._queries[event.query_id] = query

    def _end(self, query_id: str, result: Any) -> None:
        state = str(result.end_state).rpartition(".")[2]
        if state == "Finished":
            # Of a query that Ctrl-C stopped on another thread than the main one, Daft says the same.
            query = self._queries.get(query_id)
            is_finished = query is None or query.is_given_up or query.is_whole()
            self._finish(query_id, ActiveQuery.finish if is_finished else ActiveQuery.cancel)
        elif state == "Canceled":
            self._finish(query_id, ActiveQuery.cancel)
        else:
            self._finish(query_id, lambda active: active.fail(str(result.error_message or state)))

    def _finish(self, query_id: str, end: Callable[[ActiveQuery], None]) -> None:
        query = self._queries.pop(query_id, None)
        if query is not None and query.active is not None:
            end(query.active)

    def _follow_planning(self) -> None:
        """Ends a query that fails before Daft executes it."""
        path, owner_name, name = _PLANNED
        try:
            owner = getattr(importlib.import_module(path), owner_name)
            original = getattr(owner, name)
        except (ImportError, AttributeError) as error:
            log.debug("queryscope: queries of Daft that fail while they are planned end late: %s", error)
            return

        @functools.wraps(original)
        def followed(runner: Any, builder: Any, query_id: str, *args: Any, **named: Any) -> Generator[Any, None, Any]:
            parts = original(runner, builder, query_id, *args, **named)
            try:
                while True:
                    try:
                        part = next(parts)
                    except StopIteration as end:
                        return end.value
                    try:
                        yield part
                    except GeneratorExit:
                        if (query := self._queries.get(query_id)) is not None:
                            query.is_given_up = True
                        parts.close()
                        raise
            except KeyboardInterrupt:
                self._finish(query_id, ActiveQuery.cancel)
                raise
            except Exception as error:
                text = str(error)
                self._finish(query_id, lambda active: active.fail(text))
                raise

        setattr(owner, name, followed)
        self._undo.append(lambda: setattr(owner, name, original))

    def stop(self) -> None:
        """Leaves Daft as it was."""
        while self._undo:
            self._undo.pop()()


def start(telemetry: Callable[[str, str], Telemetry]) -> DaftAdapter:
    """Begins to follow. Raises where this version of Daft has no subscribers."""
    import daft

    version = daft.__version__
    if not hasattr(daft, "attach_subscriber"):
        raise RuntimeError(f"daft {version} has no subscribers")
    return DaftAdapter(telemetry("daft", version), daft)

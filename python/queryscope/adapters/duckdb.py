"""Follows the queries of DuckDB.

The adapter replaces methods of DuckDB's classes by ones that call the original. A connection gets a profile that is
kept and not printed, unless the program has set one itself. A query begins when it is executed, and ends when its
result has been read to the end. Many programs read one row, and leave the rest: the query then ended when it was last
read. That is known once the connection begins the next followed statement, is closed or dropped, or once nothing has
been read for a while.

DuckDB 1.5 tells the tree with its counters while a query runs. DuckDB 2.0 tells the progress alone until the end; the
plan of a query that has run for a second comes from `EXPLAIN` on a connection beside it.

No profile holds the number of threads, which is a setting of the database. To read it costs as much as a small query.
So the adapter reads it with the first query of a connection, and again only after a statement that may have changed it.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from queryscope._callsite import call_site
from queryscope._guard import guarded, log, warn_once
from queryscope._label import current
from queryscope._native import ActiveQuery, Telemetry
from queryscope._trace import current_span
from queryscope.adapters._dbt import label_of
from queryscope.adapters._duckdb_files import name_files
from queryscope.adapters._duckdb_profile import (
    PEAK_SPILL,
    Operator,
    aligned,
    operators,
    result_rows,
    totals,
    with_spill,
)

# Make DuckDB count what the adapter reads.
SETTINGS = (
    "SET enable_profiling='no_output'",
    "SET profiling_coverage='ALL'",
    "SET enable_progress_bar=true",
    "SET enable_progress_bar_print=false",
)
# Reads a result to its end.
_WHOLE = (
    *("fetchall", "fetchdf", "fetch_df", "df", "fetchnumpy", "pl", "to_arrow_table", "fetch_arrow_table", "torch"),
    "tf",
)
# Reads a part of a result; an empty answer is its end.
_PARTS = ("fetchone", "fetchmany", "fetch_df_chunk")
# Gives a reader of the result, which is read unseen.
_READERS = ("fetch_record_batch", "to_arrow_reader", "fetch_arrow_reader", "arrow")
# Seconds after which what is left of a result is not waited for: after one row, and after a part or none.
_IDLE_AFTER_ROW = 0.5
_IDLE = 60.0
# Executes a relation and reads it to its end.
_RELATION = (
    *("fetchall", "df", "fetchdf", "to_df", "pl", "fetchnumpy", "to_arrow_table", "fetch_arrow_table", "torch", "tf"),
    *("show", "execute", "to_csv", "write_csv", "to_parquet", "write_parquet", "to_table", "create", "insert_into"),
    *("materialize", "to_dicts"),
)
# Gives a relation of a query, and executes any other statement.
_QUERIES = ("sql", "query", "from_query")
_MODULE = ("execute", "executemany", "create_function", "remove_function")
_COMMENTS = re.compile(r"(?:\s+|--[^\n]*(?:\n|$)|/\*.*?\*/)*", re.DOTALL)
# Starts the statements that can change a setting.
_SETS = re.compile(r"\b(?:set|reset|pragma)\b")
_PEAK = re.compile(r'"(?:system_)?peak_temp_dir_size"\s*:\s*(\d+)')


class _Run:
    """One query, from its execution to the end of its result."""

    def __init__(self, adapter: DuckDBAdapter, connection: Any, statement: str, parameters: object) -> None:
        self._adapter = adapter
        self.connection = weakref.ref(connection, self._dropped)
        self._statement = statement
        self._parameters = parameters
        self._plan: list[Operator] = []
        self._profile: str | None = None
        # The profile at the first row, for where the connection is dropped before the last.
        self._profile_of_row: str | None = None
        # When the engine last answered, and how long it is waited for more; `None` while it works, or is read unseen.
        self._answered: float | None = None
        self._patience = _IDLE
        self._is_over = False
        self._has_failed = False
        # How much the database had spilled at most before the query, where that is known and the query runs alone.
        self._peak_before, self._number = adapter.peak_before(connection)
        # Threads that the query may use, where that is known.
        self.threads = adapter.threads_of(connection)
        self._lock = threading.Lock()
        self.active: ActiveQuery | None = None

    # What the sampler calls, on its own thread.

    @guarded("reading a profile of DuckDB")
    def plan(self) -> str:
        self._finish_if_idle()
        with self._lock:
            # The profile of a query that failed may have no operators.
            told = self._operators(self._profile) if self._profile else self._live()
            self._plan = told or self._explained()
            return json.dumps({"physical": [operator.node() for operator in self._plan]})

    @guarded("reading a profile of DuckDB")
    def final_plan(self) -> str | None:
        """The plan by the profile: only that names the files of a scan that `EXPLAIN` told of before."""
        with self._lock:
            if self._profile is None:
                return None
            told = self._operators(self._profile)
            if not aligned(self._plan, told):
                return None
            self._plan = told
            return json.dumps({"physical": [operator.node() for operator in told]})

    @guarded("reading a profile of DuckDB")
    def sample(self) -> str:
        self._finish_if_idle()
        with self._lock:
            now = self._operators(self._profile) if self._profile else self._live()
            if self._profile is None and not now:
                return json.dumps(self._progress())
            if not aligned(self._plan, now) or not self._counts(now):
                return "[]"
            done = self._profile is not None
            return json.dumps([{"id": each.id, "counters": each.counters, "done": done} for each in now])

    @guarded("reading a profile of DuckDB")
    def totals(self) -> str | None:
        if self._profile is None:
            return None
        plan = self._operators(self._profile)
        answer = with_spill(totals(self._profile, plan), self._profile, self._peak_before)
        if self.threads is not None:
            answer["query_metrics"]["threads"] = self.threads
        if not self._counts(plan):
            answer.pop("cpu_ms", None)
            return json.dumps(answer)
        if (rows := result_rows(plan)) is not None:
            answer["result_rows"] = rows
        return json.dumps(answer)

    def _counts(self, told: list[Operator]) -> bool:
        """Whether counters say something: of a query that failed, DuckDB may tell 0 of everything."""
        return not self._has_failed or any(each.counters.get("busy_ns") for each in told)

    def _operators(self, text: str) -> list[Operator]:
        return operators(text, self._adapter.functions)

    def _live(self) -> list[Operator]:
        """The operators of a query that runs, where this version of DuckDB tells them."""
        connection = self.connection()
        try:
            return [] if connection is None else self._operators(connection.get_profiling_information("json"))
        except Exception:
            return []

    def _explained(self) -> list[Operator]:
        """The plan of a query that runs, from a connection beside it. A statement that writes is not planned twice."""
        connection = self.connection()
        if connection is None or not is_read_only(self._statement):
            return []
        try:
            beside = connection.cursor()
            try:
                rows = self._adapter.ask(beside, f"EXPLAIN (FORMAT json) {self._statement}", self._parameters)
                plan = self._operators(rows[0][1]) if rows else []
                # A plan whose scans have no names is still one.
                with contextlib.suppress(Exception):
                    ask = functools.partial(self._adapter.ask, beside)
                    name_files(plan, self._statement, self._parameters, ask)
                return plan
            finally:
                beside.close()
        except Exception as error:
            log.debug("queryscope: a query of DuckDB could not be explained: %s", error)
            return []

    def _progress(self) -> list[dict[str, Any]]:
        connection = self.connection()
        try:
            progress = -1.0 if connection is None else connection.query_progress()
        except Exception:
            progress = -1.0
        if progress < 0 or not self._plan:
            return []
        return [{"id": 0, "custom": [{"key": "progress", "unit": "%", "value": round(progress, 4)}]}]

    def _finish_if_idle(self) -> None:
        connection, answered = self.connection(), self._answered
        if connection is not None and answered is not None and time.monotonic() - answered > self._patience:
            self._adapter.end_idle(connection, self)

    # What the query's own thread calls.

    def works(self) -> None:
        """The engine is asked for more."""
        self._answered = None

    def rests(self, patience: float) -> None:
        """The engine has answered, and may be asked for more."""
        self._patience = patience
        self._answered = time.monotonic()

    @guarded("asking DuckDB for a profile")
    def note_row(self) -> None:
        """Keeps the profile of a query of which one row has been read: it may be all that is."""
        connection = self.connection()
        if connection is not None and self._profile_of_row is None:
            self._profile_of_row = connection.get_profiling_information("json")

    def _dropped(self, _: object) -> None:
        """Nobody can read the result any more."""
        if not self._is_over:
            self._profile, self._peak_before = self._profile_of_row, None
            self._finish()

    @guarded("asking DuckDB for a profile")
    def _read_profile(self) -> None:
        connection = self.connection()
        if connection is not None:
            text = connection.get_profiling_information("json")
            with self._lock:
                self._profile = text
                if not self._adapter.note_peak(connection, self._number, text):
                    self._peak_before = None

    def finish(self) -> None:
        self._read_profile()
        self._finish()

    def _finish(self) -> None:
        self._is_over = True
        answered = self._answered
        if self.active is not None:
            self.active.finish(0.0 if answered is None else time.monotonic() - answered)

    def fail(self, error: BaseException) -> None:
        if self.active is None:
            return
        self._is_over = self._has_failed = True
        self._read_profile()
        if is_interrupt(error):
            self.active.cancel()
        else:
            self.active.fail(str(error))


def is_interrupt(error: BaseException) -> bool:
    """Whether a query was interrupted: by `interrupt`, or by Ctrl-C, for which DuckDB raises no error of its own."""
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "InterruptException":
        return True
    return type(error) is RuntimeError and str(error) == "Query interrupted"


def is_read_only(statement: str) -> bool:
    """Whether a statement can be planned a second time without an effect: a query, and one alone."""
    statement = statement[_COMMENTS.match(statement).end() :]  # type: ignore[union-attr]
    head = statement.lstrip("(").split(None, 1)[:1]
    alone = ";" not in statement.rstrip().rstrip(";")
    return alone and bool(head) and head[0].upper() in ("SELECT", "FROM", "WITH", "VALUES", "PIVOT", "UNPIVOT")


@guarded("reading a statement of DuckDB")
def may_change_threads(statement: object) -> bool:
    """Whether a statement, or one of several in a text, may change how many threads a database uses.

    It may be wrong about a query that has these words. The setting is then read once more.
    """
    # `extract_statements` gives objects that hold their text.
    text = str(getattr(statement, "query", statement)).lower()
    return "threads" in text and _SETS.search(text) is not None


class DuckDBAdapter:
    """Follows the queries of DuckDB from its creation until `stop`."""

    def __init__(self, telemetry: Telemetry, duckdb: Any) -> None:
        self.telemetry = telemetry
        self._duckdb = duckdb
        self._prepared: weakref.WeakSet[Any] = weakref.WeakSet()
        self._runs: weakref.WeakKeyDictionary[Any, _Run] = weakref.WeakKeyDictionary()
        self._relations: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self._peaks: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        # Threads of each connection's database, with the value of `_threads_version` when they were read.
        self._threads: weakref.WeakKeyDictionary[Any, tuple[object, int | None]] = weakref.WeakKeyDictionary()
        # Another object after each statement that may have changed the threads of a database.
        self._threads_version = object()
        self._lock = threading.RLock()
        self._begun = 0
        # Names of functions that are written in Python, in any database of the process.
        self.functions: frozenset[str] = frozenset()
        self._inside = threading.local()
        self._undo: list[Callable[[], None]] = []
        self._originals: dict[str, Callable[..., Any]] = {}
        try:
            self._replace_all()
        except BaseException:
            self.stop()
            raise

    def _replace_all(self) -> None:
        duckdb = self._duckdb
        connection, relation = duckdb.DuckDBPyConnection, duckdb.DuckDBPyRelation
        for name in ("execute", "executemany"):
            self._replace(connection, name, self._execute)
        for name in _QUERIES:
            self._replace(connection, name, self._relate)
        for name in _WHOLE:
            self._replace(connection, name, self._fetch(self._fetched_whole))
        for name in _PARTS:
            self._replace(connection, name, self._fetch(self._fetched_part))
        for name in _READERS:
            self._replace(connection, name, self._fetch(self._fetched_reader))
        for name in ("close", "__exit__"):
            self._replace(connection, name, self._close)
        self._replace(connection, "create_function", self._create_function)
        self._replace(connection, "remove_function", self._remove_function)
        for name in _RELATION:
            self._replace(relation, name, self._run_relation)
        for name in _MODULE:
            self._replace_function(name)
        for name in _QUERIES:
            self._replace_function(name)

    def _replace(self, owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        original = getattr(owner, name, None)
        if original is None:
            return
        self._originals.setdefault(name, original)
        setattr(owner, name, functools.wraps(original)(make(original)))
        self._undo.append(lambda: setattr(owner, name, original))

    def _replace_function(self, name: str) -> None:
        """A function of the module that works on its default connection."""
        duckdb = self._duckdb
        original = getattr(duckdb, name, None)
        if original is None:
            return

        @functools.wraps(original)
        def function(*args: Any, connection: Any = None, **named: Any) -> Any:
            owner = duckdb.default_connection() if connection is None else connection
            return getattr(owner, name)(*args, **named)

        setattr(duckdb, name, function)
        self._undo.append(lambda: setattr(duckdb, name, original))

    def stop(self) -> None:
        """Leaves DuckDB as it was; profiles of connections stay switched on."""
        for run in list(self._runs.values()):
            run.finish()
        while self._undo:
            self._undo.pop()()
        # What is kept of DuckDB when the interpreter ends, DuckDB reports as leaked.
        self._originals.clear()
        self._relations.clear()

    def ask(self, connection: Any, statement: str, parameters: object = None) -> list[Any]:
        """All rows of a statement that is not followed."""
        methods = type(connection)
        # After `stop`, the methods are the original ones; queries that ended before it are told of then.
        self._originals.get("execute", methods.execute)(connection, statement, parameters)
        # Read to its end: DuckDB 2.0 refuses other work on a connection before that.
        return list(self._originals.get("fetchall", methods.fetchall)(connection))

    # The replaced methods.

    def _execute(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def execute(connection: Any, *args: Any, **named: Any) -> Any:
            if getattr(self._inside, "query", False):
                return original(connection, *args, **named)
            statement = args[0] if args else named.get("query")
            parameters = args[1] if len(args) > 1 else named.get("parameters")
            changes_threads = may_change_threads(statement)
            run = self._begin(connection, str(statement), parameters)
            try:
                answer = self._watched(run, original, connection, *args, **named)
            finally:
                # Of several statements, the first may have taken effect before the second failed.
                if changes_threads:
                    self._threads_version = object()
            if run is not None:
                if changes_threads:
                    run.threads = self.threads_of(connection)
                self._executed(connection, run, str(statement))
            return answer

        return execute

    def _relate(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def relate(connection: Any, *args: Any, **named: Any) -> Any:
            try:
                relation = original(connection, *args, **named)
            finally:
                if may_change_threads(args[0] if args else named.get("query")):
                    self._threads_version = object()
            if relation is not None:
                self._relations[relation] = connection
            return relation

        return relate

    def _run_relation(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def run_relation(relation: Any, *args: Any, **named: Any) -> Any:
            connection = self._relations.get(relation)
            if connection is None or getattr(self._inside, "query", False):
                return original(relation, *args, **named)
            run = self._begin(connection, relation.sql_query(), None)
            answer = self._watched(run, original, relation, *args, **named)
            if run is not None:
                self._end(connection, run)
            return answer

        return run_relation

    def _fetch(self, then: Callable[[Any, _Run, Any], None]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Methods that read the result of the connection's query, and what their answer says of it."""

        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            def fetch(connection: Any, *args: Any, **named: Any) -> Any:
                run = self._runs.get(connection)
                answer = self._watched(run, original, connection, *args, **named)
                if run is not None:
                    then(connection, run, answer)
                return answer

            return fetch

        return make

    def _close(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def close(connection: Any, *args: Any, **named: Any) -> Any:
            self._give_up(connection)
            return original(connection, *args, **named)

        return close

    def _create_function(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """DuckDB counts the time of a Python function in the operator that calls it, but does not say which do."""

        def create_function(connection: Any, name: str, *args: Any, **named: Any) -> Any:
            answer = original(connection, name, *args, **named)
            self.functions = self.functions | {str(name)}
            return answer

        return create_function

    def _remove_function(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def remove_function(connection: Any, name: str, *args: Any, **named: Any) -> Any:
            answer = original(connection, name, *args, **named)
            self.functions = self.functions - {str(name)}
            return answer

        return remove_function

    # What a query has spilled.

    def peak_before(self, connection: Any) -> tuple[int | None, int]:
        """The peak of the database's spilled bytes that is known last, where no other query runs; and a number."""
        with self._lock:
            self._begun += 1
            return None if self._runs else self._peaks.get(connection), self._begun

    def note_peak(self, connection: Any, number: int, profile: str) -> bool:
        """Notes the peak that a profile says. Whether no other query has begun since that of this number."""
        found = _PEAK.search(profile)
        if found is not None:
            self._peaks[connection] = int(found[1])
        return self._begun == number

    # How many threads a query may use.

    def threads_of(self, connection: Any) -> int | None:
        """The threads that the connection's database uses, or `None` where DuckDB does not tell them."""
        read, threads = self._threads.get(connection, (None, None))
        # Taken before the setting is read: a change in between has it read again.
        version = self._threads_version
        if read is not version:
            threads = self._read_threads(connection)
            self._threads[connection] = version, threads
        return threads

    def _read_threads(self, connection: Any) -> int | None:
        """Reads the setting beside the connection, whose transaction and result stay as they are."""
        try:
            beside = connection.cursor()
            try:
                return int(self.ask(beside, "SELECT current_setting('threads')")[0][0])
            finally:
                beside.close()
        except Exception as error:
            log.debug("queryscope: the threads of DuckDB could not be read: %s", error)
            return None

    # Beginnings and ends. Nothing of these raises.

    def _watched(self, run: _Run | None, original: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """Calls the engine; a query that raises has failed."""
        nested = getattr(self._inside, "query", False)
        self._inside.query = True
        if run is not None:
            run.works()
        try:
            return original(*args, **named)
        except BaseException as error:
            if run is not None:
                run.fail(error)
                self._forget(run.connection(), run)
            raise
        finally:
            self._inside.query = nested

    @guarded("following a query of DuckDB")
    def _begin(self, connection: Any, statement: str, parameters: object) -> _Run | None:
        self._give_up(connection)
        self._prepare(connection)
        run = _Run(self, connection, statement, parameters)
        trace_id, span_id = current_span()
        run.active = self.telemetry.begin(
            run,
            label=label_of(statement, current()),
            call_site=call_site(("duckdb",)),
            trace_id=trace_id,
            span_id=span_id,
        )
        self._runs[connection] = run
        return run

    @guarded("ending a query of DuckDB")
    def _executed(self, connection: Any, run: _Run, statement: str) -> None:
        """Statements that have no rows are over; the others are once their rows have been read."""
        if is_read_only(statement):
            run.rests(_IDLE)
        else:
            self._end(connection, run)

    def _fetched_whole(self, connection: Any, run: _Run, _: Any) -> None:
        self._end(connection, run)

    @guarded("following a query of DuckDB")
    def _fetched_part(self, connection: Any, run: _Run, part: Any) -> None:
        """A part of a result has been read: the last of it, or one after which there may be more."""
        if part is None or len(part) == 0:
            self._end(connection, run)
        elif isinstance(part, tuple):
            run.note_row()
            run.rests(_IDLE_AFTER_ROW)
        else:
            run.rests(_IDLE)

    @guarded("following a query of DuckDB")
    def _fetched_reader(self, connection: Any, run: _Run, answer: Any) -> None:
        """Earlier versions of DuckDB give a whole table in place of a reader."""
        if not hasattr(answer, "read_next_batch"):
            self._end(connection, run)

    @guarded("ending a query of DuckDB")
    def _end(self, connection: Any, run: _Run) -> None:
        if self._forget(connection, run):
            run.finish()

    @guarded("ending a query of DuckDB")
    def _give_up(self, connection: Any) -> None:
        """Ends what the connection has not read to its end."""
        with self._lock:
            run = self._runs.pop(connection, None)
        if run is not None:
            run.finish()

    def end_idle(self, connection: Any, run: _Run) -> None:
        """Ends a query that nobody reads; the connection begins no other before its profile has been read."""
        with self._lock:
            if self._forget(connection, run):
                run.finish()

    def _forget(self, connection: Any, run: _Run) -> bool:
        """Whether the query was the one that its connection works on, which it is no more."""
        with self._lock:
            is_open = connection is not None and self._runs.get(connection) is run
            if is_open:
                del self._runs[connection]
            return is_open

    @guarded("switching on DuckDB's profile")
    def _prepare(self, connection: Any) -> None:
        if connection in self._prepared:
            return
        self._prepared.add(connection)
        version = self._threads_version
        names = "current_setting('enable_profiling'), current_setting('threads')"
        [(profiling, threads)] = self.ask(connection, f"SELECT {names}")
        self._threads[connection] = version, int(threads)
        if profiling not in (None, ""):
            return
        for setting in SETTINGS:
            try:
                self._originals["execute"](connection, setting)
            except Exception as error:
                warn_once(setting, "queryscope: DuckDB does not take %r: %s", setting, error)
        # Without it, nothing is said of what the first query spills.
        with contextlib.suppress(Exception):
            self.note_peak(connection, 0, connection.get_profiling_information("json"))


def start(telemetry: Callable[[str, str], Telemetry]) -> DuckDBAdapter:
    """Begins to follow."""
    import duckdb

    return DuckDBAdapter(telemetry("duckdb", duckdb.__version__), duckdb)

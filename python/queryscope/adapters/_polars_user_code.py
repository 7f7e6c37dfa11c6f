"""Measures how long functions of the program run inside of queries of Polars.

Polars hands every such function to one of a few native functions. These are replaced by ones that put the function
into a `Timed`, which works on whole columns, frames or groups: a call costs the clock once a batch, not once a row.
Only `rolling_map` calls its function once a window.

A generator of `register_io_source` is timed as long as it makes a frame, not while Polars works on it.
"""

from __future__ import annotations

import copy
import functools
import importlib
from collections.abc import Callable, Iterator
from typing import Any

from queryscope._guard import warn_once
from queryscope._native import Timed, UserCode

# Module, owner within it, name, and the place of the function among the arguments.
_CALLERS = (
    # `Expr.map_batches`, `Expr.map_elements`, `pl.map_batches`, `pl.map_groups`.
    ("polars.functions.lazy", "plr", "map_expr", 1),
    ("polars.lazyframe.frame", "LazyFrame", "map_batches", 1),
    ("polars.lazyframe.group_by", "LazyGroupBy", "map_groups", 1),
    ("polars.expr.expr", "Expr", "rolling_map", 1),
    ("polars.functions.lazy", "plr", "fold", 1),
    ("polars.functions.lazy", "plr", "cum_fold", 1),
    ("polars.functions.lazy", "plr", "reduce", 0),
    ("polars.functions.lazy", "plr", "cum_reduce", 0),
)
# What `register_io_source` hands its generator to, and the argument.
_SOURCES = ("polars.lazyframe.frame", "LazyFrame", "_scan_python_function")
_SOURCE, _ARROW = "scan_fn", "pyarrow"


class TimedSource:
    """What Polars calls for the rows of a source: it returns them as an iterator, with a mark."""

    def __init__(self, function: Callable[..., Any], clock: UserCode) -> None:
        self._function = function
        self._timed = Timed(function, clock)
        self._clock = clock
        # Polars keeps the program's own function there.
        self.__dict__.update(vars(function))

    def __call__(self, *args: Any, **named: Any) -> Any:
        answer = self._timed(*args, **named)
        if isinstance(answer, tuple) and len(answer) == 2 and hasattr(answer[0], "__next__"):
            return _TimedRows(answer[0], self._clock), answer[1]
        return answer

    def __reduce__(self) -> tuple[Any, ...]:
        return copy.copy, (self._function,)


class _TimedRows:
    """An iterator that tells a clock while it makes the next frame."""

    def __init__(self, rows: Iterator[Any], clock: UserCode) -> None:
        self._rows = rows
        self._clock = clock

    def __iter__(self) -> _TimedRows:
        return self

    def __next__(self) -> Any:
        self._clock.enter()
        try:
            return next(self._rows)
        finally:
            self._clock.leave()


def measure(clock: UserCode) -> list[Callable[[], None]]:
    """Has functions of the program timed from now on. Returns what undoes it."""
    undo: list[Callable[[], None]] = []
    for path, owner, name, place in _CALLERS:
        _replace(path, owner, name, functools.partial(_timing, place, clock), undo)
    _replace(*_SOURCES, functools.partial(_timing_source, clock), undo)
    return undo


def _replace(
    path: str,
    owner_name: str,
    name: str,
    make: Callable[[Callable[..., Any]], Callable[..., Any]],
    undo: list[Callable[[], None]],
) -> None:
    try:
        owner = getattr(importlib.import_module(path), owner_name)
        # As it stands there: a class method stays one when it is put back.
        original = vars(owner)[name]
    except (ImportError, AttributeError, KeyError) as error:
        warn_once(f"{path}.{name}", "queryscope: no time of user code in %s.%s: %s", path, name, error)
        return
    is_class_method = isinstance(original, classmethod)
    made = make(original.__func__ if is_class_method else original)
    setattr(owner, name, classmethod(made) if is_class_method else made)
    undo.append(functools.partial(setattr, owner, name, original))


def _timing_source(clock: UserCode, original: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose source it gets as a `TimedSource`. What reads PyArrow's data sets is not the program's."""

    @functools.wraps(original)
    def call(*args: Any, **named: Any) -> Any:
        function = named.get(_SOURCE)
        if callable(function) and not named.get(_ARROW):
            named[_SOURCE] = TimedSource(function, clock)
        return original(*args, **named)

    return call


def _timing(place: int, clock: UserCode, original: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose callable argument it gets as a `Timed`."""

    @functools.wraps(original)
    def call(*args: Any, **named: Any) -> Any:
        if len(args) > place:
            args = (*args[:place], _timed(args[place], clock), *args[place + 1 :])
        elif "function" in named:
            named["function"] = _timed(named["function"], clock)
        return original(*args, **named)

    return call


def _timed(function: Any, clock: UserCode) -> Any:
    return Timed(function, clock) if callable(function) else function

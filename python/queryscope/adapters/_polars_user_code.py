"""Measures how long functions of the program run inside of queries of Polars.

Polars hands every such function to one of a few native functions. These are replaced by ones that put the function
into a `Timed`, which works on whole columns, frames or groups: a call costs the clock once a batch, not once a row.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from queryscope._guard import warn_once
from queryscope._native import UserCode

# Module, owner within it, name, and the place of the function among the arguments.
_CALLERS = (
    # `Expr.map_batches`, `Expr.map_elements`, `pl.map_batches`, `pl.map_groups`.
    ("polars.functions.lazy", "plr", "map_expr", 1),
    ("polars.lazyframe.frame", "LazyFrame", "map_batches", 1),
    ("polars.lazyframe.group_by", "LazyGroupBy", "map_groups", 1),
)


class Timed:
    """A function that tells a clock when it is called. Copies that leave the process are the function alone."""

    def __init__(self, function: Callable[..., Any], clock: UserCode) -> None:
        self._function = function
        self._clock = clock

    def __call__(self, *args: Any, **named: Any) -> Any:
        self._clock.enter()
        try:
            return self._function(*args, **named)
        finally:
            self._clock.leave()

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial, (self._function,)


def measure(clock: UserCode) -> list[Callable[[], None]]:
    """Has functions of the program timed from now on. Returns what undoes it."""
    undo: list[Callable[[], None]] = []
    for path, owner_name, name, place in _CALLERS:
        try:
            owner = getattr(importlib.import_module(path), owner_name)
            original = getattr(owner, name)
        except (ImportError, AttributeError) as error:
            warn_once(f"{path}.{name}", "queryscope: no time of user code in %s.%s: %s", path, name, error)
            continue
        setattr(owner, name, _timing(original, place, clock))
        undo.append(functools.partial(setattr, owner, name, original))
    return undo


def _timing(original: Callable[..., Any], place: int, clock: UserCode) -> Callable[..., Any]:
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

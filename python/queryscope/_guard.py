"""Keeps telemetry from making a program fail."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any, TypeVar

log = logging.getLogger("queryscope")
_Function = TypeVar("_Function", bound=Callable[..., Any])
_warned: set[str] = set()


def warn_once(key: str, text: str, *args: object) -> None:
    """Logs a warning, the first of its key alone."""
    if key not in _warned:
        _warned.add(key)
        log.warning(text, *args)


def guarded(what: str) -> Callable[[_Function], _Function]:
    """Has a function log what it raises, once, and return `None` then. `KeyboardInterrupt` goes through."""

    def decorate(function: _Function) -> _Function:
        @functools.wraps(function)
        def guard(*args: Any, **named: Any) -> Any:
            try:
                return function(*args, **named)
            except Exception as error:
                key = f"{what}:{type(error).__name__}"
                warn_once(key, "queryscope: %s failed (%s: %s)", what, type(error).__name__, error)
                return None

        return guard  # type: ignore[return-value]

    return decorate

"""What the program was doing when it began a query of Polars: label, call site and span.

Most queries are planned on the thread that runs them. Those of `collect_async`, `collect_all_async` and
`collect_batches` are planned on a thread of Polars' own, where nothing of this is known, and nothing says which call a
query comes from. So what calls have in common is kept until a query begins: with one call, or several alike, it is
certain. Where calls differ, their queries have none of it.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass
from typing import TypeVar

from queryscope._callsite import call_site
from queryscope._label import current
from queryscope._trace import current_span

_ELSEWHERE = ("collect_async", "collect_all_async", "collect_batches")
_CALLS_MAX = 1_000
# The adapter has a function that stands as if it were in a file of Polars.
_PACKAGES = ("polars", "queryscope")
_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Context:
    """Where a query comes from."""

    label: str | None = None
    call_site: tuple[str, int, str] | None = None
    span: tuple[str | None, str | None] = (None, None)

    @classmethod
    def here(cls) -> Context:
        """What this thread is doing."""
        return cls(current(), call_site(_PACKAGES), current_span())


class Calls:
    """Calls whose queries are planned on other threads, until these begin."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Context] = []
        self._unknown = 0

    def note(self) -> None:
        """Notes the call of Polars that this thread is in, if its query is planned on another one."""
        frame = sys._getframe(1)
        for _ in range(6):
            if frame is None:
                return
            if frame.f_code.co_name in _ELSEWHERE:
                context = Context.here()
                with self._lock:
                    if len(self._waiting) < _CALLS_MAX:
                        self._waiting.append(context)
                return
            frame = frame.f_back  # type: ignore[assignment]

    def begin(self) -> Context:
        """The context of a query that begins on this thread."""
        here = Context.here()
        if here.call_site is not None:
            return here
        with self._lock:
            if not self._waiting:
                return here
            if len(set(self._waiting)) == 1:
                return self._waiting.pop()
            common = Context(
                label=_common([each.label for each in self._waiting]),
                call_site=_common([each.call_site for each in self._waiting]),
                span=_common([each.span for each in self._waiting]) or (None, None),
            )
            self._unknown += 1
            if self._unknown >= len(self._waiting):
                self._unknown = 0
                self._waiting.clear()
            return common


def _common(values: list[_Value]) -> _Value | None:
    return values[0] if all(value == values[0] for value in values) else None

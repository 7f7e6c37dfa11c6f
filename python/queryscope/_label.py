"""Names of queries, which belong to the code that runs them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from contextvars import ContextVar
from types import TracebackType
from typing import Any, TypeVar

_labels: ContextVar[tuple[str, ...]] = ContextVar("queryscope_labels", default=())
_Function = TypeVar("_Function", bound=Callable[..., Any])


class label:  # noqa: N801
    """Names the queries that run in a block or a function. Nested labels are joined by a slash.

    >>> with label("nightly"), label("orders"):
    ...     current()
    'nightly/orders'

    >>> @label("report")
    ... def report():
    ...     return current()
    >>> report(), current()
    ('report', None)

    Coroutines and generators carry the label while they run, and their callers do not.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"a label must be a text that is not blank, got {name!r}")
        self.name = name

    def __enter__(self) -> label:
        _labels.set((*_labels.get(), self.name))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _labels.set(_labels.get()[:-1])

    def __call__(self, function: _Function) -> _Function:
        name = self.name

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def coroutine(*args: Any, **named: Any) -> Any:
                with label(name):
                    return await function(*args, **named)

            return coroutine  # type: ignore[return-value]

        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def generator(*args: Any, **named: Any) -> Iterator[Any]:
                return _Labelled(name, function(*args, **named))

            return generator  # type: ignore[return-value]

        if inspect.isasyncgenfunction(function):

            @functools.wraps(function)
            async def async_generator(*args: Any, **named: Any) -> AsyncIterator[Any]:
                values = function(*args, **named)
                try:
                    while True:
                        with label(name):
                            try:
                                value = await anext(values)
                            except StopAsyncIteration:
                                return
                        yield value
                finally:
                    await values.aclose()

            return async_generator  # type: ignore[return-value]

        @functools.wraps(function)
        def called(*args: Any, **named: Any) -> Any:
            with label(name):
                return function(*args, **named)

        return called  # type: ignore[return-value]


class _Labelled:
    """A generator that carries a label while it runs and not while its caller does."""

    __slots__ = ("_generator", "_name")

    def __init__(self, name: str, generator: Any) -> None:
        self._name = name
        self._generator = generator

    def __iter__(self) -> _Labelled:
        return self

    def __next__(self) -> Any:
        with label(self._name):
            return next(self._generator)

    def send(self, value: Any) -> Any:
        with label(self._name):
            return self._generator.send(value)

    def throw(self, *error: Any) -> Any:
        with label(self._name):
            return self._generator.throw(*error)

    def close(self) -> None:
        with label(self._name):
            self._generator.close()


def current() -> str | None:
    """The label of the code that runs now, or `None`."""
    labels = _labels.get()
    return "/".join(labels) if labels else None

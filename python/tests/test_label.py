"""Labels belong to the code that runs, whatever kind of function it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from queryscope import label
from queryscope._label import current


def test_nested_labels_are_joined() -> None:
    assert current() is None
    with label("a"):
        with label("b"):
            assert current() == "a/b"
        assert current() == "a"
    assert current() is None


def test_a_label_ends_when_its_block_raises() -> None:
    with pytest.raises(KeyError), label("a"):
        raise KeyError
    assert current() is None


@pytest.mark.parametrize("name", ["", "  ", None, 5])
def test_a_label_must_be_a_text(name: object) -> None:
    with pytest.raises(ValueError, match="not blank"):
        label(name)  # type: ignore[arg-type]


def test_functions_and_generators() -> None:
    @label("f")
    def function() -> str | None:
        return current()

    @label("g")
    def generator() -> Iterator[str | None]:
        yield current()
        yield current()

    assert function() == "f"
    seen = []
    for value in generator():
        seen += [value, current()]
    assert seen == ["g", None, "g", None]


def test_coroutines_that_run_at_the_same_time_keep_their_labels() -> None:
    @label("outer")
    async def work(name: str) -> str | None:
        with label(name):
            await asyncio.sleep(0.01)
            return current()

    @label("async")
    async def values() -> AsyncIterator[str | None]:
        yield current()

    async def both() -> list[str | None]:
        found = list(await asyncio.gather(work("a"), work("b")))
        return found + [value async for value in values()] + [current()]

    assert asyncio.run(both()) == ["outer/a", "outer/b", "async", None]

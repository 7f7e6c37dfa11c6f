"""One run as text and, in a notebook, as a page: its plan with time shares, and findings."""

from __future__ import annotations

import json
from typing import Any

_BUSY = "busy_ns"
_ROWS = "rows_out"


class Report:
    """A run that has ended. `profile` is the document that was sent (profile@1)."""

    def __init__(self, text: str) -> None:
        self.profile: dict[str, Any] = json.loads(text)
        self._text = text

    @property
    def ended_unix_ns(self) -> int:
        """When the run ended, in Unix nanoseconds."""
        return int(self.profile.get("started_unix_ns") or 0) + int(self.profile["wall_ms"] * 1e6)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = [self._headline(), *self._tree()]
        for finding in self._findings():
            lines.append(f"! {finding['title']}")
            if finding.get("fix"):
                lines.append(f"  {finding['fix']}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """For notebooks: the page of the run in a frame, which loads nothing."""
        from queryscope import _page  # Its imports would take longer than all of the package's.

        title, text = self._headline(), str(self)
        document = _page.page(title, str(self.profile["query_id"]), self._text)
        return _page.plain(text) if document is None else _page.frame(title, document, text)

    def _headline(self) -> str:
        profile = self.profile
        name = profile.get("label") or profile["query_id"]
        failed = profile.get("failed")
        outcome = "finished" if failed is None else "was cancelled" if failed == "cancelled" else "failed"
        return f"{name} {outcome} in {duration(profile['wall_ms'])}"

    def _findings(self) -> list[dict[str, Any]]:
        return list((self.profile.get("insights") or {}).get("findings") or [])

    def _tree(self) -> list[str]:
        nodes = list(self._nodes())
        width = max((len(indent) + len(name) for indent, name, _, _ in nodes), default=0)
        return [
            f"{indent + name:<{width}}  {share:>6}  {rows_out:>14}".rstrip() for indent, name, share, rows_out in nodes
        ]

    def _nodes(self) -> list[tuple[str, str, str, str]]:
        """Indentation, name, share of the working time and rows of each node, the root first."""
        plan = self.profile["plan"]
        nodes = {node["id"]: node for node in plan["physical"] or plan["logical"]}
        read = {each for node in nodes.values() for each in node["inputs"]}
        busy_of_all = sum(_counter(node, _BUSY) or 0 for node in nodes.values())
        lines: list[tuple[str, str, str, str]] = []
        seen: set[int] = set()
        stack = [(0, root) for root in reversed([each for each in nodes if each not in read])]
        while stack:
            depth, each = stack.pop()
            node = nodes.get(each)
            if node is None:
                continue
            busy, rows_out = _counter(node, _BUSY), _counter(node, _ROWS)
            share = f"{busy / busy_of_all:.0%}" if busy is not None and busy_of_all else ""
            again = " (shared, see above)" if each in seen else ""
            rows = "" if rows_out is None else f"{rows_out:,} rows"
            lines.append(("  " * depth, node["kind"] + again, share, rows))
            if each not in seen:
                seen.add(each)
                stack.extend((depth + 1, below) for below in reversed(node["inputs"]))
        return lines


def _counter(node: dict[str, Any], name: str) -> int | None:
    value = (node.get("metrics") or {}).get(name)
    return value if isinstance(value, int) else None


def duration(milliseconds: float) -> str:
    """A duration in three digits: `12.3 ms`, `4.56 s`, `7 min 8 s`.

    >>> duration(0.5), duration(12.34), duration(4560), duration(428_000)
    ('0.50 ms', '12.3 ms', '4.56 s', '7 min 8 s')
    """
    if milliseconds >= 60_000:
        minutes, seconds = divmod(round(milliseconds / 1000), 60)
        return f"{minutes} min {seconds} s"
    value, unit = (milliseconds / 1000, "s") if milliseconds >= 1000 else (milliseconds, "ms")
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f} {unit}"

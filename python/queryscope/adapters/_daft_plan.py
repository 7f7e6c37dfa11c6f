"""Daft's plans and counters in the terms of the profile format.

Daft gives plans as nested JSON, and its counters by names with dots. The physical plan has ids and says little of a
node; the logical plan has no ids and says the expressions.
"""

from __future__ import annotations

import datetime
import json
import re
from typing import Any

_ROLES = {
    "InMemoryScan": "dataframe",
    "EmptyScan": "dataframe",
    "PlaceholderScan": "scan",
    "PhysicalScan": "scan",
    "ScanTask": "scan",
    "GlobScan": "scan",
    "Source": "scan",
    "Filter": "selection",
    "Project": "projection",
    "UDFProject": "map",
    "IntoBatches": "engine",
    "MonotonicallyIncreasingId": "map",
    "Aggregate": "aggregation",
    "DedupAggregate": "distinct",
    "Dedup": "distinct",
    "Distinct": "distinct",
    "GroupByAgg": "aggregation",
    "HashAggregate": "aggregation",
    "Sort": "sort",
    "TopN": "top_k",
    "HashJoin": "join",
    "InnerHashJoinProbe": "join",
    "OuterHashJoinProbe": "join",
    "HashJoinBuild": "engine",
    "Join": "join",
    "SortMergeJoin": "join",
    "AsofJoin": "theta_join",
    "CrossJoin": "cross_join",
    "Concat": "union",
    "Union": "union",
    "Limit": "function",
    "Offset": "function",
    "Explode": "function",
    "Unpivot": "function",
    "Pivot": "function",
    "Sample": "function",
    "Window": "map",
    "Write": "sink",
    "CommitWrite": "sink",
    "Sink": "sink",
    "Repartition": "engine",
    "Alias": "engine",
    "SubqueryAlias": "engine",
}
_PROPERTIES = {
    "predicate": "predicate",
    "projection": "expressions",
    "expr": "expressions",
    "aggregations": "expressions",
    "groupby": "keys",
    "sort_by": "order",
}
_COUNTERS = {
    "rows.in": "rows_in",
    "rows.out": "rows_out",
    "rows.written": "rows_written",
    "bytes.in": "bytes_in",
    "bytes.out": "bytes_out",
    "bytes.read": "bytes_read",
    "bytes.written": "bytes_written",
    # The time of a node's tasks, which includes what they wait for. So it is not `busy_ns`, the time threads work.
    "duration": "tasks_ns",
    "task.count": "tasks",
}
# A join has counters of its own for its two sides.
_BUILD, _PROBE, _JOINED = "build rows inserted", "probe rows in", "probe rows out"
_UDF = "UDF "
# Daft adds two numbers of the process to the names of Python functions.
_UDF_NUMBERS = re.compile(r"(?<=\w)-\d+-\d+(?=\()")
_NOT_SAID = ("children", "type", "id", "name", "category", "approx_stats")


def physical(text: str) -> list[dict[str, Any]]:
    """The nodes of a physical plan, the root first, in the shape of the format."""
    return [_node(tree, tree["id"], [child["id"] for child in _below(tree)]) for tree in _trees(text) if "id" in tree]


def logical(text: str) -> list[dict[str, Any]]:
    """The nodes of a logical plan, the root first. A node's id is its place in pre-order."""
    trees = _trees(text)
    places = {id(tree): place for place, tree in enumerate(trees)}
    return [_node(tree, places[id(tree)], [places[id(child)] for child in _below(tree)]) for tree in trees]


def _trees(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    stack = [json.loads(text)]
    while stack:
        tree = stack.pop()
        found.append(tree)
        stack.extend(reversed(_below(tree)))
    return found


def _below(tree: dict[str, Any]) -> list[dict[str, Any]]:
    return [child for child in tree.get("children") or [] if isinstance(child, dict)]


def _node(tree: dict[str, Any], number: int, inputs: list[int]) -> dict[str, Any]:
    kind = str(tree.get("type") or "unknown")
    name = str(tree.get("name") or kind)
    properties = {_PROPERTIES.get(each, each): _named(value) for each, value in tree.items() if each not in _NOT_SAID}
    rows = ((tree.get("approx_stats") or {}).get("approx_stats") or {}).get("num_rows")
    if isinstance(rows, int):
        properties["estimated_rows"] = rows
    # Not `name`: that may name a Python function, and this is the text that Daft shows.
    if name.startswith(_UDF):
        properties["user_code"] = name[len(_UDF) :]
    elif name != kind:
        properties["operator"] = name
    if role(kind, name) == "scan":
        # What is cut short, rules do not compare: neither this scan, whose files Daft does not say, nor its readers.
        properties["rest"] = "…"
    return {"id": number, "kind": kind, "role": role(kind, name), "inputs": inputs, "properties": properties}


def _named(value: Any) -> Any:
    if isinstance(value, list):
        return [_named(each) for each in value]
    return _UDF_NUMBERS.sub("", value) if isinstance(value, str) else value


def role(kind: str, name: str) -> str:
    """What a node does, in the words that all engines share."""
    if "Join" in kind and any(word in name for word in ("Semi", "Anti")):
        return "semi_anti_join"
    return _ROLES.get(kind, "unknown")


def reading(number: int, stats: dict[str, Any], done: bool) -> dict[str, Any]:
    """A node's counters, in the shape that the native half reads."""
    counters: dict[str, int] = {}
    custom: list[dict[str, Any]] = []
    for name, (_, value) in stats.items():
        ours = _COUNTERS.get(name) or re.sub(r"\W+", "_", name)
        if isinstance(value, datetime.timedelta):
            counters[ours] = value // datetime.timedelta(microseconds=1) * 1000
        elif isinstance(value, int):
            counters[ours] = value
        elif isinstance(value, float):
            custom.append({"key": ours, "unit": "%" if name == "selectivity" else "1", "value": value})
    if _PROBE in stats and "rows_in" not in counters:
        # Daft may count no row of the build side: the rows of one side would pass for all. What a node does not tell is
        # the sum of its inputs.
        build = stats.get(_BUILD, (None, 0))[1]
        if build:
            counters["rows_in"] = stats[_PROBE][1] + build
        counters["rows_out"] = stats.get(_JOINED, (None, 0))[1]
    if counters.get("rows_out") and counters.get("bytes_read") == 0:
        # Daft does not count the bytes of local files: a scan that gave rows has read some.
        del counters["bytes_read"]
    return {"id": number, "counters": counters, "custom": custom, "done": done}

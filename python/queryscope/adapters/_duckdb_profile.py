"""DuckDB's plans and profiles in the terms of the profile format.

DuckDB names the same figure differently in 1.x (`operator_type`, `operator_timing`, `operator_cardinality`) and in 2.x
(`type`, `timing`, `intermediate_rows`). Both are read. Nodes have no ids in either: a node's id is its place in
pre-order, without the collector of the result that only a profile has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

NANOSECONDS = 1e9
PEAK_SPILL = "database_peak_spill_bytes"
_COLLECTORS = ("RESULT_COLLECTOR", "QUERY", "EXPLAIN_ANALYZE")
_ROLES = {
    "PROJECTION": "projection",
    "FILTER": "selection",
    "HASH_JOIN": "join",
    "LEFT_DELIM_JOIN": "join",
    "RIGHT_DELIM_JOIN": "join",
    "DELIM_JOIN": "join",
    "MERGE_JOIN": "join",
    "PIECEWISE_MERGE_JOIN": "theta_join",
    "IE_JOIN": "theta_join",
    "ASOF_JOIN": "theta_join",
    "NESTED_LOOP_JOIN": "theta_join",
    "BLOCKWISE_NL_JOIN": "theta_join",
    "POSITIONAL_JOIN": "join",
    "CROSS_PRODUCT": "cross_join",
    "HASH_GROUP_BY": "aggregation",
    "PERFECT_HASH_GROUP_BY": "aggregation",
    "PARTITIONED_AGGREGATE": "aggregation",
    "UNGROUPED_AGGREGATE": "aggregation",
    "SIMPLE_AGGREGATE": "aggregation",
    "WINDOW": "map",
    "STREAMING_WINDOW": "map",
    "UNNEST": "map",
    "ORDER_BY": "sort",
    "TOP_N": "top_k",
    "LIMIT": "function",
    "STREAMING_LIMIT": "function",
    "LIMIT_PERCENT": "function",
    "UNION": "union",
    "RECURSIVE_CTE": "union",
    "COLUMN_DATA_SCAN": "dataframe",
    "DELIM_SCAN": "engine",
    "CTE": "engine",
    "CTE_SCAN": "engine",
    "DUMMY_SCAN": "dataframe",
    "EMPTY_RESULT": "dataframe",
    "PANDAS_SCAN": "dataframe",
    "ARROW_SCAN": "dataframe",
    "INSERT": "sink",
    "BATCH_INSERT": "sink",
    "UPDATE": "sink",
    "DELETE_OPERATOR": "sink",
    "CREATE_TABLE_AS": "sink",
    "BATCH_CREATE_TABLE_AS": "sink",
    "COPY_TO_FILE": "sink",
    "BATCH_COPY_TO_FILE": "sink",
}
_PROPERTIES = {
    "Table": "table",
    "Filters": "predicate",
    "Expression": "predicate",
    "Groups": "keys",
    "Conditions": "keys",
    "Aggregates": "aggregates",
    "Order By": "order",
    "Join Type": "how",
    "Top": "limit",
    "Total Files Read": "files",
    "Scanning Files": "files",
}
# What `EXPLAIN` calls what a profile calls otherwise. A plan has one name while a query runs and at its end.
_EXPLAINED = {
    "SEQ_SCAN": "TABLE_SCAN",
    "REC_CTE": "RECURSIVE_CTE",
    "REC_KEY_CTE": "RECURSIVE_KEY_CTE",
    "REC_CTE_SCAN": "RECURSIVE_CTE_SCAN",
    "REC_REC_CTE_SCAN": "RECURSIVE_RECURRING_CTE_SCAN",
    "DELETE": "DELETE_OPERATOR",
}
# Not `projection`: readers of these columns refer to them by place (`#0`), so nobody can tell which are unused.
_SCAN_PROJECTIONS = "columns_read"
_COMPUTED = "expressions"
# A column that is named by its place in the input. Rules that compare names must not take two such places for one.
_PLACE = re.compile(r"#\d")
_BY_PLACE = "_by_place"
_READERS = re.compile(r"READ_(\w+?)(?:_AUTO)?|(PARQUET|CSV|JSON)_SCAN")
# Where an operator may call a function of the program.
_EXPRESSIONS = ("expressions", "predicate", "keys", "aggregates", "order", "columns_read")


@dataclass
class Operator:
    """A node of a plan or a profile."""

    id: int
    kind: str
    inputs: list[int] = field(default_factory=list)
    properties: dict[str, Any] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)

    def node(self) -> dict[str, Any]:
        """The node in the shape of the format."""
        return {
            "id": self.id,
            "kind": self.kind,
            "role": role(self.kind),
            "inputs": self.inputs,
            "properties": self.properties,
        }


def role(kind: str) -> str:
    """What an operator does, in the words that all engines share."""
    if kind in _ROLES:
        return _ROLES[kind]
    if kind.endswith("_SCAN") or kind.startswith("READ_"):
        return "scan"
    return "unknown"


def operators(text: str, functions: Collection[str] = ()) -> list[Operator]:
    """The operators of a plan (`EXPLAIN (FORMAT json)`) or of a profile, in pre-order.

    `functions` are names of functions that are written in Python: an operator that calls one has it as `user_code`.

    Raises:
        ValueError: the text is no JSON, or holds no operators.
    """
    tree = json.loads(text)
    if isinstance(tree, dict) and isinstance(tree.get("operator"), list):
        tree = tree["operator"]
    roots = tree if isinstance(tree, list) else [tree]
    found = _flatten([root for root in roots if isinstance(root, dict)])
    if functions:
        calls = re.compile(rf"\b({'|'.join(map(re.escape, functions))})\(", re.IGNORECASE)
        for operator in found:
            texts = (str(value) for name, value in operator.properties.items() if name.startswith(_EXPRESSIONS))
            called = [match[1] for text in texts if (match := calls.search(text))]
            if called:
                operator.properties["user_code"] = called[0]
    return found


def _flatten(roots: list[dict[str, Any]]) -> list[Operator]:
    found: list[Operator] = []
    stack: list[tuple[dict[str, Any], Operator | None]] = [(root, None) for root in reversed(roots)]
    while stack:
        tree, reader = stack.pop()
        kind = _kind(tree)
        below = [child for child in tree.get("children") or [] if isinstance(child, dict)]
        if kind is None or kind in _COLLECTORS:
            # The root of a profile, which the plan does not have.
            stack.extend((child, reader) for child in reversed(below))
            continue
        operator = Operator(len(found), kind, properties=_properties(kind, tree.get("extra_info")))
        operator.counters = _counters(tree)
        if "Table" not in (tree.get("extra_info") or {}):
            # Of files, 2.0 counts the rows that meet the filter alone, and 1.5 counts some twice.
            operator.counters.pop("rows_scanned", None)
        found.append(operator)
        if reader is not None:
            reader.inputs.append(operator.id)
        stack.extend((child, operator) for child in reversed(below))
    for operator in reversed(found):
        if operator.kind == "CTE" and operator.inputs and operator.counters:
            # A CTE gives on the rows of its last child, and DuckDB counts them there alone.
            operator.counters["rows_out"] = found[operator.inputs[-1]].counters.get("rows_out", 0)
    for operator in found:
        if operator.inputs and operator.counters:
            operator.counters["rows_in"] = sum(found[each].counters.get("rows_out", 0) for each in operator.inputs)
    return found


def _kind(tree: dict[str, Any]) -> str | None:
    for name in ("type", "operator_type", "name"):
        kind = tree.get(name)
        if isinstance(kind, str) and (kind := kind.strip()):
            # A plan names a scan of files by its function, a profile of 2.0 does not.
            info = tree.get("extra_info")
            is_reader = isinstance(info, dict) and str(info.get("Function", "")).upper() == kind
            return "TABLE_SCAN" if is_reader else _EXPLAINED.get(kind, kind)
    return None


def _properties(kind: str, info: Any) -> dict[str, Any]:
    if not isinstance(info, dict):
        return {}
    properties: dict[str, Any] = {}
    for name, value in info.items():
        if name in ("Estimated Cardinality", "Cardinality"):
            if str(value).isdigit():
                properties["estimated_rows"] = int(value)
        elif name in ("Projections", "Projection"):
            key = _SCAN_PROJECTIONS if role(kind) == "scan" else _COMPUTED
            properties[key] = value if isinstance(value, list) else [value]
        elif name in ("Function", "Type") and (match := _READERS.fullmatch(str(value).upper())):
            properties["format"] = (match[1] or match[2]).lower()
        elif name == "Filename(s)":
            properties["table"] = str(value).split(", ")[0]
        elif _PROPERTIES.get(name) == "files":
            if str(value).isdigit():
                properties["files"] = int(value)
        elif _PROPERTIES.get(name) == "limit":
            properties["limit"] = int(value) if str(value).isdigit() else value
        elif name in _PROPERTIES:
            many = _PROPERTIES[name] in ("keys", "aggregates", "order") and not isinstance(value, list)
            properties[_PROPERTIES[name]] = [value] if many else value
        elif name:
            properties[name.strip("_ ").replace(" ", "_").lower()] = value
    return {name + _BY_PLACE if _PLACE.search(str(value)) else name: value for name, value in properties.items()}


def _counters(tree: dict[str, Any]) -> dict[str, int]:
    counters: dict[str, int] = {}

    def count(name: str, factor: float, *theirs: str) -> None:
        for their in theirs:
            value = tree.get(their)
            if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
                counters[name] = round(value * factor)
                return

    count("rows_out", 1, "intermediate_rows", "operator_cardinality")
    count("busy_ns", NANOSECONDS, "timing", "operator_timing")
    count("rows_scanned", 1, "rows_scanned", "operator_rows_scanned")
    count("bytes_out", 1, "intermediate_size_bytes", "result_set_size")
    count("row_groups", 1, "total_row_groups_to_scan", "operator_total_row_groups_to_scan")
    count("row_groups_scanned", 1, "row_groups_scanned", "operator_row_groups_scanned")
    scanned = counters.pop("row_groups_scanned", None)
    if scanned is not None and "row_groups" in counters:
        counters["row_groups_pruned"] = max(counters["row_groups"] - scanned, 0)
    if not counters.get("row_groups", 1):
        del counters["row_groups"]
        counters.pop("row_groups_pruned", None)
    return counters


def totals(text: str, plan: list[Operator]) -> dict[str, Any]:
    """What a profile, of these operators, says of the query as a whole, in the shape of the format."""
    tree = json.loads(text)
    query, system, io = (tree.get(part) or {} for part in ("query", "system", "io"))

    def figure(*places: tuple[dict[str, Any], str]) -> float | None:
        for place, name in places:
            value = place.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
                return float(value)
        return None

    cpu = figure((query, "cpu_time"), (tree, "cpu_time"))
    planning = figure((tree.get("planner") or {}, "total_time"), (tree, "planner"))
    # The peaks are of the whole database: in 1.x since it was opened, in 2.x while the query ran.
    # Of files, 1.5 counts a part of their metadata: 20 kB of 13 MB, and nothing when they are read again.
    reads_files = any("format" in operator.properties for operator in plan)
    counters = {
        "database_peak_memory_bytes": figure((system, "peak_buffer_memory"), (tree, "system_peak_buffer_memory")),
        PEAK_SPILL: figure((system, "peak_temp_dir_size"), (tree, "system_peak_temp_dir_size")),
        "bytes_read": figure((io, "total_bytes_read"), ({} if reads_files else tree, "total_bytes_read")),
        "bytes_written": figure((io, "total_bytes_written"), (tree, "total_bytes_written")),
    }
    answer: dict[str, Any] = {
        "query_metrics": {name: round(value) for name, value in counters.items() if value is not None}
    }
    if cpu is not None:
        answer["cpu_ms"] = cpu * 1e3
    if planning is not None:
        answer["planning_ms"] = planning * 1e3
    return answer


def result_rows(plan: list[Operator]) -> int | None:
    """Rows of the result: those that the root gave on. What a root that writes gives on is no result."""
    if not plan or role(plan[0].kind) == "sink":
        return None
    return plan[0].counters.get("rows_out")


def with_spill(answer: dict[str, Any], text: str, before: int | None) -> dict[str, Any]:
    """Adds what a query that ran alone has spilled at least.

    In 2.x that is the peak. In 1.x it is how far the peak rose above that of the query before (`before`).
    """
    peak = answer["query_metrics"].get(PEAK_SPILL)
    if before is not None and '"peak_temp_dir_size"' in text:
        before = 0
    if before is not None and peak is not None and peak > before:
        answer["query_metrics"]["spilled_bytes"] = peak - before
    return answer


def aligned(plan: list[Operator], profile: list[Operator]) -> bool:
    """Whether the nodes of a profile are those of a plan: as many, with the same inputs."""
    return [each.inputs for each in plan] == [each.inputs for each in profile]

"""DataFusion's plans and counters in the terms of the profile format.

DataFusion shows a node to Python as one line of text, such as `SortExec: expr=[a@0 ASC]`. Of a line, the members whose
shape is known are read; the others cost the node a property, not the query. Names and roles are those of the crate
`queryscope-datafusion`.

Lines of logical nodes quote literals, those of physical nodes do not: `c@1 = x, y=[1]` compares with one text. Nothing
could mask such a text, so expressions of physical nodes are kept only where they are columns.
"""

from __future__ import annotations

import re
from typing import Any

_PHYSICAL = {
    "AggregateExec": "aggregation",
    "AnalyzeExec": "engine",
    "AsyncFuncExec": "function",
    "BoundedWindowAggExec": "function",
    "BufferExec": "engine",
    "CoalesceBatchesExec": "engine",
    "CoalescePartitionsExec": "engine",
    "CooperativeExec": "engine",
    "CrossJoinExec": "cross_join",
    "DataSinkExec": "sink",
    "DataSourceExec": "scan",
    "DmlResultExec": "sink",
    "EmptyExec": "dataframe",
    "ExplainExec": "engine",
    "FilterExec": "selection",
    "GlobalLimitExec": "engine",
    "HashJoinExec": "join",
    "InterleaveExec": "union",
    "LazyMemoryExec": "dataframe",
    "LocalLimitExec": "engine",
    "NestedLoopJoinExec": "theta_join",
    "OutputRequirementExec": "engine",
    "PartialSortExec": "sort",
    "PartitionedTopKExec": "top_k",
    "PiecewiseMergeJoinExec": "theta_join",
    "PlaceholderRowExec": "dataframe",
    "ProjectionExec": "projection",
    "RecursiveQueryExec": "union",
    "RepartitionExec": "engine",
    "ScalarSubqueryExec": "engine",
    "SortExec": "sort",
    "SortMergeJoinExec": "join",
    "SortPreservingMergeExec": "engine",
    "StreamingTableExec": "scan",
    "SymmetricHashJoinExec": "join",
    "UnionExec": "union",
    "UnnestExec": "function",
    "WindowAggExec": "function",
    "WorkTableExec": "engine",
}
_LOGICAL = {
    "Projection": "projection",
    "Filter": "selection",
    "Window": "function",
    "WindowAggr": "function",
    "Aggregate": "aggregation",
    "Sort": "sort",
    "Join": "join",
    "TableScan": "scan",
    "Limit": "engine",
    "SubqueryAlias": "engine",
    "Subquery": "engine",
    "Distinct": "distinct",
    "DistinctOn": "distinct",
    "Dml": "sink",
    "CopyTo": "sink",
    "Unnest": "function",
    "RecursiveQuery": "union",
    "Union": "union",
    "Repartition": "engine",
    "EmptyRelation": "dataframe",
    "Values": "dataframe",
    "Analyze": "engine",
    "Explain": "engine",
}
_MODES = {"FinalPartitioned": "final partitioned", "SinglePartitioned": "single partitioned"}
# Counters of DataFusion, which are sums over its partitions, and ours.
_COUNTERS = {
    "output_rows": "rows_out",
    "elapsed_compute": "busy_ns",
    # What a scan decodes is not in its `elapsed_compute`.
    "time_elapsed_processing": "busy_ns",
    "output_bytes": "bytes_out",
    "bytes_scanned": "bytes_read",
    "bytes_written": "bytes_written",
    "rows_written": "rows_written",
    "files_opened": "files",
    "spill_count": "spills",
    "spilled_bytes": "spilled_bytes",
    "spilled_rows": "spilled_rows",
}
# Counters of scans that are sent by their own names: the time until the next batch, of which the service makes waits.
_WAITS = ("time_elapsed_opening", "time_elapsed_scanning_total", "time_elapsed_processing")
# Counters of which the largest partition is sent, too.
_LARGEST = {"output_rows": "partition_rows_max", "elapsed_compute": "partition_busy_max_ns"}
_COLUMN = re.compile(r"([A-Za-z_][\w.]*)@\d+")
_ORDER = re.compile(r"([A-Za-z_][\w.]*)@\d+((?: (?:ASC|DESC|NULLS|FIRST|LAST))*)")
_OPENING, _CLOSING, _QUOTES = "([{", ")]}", "\"'"


def physical(plan: Any) -> list[tuple[dict[str, Any], Any]]:
    """The nodes of a physical plan in pre-order, each with the engine's own. A node's id is its place."""
    return [(_physical_node(line, number, inputs), node) for number, inputs, line, node in _walk(plan, "children")]


def logical(plan: Any) -> list[dict[str, Any]]:
    """The nodes of a logical plan in pre-order. A node's id is its place."""
    return [_logical_node(line, number, inputs) for number, inputs, line, _ in _walk(plan, "inputs")]


def _walk(plan: Any, below: str) -> list[tuple[int, list[int], str, Any]]:
    found: list[tuple[int, list[int], str, Any]] = []
    stack: list[tuple[Any, list[int]]] = [(plan, [])]
    while stack:
        node, reader = stack.pop()
        inputs: list[int] = []
        reader.append(len(found))
        found.append((len(found), inputs, node.display().strip(), node))
        stack.extend((each, inputs) for each in reversed(getattr(node, below)()))
    return found


def _described(number: int, kind: str, role: str, inputs: list[int], properties: dict[str, Any]) -> dict[str, Any]:
    known = {name: value for name, value in properties.items() if value not in (None, [], "")}
    return {"id": number, "kind": kind, "role": role, "inputs": inputs, "properties": known}


def _physical_node(line: str, number: int, inputs: list[int]) -> dict[str, Any]:
    head, _, text = line.partition(": ")
    kind = head.split("(")[0].split(" ")[0]
    role = _PHYSICAL.get(kind, "unknown")
    members = dict(_members(text))
    how = members.get("join_type")
    mode = members.get("mode") if kind == "AggregateExec" else None
    fetch = members.get("fetch") or members.get("TopK(fetch")
    order = members.get("expr") if kind.startswith(("Sort", "PartialSort")) else None
    keys = members.get("on") or members.get("gby")
    properties: dict[str, Any] = {
        "how": how and how.lower(),
        "mode": mode and _MODES.get(mode, mode.lower()),
        "keys": _columns(keys),
        "order": _orders(order),
        "limit": _number(fetch),
        "offset": _number(members.get("skip")),
    }
    if kind == "DataSourceExec":
        properties["format"] = members.get("file_type")
        # Not `projection`: the expressions that use these columns are not told.
        properties["columns_read"] = _list(members.get("projection")) if "file_type" in members else None
        properties["table"] = _first_file(members.get("file_groups"))
        role = "dataframe" if "partition_sizes" in members else role
    if how and ("Semi" in how or "Anti" in how or "Mark" in how):
        role = "semi_anti_join"
    elif kind == "AggregateExec" and members.get("aggr") == "[]" and members.get("gby") != "[]":
        role = "distinct"
    elif kind in ("SortExec", "PartialSortExec") and fetch:
        role = "top_k"
    elif kind == "ProjectionExec" and not _columns(members.get("expr"), renamed=True):
        role = "map"
    if role == "scan":
        # What is cut short, rules do not compare: neither this scan nor what reads it.
        properties["rest"] = "…"
    return _described(number, kind, role, inputs, properties)


def _logical_node(line: str, number: int, inputs: list[int]) -> dict[str, Any]:
    head, _, text = line.partition(":")
    text = text.strip()
    words = head.split(" ")
    if words[-1] == "Join":
        how = words[0].lower()
        on, _, condition = text.partition("Filter: ")
        keys = _parts(on.removesuffix(" null_aware"))
        role = "semi_anti_join" if re.search("semi|anti|mark", how) else "join" if keys else "theta_join"
        role = "cross_join" if how == "cross" or (how == "inner" and not keys and not condition) else role
        return _described(number, "Join", role, inputs, {"how": how, "keys": keys, "predicate": condition})
    kind = words[0]
    members = dict(_members(text))
    properties: dict[str, Any] = {"limit": _number(members.get("fetch")), "offset": _number(members.get("skip"))}
    role = _LOGICAL.get(kind, "unknown")
    if kind == "Projection":
        properties["expressions"] = _parts(text)
    elif kind == "Filter":
        properties["predicate"] = text
    elif kind == "Aggregate":
        properties["keys"], properties["expressions"] = _list(members.get("groupBy")), _list(members.get("aggr"))
        role = "aggregation" if properties["expressions"] else "distinct"
    elif kind == "WindowAggr":
        properties["expressions"] = _list(members.get("windowExpr"))
    elif kind == "Sort":
        properties["order"] = [part for part in _parts(text) if not part.startswith("fetch=")]
        role = "top_k" if "fetch" in members else "sort"
    elif kind == "TableScan":
        table, _, rest = text.partition(" ")
        members = dict(_members(rest))
        properties.update(table=table, projection=_list(members.get("projection")))
        properties["limit"] = _number(members.get("fetch"))
        properties["predicate"] = _list(members.get("full_filters"))
        # A filter above checks these again: they leave out files and row groups alone.
        properties["partial_predicate"] = _list(members.get("partial_filters"))
    elif kind == "SubqueryAlias":
        properties["name"] = text
    elif kind == "Dml":
        properties["destination"] = re.sub(r".*table=\[(.*)\]$", r"\1", text)
    elif kind == "CopyTo":
        properties["destination"] = re.sub(r".*output_url=(\S+).*", r"\1", text)
    return _described(number, kind, role, inputs, properties)


def _parts(text: str, separator: str = ",") -> list[str]:
    """The parts of a text between separators that are in no brackets and no quotes."""
    parts, depth, begin, quote = [], 0, 0, ""
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in _QUOTES:
            quote = letter
        elif letter in _OPENING:
            depth += 1
        elif letter in _CLOSING:
            depth -= 1
        elif letter == separator and depth == 0:
            parts.append(text[begin:at].strip())
            begin = at + 1
    return [part for part in (*parts, text[begin:].strip()) if part]


def _members(text: str) -> list[tuple[str, str]]:
    pairs = (part.partition("=") for part in _parts(text))
    return [(name, value.removesuffix(")") if "(" in name else value) for name, _, value in pairs if value]


def _list(text: str | None) -> list[str]:
    """The members of `[a, b]` or `[[a, b]]`."""
    while text and text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    return _parts(text or "")


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None


def _columns(text: str | None, renamed: bool = False) -> list[str]:
    """The columns of a list of expressions, where all are columns; pairs in brackets count as two."""
    names: list[str] = []
    for part in _list(text):
        for each in _parts(part[1:-1]) if part.startswith("(") else [part]:
            match = _COLUMN.match(each)
            if match is None or (each[match.end() :] and each[match.end() :] != f" as {match[1]}" and not renamed):
                return []
            names.append(match[1])
    return names


def _orders(text: str | None) -> list[str]:
    matches = [_ORDER.fullmatch(part) for part in _list(text)]
    return [match[1] + match[2] for match in matches if match] if all(matches) else []


def _first_file(groups: str | None) -> str | None:
    """The path of the first file, without the range of bytes that a partition reads."""
    found = re.search(r"\[\[([^\],]+)", groups or "")
    return re.sub(r":\d+\.\.\d+$", "", found[1]) if found else None


def readings(nodes: list[tuple[dict[str, Any], Any]], done: bool) -> list[dict[str, Any]]:
    """The counters of all nodes, in the shape that the native half reads."""
    found = [{"id": node["id"], **_counters(its), "done": done} for node, its in nodes]
    for (node, _), reading in zip(nodes, found, strict=True):
        rows = [found[each]["counters"].get("rows_out") for each in node["inputs"]]
        # Of tables in memory, DataFusion counts nothing.
        if rows and None not in rows:
            reading["counters"]["rows_in"] = sum(each for each in rows if each is not None)
    return found


def _counters(node: Any) -> dict[str, Any]:
    counters: dict[str, int] = {}
    waits: dict[str, int] = {}
    partitions: dict[str, dict[int, int]] = {name: {} for name in _LARGEST}
    metrics = node.metrics()
    for metric in metrics.metrics() if metrics is not None else ():
        if not isinstance(metric.value, int):
            continue
        name = _COUNTERS.get(metric.name)
        if name is not None:
            counters[name] = counters.get(name, 0) + metric.value
        if metric.name in _WAITS:
            waits[metric.name] = waits.get(metric.name, 0) + metric.value
        if metric.name in _LARGEST and metric.partition is not None:
            each = partitions[metric.name]
            each[metric.partition] = each.get(metric.partition, 0) + metric.value
    if rows := partitions["output_rows"]:
        counters["partitions"] = len(rows)
    counters |= {_LARGEST[name]: max(each.values()) for name, each in partitions.items() if each}
    custom = [{"key": name, "unit": "ns", "value": value} for name, value in waits.items()]
    return {"counters": counters, "custom": custom}


def first_start(nodes: list[tuple[dict[str, Any], Any]]) -> float | None:
    """When the first node of a plan began to run, in Unix seconds; `None` where none has."""
    starts = [
        metric.value.timestamp()
        for _, node in nodes
        for metrics in [node.metrics()]
        for metric in (metrics.metrics() if metrics is not None else ())
        if metric.name == "start_timestamp" and metric.value is not None
    ]
    return min(starts, default=None)

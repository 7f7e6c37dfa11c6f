"""The files that a statement of DuckDB 2.0 reads, for its plan by `EXPLAIN`, which does not name them.

DuckDB serializes a statement: it holds the tables and functions that the statement reads, as they are written. Which of
several files a scan reads is told by its columns. Where anything is not certain, the scan has no name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from queryscope.adapters._duckdb_profile import Operator

_READS = re.compile(r"read_\w+|parquet_scan")
# A table that is named by a path stands for its file.
_PATH = re.compile(r"[./*]")
_WORDS = re.compile(r"\w+")
Ask = Callable[[str, object], list[Any]]


@dataclass
class _Read:
    """What a statement reads."""

    # The first path of each read, and how it stands in `FROM`.
    files: dict[str, str] = field(default_factory=dict)
    tables: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    is_certain: bool = True


def name_files(plan: list[Operator], statement: str, parameters: object, ask: Ask) -> None:
    """Names the files of scans that have none. `ask` gives the rows of a statement with parameters."""
    scans = [operator for operator in plan if "format" in operator.properties and "table" not in operator.properties]
    if not scans:
        return
    serialized = "SELECT json_serialize_sql(?::VARCHAR, skip_null := true, skip_empty := true)"
    read = _read(json.loads(ask(serialized, [statement])[0][0]), parameters)
    # Anything else may be a view or a relation, of which nobody knows what files it reads.
    tables = sorted(read.tables - read.names)
    if tables:
        name = "lower(table_name)"
        known = f"SELECT count(DISTINCT {name}) FROM duckdb_tables() WHERE list_contains(?, {name})"
        read.is_certain &= ask(known, [tables])[0][0] == len(tables)
    if not read.is_certain or not read.files:
        return
    if len(read.files) == 1:
        for scan in scans:
            [scan.properties["table"]] = read.files
        return
    columns = {
        path: {str(row[0]) for row in ask(f"DESCRIBE FROM {source}", None)} for path, source in read.files.items()
    }
    every = set().union(*columns.values())
    for scan in scans:
        listed = {str(name) for name in scan.properties.get("columns_read") or [] if name}
        used = listed | every & {*_WORDS.findall(str(scan.properties.get("predicate", "")))}
        found = [path for path, names in columns.items() if used <= names]
        if len(found) == 1:
            scan.properties["table"] = found[0]


def _read(tree: Any, parameters: object) -> _Read:
    read = _Read()
    for node in _nodes(tree):
        if node.get("type") == "BASE_TABLE":
            name = str(node.get("table_name"))
            if _PATH.search(name):
                read.files[name] = _quoted(name)
            else:
                read.tables.add(name.lower())
        elif node.get("type") == "TABLE_FUNCTION":
            function = node.get("function") or {}
            name = str(function.get("function_name"))
            if _READS.fullmatch(name):
                path = _path(((function.get("arguments") or [{}])[0]).get("expression") or {}, parameters)
                read.files[path] = f"{name}({_quoted(path)})"
                read.is_certain &= path != ""
        elif isinstance(node.get("cte_map"), dict):
            read.names |= {str(each.get("key")).lower() for each in node["cte_map"].get("map") or []}
    return read


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    stack = [tree]
    while stack:
        each = stack.pop()
        if isinstance(each, dict):
            yield each
            stack.extend(each.values())
        elif isinstance(each, list):
            stack.extend(each)


def _path(expression: dict[str, Any], parameters: object) -> str:
    """The first path that an argument says, or nothing."""
    if expression.get("function_name") == "list_value":
        expression = ((expression.get("arguments") or [{}])[0]).get("expression") or {}
    value: Any = (expression.get("literal") or {}).get("text")
    if expression.get("class") == "PARAMETER":
        name = str(expression.get("identifier"))
        if isinstance(parameters, dict):
            value = parameters.get(name)
        elif isinstance(parameters, list | tuple) and name.isdigit() and int(name) <= len(parameters):
            value = parameters[int(name) - 1]
        if isinstance(value, list | tuple) and value:
            value = value[0]
    return value if isinstance(value, str) else ""


def _quoted(path: str) -> str:
    return "'" + path.replace("'", "''") + "'"

"""Labels of statements that dbt sends.

dbt puts a comment into each statement, which says in JSON what the statement is for: `/* {"app": "dbt", …, "node_id":
"model.shop.orders"} */`. Of a model, seed or snapshot, dbt sends statements that do the work, and others around them,
such as `begin`, `alter`, and selections of columns and indexes: only the first are runs of the model. A test is a
selection.
"""

from __future__ import annotations

import json
import re

_COMMENT = re.compile(r"/\*\s*(\{.*?\})\s*\*/", re.DOTALL)
# The first word of a statement, after comments, and that after `or replace` and `temporary`.
_REST = re.compile(
    r"(?:\s+|--[^\n]*(?:\n|$)|/\*.*?\*/)*\(?\s*(\w+)(?:\s+(?:or\s+replace\s+)?(?:temp\w*\s+)?(\w+))?",
    re.DOTALL | re.IGNORECASE,
)
_WRITES = ("INSERT", "UPDATE", "DELETE", "MERGE", "COPY")
_READS = ("SELECT", "WITH", "FROM", "PIVOT", "UNPIVOT")
_CREATED = ("TABLE", "VIEW")
_BUILT = ("model", "seed", "snapshot")


def label_of(statement: str, label: str | None) -> str | None:
    """The label of a statement: that of the code that runs it, then the name of dbt's model, test, seed or snapshot.

    >>> label_of('/* {"app": "dbt", "node_id": "model.shop.orders"} */ create table t as (select 1)', None)
    'orders'
    >>> label_of('/* {"app": "dbt", "node_id": "test.shop.unique_orders_id.1a2b"} */ select 1', "nightly")
    'nightly/test/unique_orders_id'
    >>> label_of('/* {"app": "dbt", "node_id": "model.shop.orders"} */ begin transaction', None)
    """
    name = _name(statement) if '"node_id"' in statement else None
    parts = [part for part in (label, name) if part]
    return "/".join(parts) if parts else None


def _name(statement: str) -> str | None:
    head = _REST.match(statement)
    first, second = ((word or "").upper() for word in head.groups()) if head else ("", "")
    writes = first in _WRITES or (first == "CREATE" and second in _CREATED)
    if not writes and first not in _READS:
        return None
    for comment in _COMMENT.finditer(statement):
        try:
            told = json.loads(comment[1])
        except ValueError:
            continue
        node = told.get("node_id")
        if isinstance(node, str) and node.count(".") >= 2:
            return _name_of_node(node) if writes or not node.startswith(_BUILT) else None
    return None


def _name_of_node(node: str) -> str:
    """A model's name, with its version where it has one; of other nodes, what they are goes before it."""
    kind, _, name, *rest = node.split(".")
    version = [part for part in rest[:1] if re.fullmatch(r"v\d+", part)]
    full = ".".join([name, *version])
    return full if kind == "model" else f"{kind}/{full}"

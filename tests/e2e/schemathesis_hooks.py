"""What schemathesis sends to /v1/events: batches whose lines are right, nearly right, or nothing of the kind."""

import json

import schemathesis
from hypothesis import strategies as st

LINES = "application/x-ndjson"
SCHEMA = "engine-telemetry/events@1"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)


def line(kind: str, **members: st.SearchStrategy) -> st.SearchStrategy:
    """An event as it should be, with up to two members that hold anything."""
    right = st.fixed_dictionaries(
        {"schema": st.just(SCHEMA), "seq": st.integers(1, 2**63 - 1), "type": st.just(kind), **members}
    )
    names = st.sampled_from(["schema", "seq", "type", *members, "other"])
    return st.builds(lambda event, odd: event | odd, right, st.just({}) | st.dictionaries(names, JSON, max_size=2))


UUID = st.uuids().map(str)
PROFILE = st.fixed_dictionaries(
    {
        "schema": st.just("engine-telemetry/profile@1"),
        "query_id": UUID,
        "wall_ms": st.floats(0, 1e9),
        "plan": st.fixed_dictionaries({"physical": st.lists(JSON, max_size=3), "logical": st.just([])}),
    },
    optional={"label": st.text(), "failed": st.text(), "cpu_ms": JSON, "insights": JSON},
)
PROCESS = line("process", id=UUID, host=st.text(max_size=9))
EVENT = st.one_of(
    line("query.started", query_id=UUID, profile=PROFILE),
    line("query.progress", query_id=UUID, elapsed_ms=st.floats(0, 1e9), nodes=st.dictionaries(UUID, JSON, max_size=2)),
    line("query.finished", query_id=UUID, profile=PROFILE),
    line("query.note", query_id=UUID),
    JSON,
)
BATCH = st.builds(lambda *lines: [lines[0], *lines[1]], PROCESS, st.lists(EVENT, max_size=4))

schemathesis.openapi.media_type(LINES, BATCH.map(lambda lines: "\n".join(map(json.dumps, lines)).encode()))


@schemathesis.serializer(LINES)
def write(_context: object, value: object) -> bytes:
    """What breaks the document is no text: it goes out as JSON."""
    if isinstance(value, bytes):
        return value
    return value.encode(errors="surrogatepass") if isinstance(value, str) else json.dumps(value).encode()

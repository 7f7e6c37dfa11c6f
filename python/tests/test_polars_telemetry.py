"""What this package sends of queries of Polars, compared query by query with what polars-telemetry 0.10.2 sends.

`data/polars-telemetry.jsonl.gz` is what `record_polars_telemetry.py` recorded of the queries in `polars_queries.py`.
What that sender gets wrong has tests of its own: queries that an interrupt leaves running, forks and overlapping
queries in `test_polars.py`, secrets in `test_redaction.py`, and `Retry-After: 0` below.
"""

from __future__ import annotations

import gzip
import http.server
import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import polars_queries
import queryscope

RECORD = Path(__file__).parent / "data" / "polars-telemetry.jsonl.gz"
# Counters and members of a profile, by the names that polars-telemetry has and this package has.
NAMES = {
    "rows_received": "rows_in",
    "rows_sent": "rows_out",
    "total_time_ns": "busy_ns",
    "io_total_active_ns": "io_ns",
    "max_poll_time_ns": "longest_step_ns",
    "io_total_bytes_requested": "bytes_read",
    "io_total_bytes_sent": "bytes_written",
    "num_threads": "threads",
    "polars_telemetry_version": "engine_telemetry_version",
}
# Of the sender itself, and told by this package in other words.
NOT_OURS = {"schema", "query_id", "polars_telemetry_version", "telemetry_ms", "redacted", "insights", "diagnostics"}
# Figures that are the same in each run.
SAME = ("rows_received", "rows_sent")
# Figures that each run has, where they are not zero.
STEADY = (*SAME, "total_time_ns", "done", "morsels_sent", "morsels_received", "io_total_bytes_requested")
PROGRAM = """
import sys
from pathlib import Path
import polars_queries
import queryscope
folder = Path(sys.argv[1])
polars_queries.files(folder)
queryscope.install(exporters=[queryscope.ProfilesFile(folder / "told-{engine}.jsonl")], engines=["polars"])
polars_queries.run(folder, queryscope.label)
queryscope.uninstall()
"""
# polars-telemetry has no label for queries that are planned on a thread of Polars' own.
UNLABELLED = "collect batches"


@pytest.fixture(scope="module")
def recorded() -> dict[str, dict[str, Any]]:
    lines = gzip.decompress(RECORD.read_bytes()).decode().splitlines()
    return {profile["label"] or UNLABELLED: profile for profile in map(json.loads, lines)}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("queries")
    # The other sender sets this variable for the process. This package leaves the environment as it is.
    environment = dict(os.environ, POLARS_STREAM_ALWAYS_PREPARE_VISUALIZATION_DATA="1")
    command = [sys.executable, "-c", PROGRAM, str(folder)]
    subprocess.run(command, env=environment, cwd=Path(__file__).parent, timeout=300, check=True)
    lines = (folder / "told-polars.jsonl").read_text("utf-8").replace(str(folder), "/data").splitlines()
    profiles = [json.loads(line) for line in lines]
    labels = [profile["label"] for profile in profiles]
    assert len(set(labels)) == len(labels), "each query is told of once"
    return {profile["label"]: profile for profile in profiles}


def value_of(values: dict[str, Any], name: str) -> Any:
    return values.get(NAMES.get(name, name))


def test_the_record_is_of_the_same_queries(
    recorded: dict[str, dict[str, Any]], told: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    assert {profile["polars_version"] for profile in recorded.values()} == {pl.__version__}
    assert {profile["polars_telemetry_version"] for profile in recorded.values()} == {"0.10.2"}
    # Of queries in the background, Polars tells nobody.
    assert set(recorded) == set(told) == set(polars_queries.queries(tmp_path)) - {"background"}


def test_no_member_of_a_profile_is_missing(
    recorded: dict[str, dict[str, Any]], told: dict[str, dict[str, Any]]
) -> None:
    for label, theirs in recorded.items():
        ours = told[label]
        # What they send as zero, such as the CPU time of a query without nodes, is not known.
        missing = [name for name in theirs if name not in NOT_OURS and theirs[name] and ours.get(name) is None]
        # The fingerprint that they send of a query without a plan is the hash of nothing.
        assert missing == ([] if theirs["plan"]["logical"] else ["fingerprint"]), label
        assert ours["result_rows"] == theirs["result_rows"], label
        assert ours["failed"] == theirs["failed"], label
        if label != UNLABELLED:
            assert ours["call_site"]["function"] == "<lambda>"
            assert Path(ours["call_site"]["filepath"]).name == Path(theirs["call_site"]["filepath"]).name
        counters = {NAMES.get(name, name) for name in theirs.get("query_metrics") or {}}
        assert counters <= set(ours.get("query_metrics") or {}), label


@pytest.mark.parametrize("plan", ["physical", "logical"])
def test_no_node_and_no_property_is_missing(
    recorded: dict[str, dict[str, Any]], told: dict[str, dict[str, Any]], plan: str
) -> None:
    for label, theirs in recorded.items():
        ours = {node["id"]: node for node in told[label]["plan"][plan]}
        assert set(ours) == {node["id"] for node in theirs["plan"][plan]}, label
        for node in theirs["plan"][plan]:
            mine = ours[node["id"]]
            assert (mine["kind"], mine["inputs"]) == (node["kind"], node["inputs"]), label
            # Where they know what a node does, this package does.
            assert mine["role"] != "unknown" or node["role"] == "unknown", f"{label}: {node}"
            properties = {name: value for name, value in (node.get("properties") or {}).items() if name != "type"}
            kept = {name: (mine.get("properties") or {}).get(name) for name in properties}
            assert stable(kept) == stable(properties), f"{label}: {node['kind']}"


def stable(properties: dict[str, Any]) -> str:
    """Properties without the numbers and ids that Polars makes up for each run."""
    return re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|(?<=_)\d+", "#", json.dumps(properties, sort_keys=True))


def test_no_counter_is_missing(recorded: dict[str, dict[str, Any]], told: dict[str, dict[str, Any]]) -> None:
    all_of_theirs: set[str] = set()
    all_of_ours: set[str] = set()
    for label, theirs in recorded.items():
        ours = {node["id"]: node.get("metrics") or {} for node in told[label]["plan"]["physical"]}
        for node in theirs["plan"]["physical"]:
            metrics, mine = node.get("metrics") or {}, ours[node["id"]]
            # Counters that are zero are left out, and times can be zero in one run and not in another.
            all_of_theirs |= {NAMES.get(name, name) for name, value in metrics.items() if value}
            all_of_ours |= set(mine)
            steady = [name for name in STEADY if metrics.get(name)]
            assert [name for name in steady if value_of(mine, name) is None] == [], f"{label}: {node['kind']}"
            same = [name for name in SAME if name in metrics]
            assert [value_of(mine, name) or 0 for name in same] == [metrics[name] for name in same], label
            custom = {each["key"] for each in metrics.get("custom") or []}
            assert custom <= {each["key"] for each in mine.get("custom") or []}, label
    assert all_of_theirs <= all_of_ours
    assert {"busy_ns", "bytes_read", "bytes_written", "total_polls"} <= all_of_ours


def test_a_service_that_says_retry_at_once_is_not_asked_in_a_loop(tmp_path: Path) -> None:
    asked: list[float] = []

    class Busy(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # noqa: N802
            self.rfile.read(int(self.headers["content-length"]))
            asked.append(time.monotonic())
            self.send_response(503)
            self.send_header("retry-after", "0")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Busy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    queryscope.install(f"http://127.0.0.1:{server.server_port}", token="t", engines=["polars"])
    try:
        pl.LazyFrame({"a": [1]}).collect(engine="streaming")
        time.sleep(3)
        # Twice a second, as batches go out.
        assert 1 <= len(asked) <= 8, asked
    finally:
        queryscope.uninstall()
        server.shutdown()
        server.server_close()

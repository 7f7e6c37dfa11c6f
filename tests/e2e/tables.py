"""End to end: tables that are exported say what the API says, recomputed by DuckDB and Polars.

Starts the binary on a free port with a data folder of its own, fills it with the demo's history and the captured
requests, and compares figures of the exported tables with those of the API: over HTTP in each format, and from the
files of `queryscope export`.

    python tests/e2e/tables.py --binary target/debug/queryscope

Needs the packages of requirements.txt. Ends by itself.
"""

import argparse
import gzip
import json
import os
import re
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

import duckdb
import polars as pl

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "tables"
START_SECONDS = 30


def start(binary: Path, folder: Path) -> tuple[subprocess.Popen, str]:
    """Starts the service on a free port and waits until it says where it listens."""
    log = (folder / "log").open("w")
    command = [binary, "serve", "--bind", "127.0.0.1:0", "--token", TOKEN, "--data", folder / "data"]
    service = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, "NO_COLOR": "1"})
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and service.poll() is None:
        if found := re.search(r"http://127\.0\.0\.1:[1-9]\d*", (folder / "log").read_text()):
            return service, found.group()
        time.sleep(0.05)
    service.kill()
    raise SystemExit(f"the service did not start:\n{(folder / 'log').read_text()}")


def fill(binary: Path, folder: Path, url: str) -> None:
    """The history of the demo, and what a real sender posted."""
    subprocess.run([binary, "demo", "--history-only", "--data", folder / "data"], check=True, capture_output=True)
    headers = {
        "Authorization": f"Bearer {TOKEN}",
        "Content-Encoding": "gzip",
        "Content-Type": "application/x-ndjson",
    }
    for capture in sorted((ROOT / "testdata/captures").glob("*.jsonl.gz")):
        request = urllib.request.Request(f"{url}/v1/events", capture.read_bytes(), headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert answer.status == 202, answer.status


def runs_of_api(url: str, params: str = "") -> list[dict]:
    """All runs, page by page."""
    runs, address = [], f"{url}/api/queries?order=oldest&limit=1000{params}"
    while address:
        with urllib.request.urlopen(address, timeout=60) as answer:
            runs += json.load(answer)
            found = re.match(r"<(.+)>; rel=\"next\"", answer.headers.get("Link", ""))
        address = f"{url}{found.group(1)}" if found else None
    return runs


def fetch(url: str, table: str, kind: str, folder: Path, params: str = "") -> Path:
    path = folder / f"{table}.{kind}"
    with urllib.request.urlopen(f"{url}/api/export/{table}?format={kind}{params}", timeout=300) as answer:
        path.write_bytes(answer.read())
    return path


def key(run: dict) -> tuple:
    """What is compared of a run; the times of a table are exact."""
    names = ("query_id", "project", "service", "label", "status", "wall_ms", "cpu_ms", "result_rows", "warnings")
    names += ("bytes_read", "spilled_bytes", "peak_memory_bytes")
    return (run["started_unix_ns"], *(run[name] for name in names), run["failed"])


def check_runs(url: str, folder: Path) -> None:
    expected = sorted(map(key, runs_of_api(url)), key=str)
    assert len(expected) > 1000, len(expected)
    parquet = fetch(url, "runs", "parquet", folder)
    table = pl.read_parquet(parquet)
    assert table.schema["started_at"] == pl.Datetime("ns", "UTC"), table.schema
    assert table.filter(pl.col("started_at").dt.epoch("ns") != pl.col("started_unix_ns")).is_empty()
    assert sorted(map(key, table.to_dicts()), key=str) == expected, "Parquet in Polars"
    relation = duckdb.sql(f"SELECT * EXCLUDE (started_at) FROM '{parquet}'")
    rows = [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
    assert sorted(map(key, rows), key=str) == expected, "Parquet in DuckDB"
    lines = pl.read_ndjson(fetch(url, "runs", "json", folder), infer_schema_length=None).to_dicts()
    assert sorted(map(key, lines), key=str) == expected, "JSON in Polars"
    csv = fetch(url, "runs", "csv", folder)
    count, wall = duckdb.sql(f"SELECT count(*), sum(wall_ms) FROM read_csv('{csv}', header = true)").fetchall()[0]
    total = sum(run[6] or 0 for run in expected)
    assert count == len(expected) and abs(wall - total) <= 1e-9 * total, (count, wall, total)


def check_groups(url: str, folder: Path) -> None:
    """Groups that DuckDB makes of the table are those of the API."""
    with urllib.request.urlopen(f"{url}/api/groups", timeout=60) as answer:
        expected = {group["key"]: group["runs"] for group in json.load(answer)}
    parquet = folder / "runs.parquet"
    found = duckdb.sql(f"SELECT label, count(*) FROM '{parquet}' WHERE label IS NOT NULL GROUP BY label").fetchall()
    assert dict(found) == expected


def check_filter(url: str, folder: Path) -> None:
    params = "&filter=wall%3E1s+-status%3Afailed"
    expected = {run["query_id"] for run in runs_of_api(url, params)}
    table = pl.read_parquet(fetch(url, "runs", "parquet", folder, params))
    assert 0 < len(expected) == table.height and set(table["query_id"]) == expected
    whole = fetch(url, "runs", "parquet", folder)
    again = duckdb.sql(f"SELECT query_id FROM '{whole}' WHERE wall_ms > 1000 AND status <> 'failed'").fetchall()
    assert {row[0] for row in again} == expected, "the same condition in SQL"


def check_details(url: str, folder: Path) -> None:
    nodes = pl.read_parquet(fetch(url, "nodes", "parquet", folder))
    findings = pl.read_parquet(fetch(url, "findings", "parquet", folder))
    assert nodes.height > 0 and nodes["query_id"].n_unique() > 10
    parents = nodes.filter(pl.col("parent_id").is_not_null())
    joined = parents.join(nodes, left_on=["query_id", "parent_id"], right_on=["query_id", "node_id"], how="inner")
    assert joined.height == parents.height, "each parent is a node of its run"
    check_nodes(url, nodes)
    check_findings(url, nodes, findings)
    check_issues(url, pl.read_parquet(fetch(url, "issues", "parquet", folder)))


# Counters as Polars names them, and as tables do.
POLARS_NAMES = {"rows_received": "rows_in", "rows_sent": "rows_out", "total_time_ns": "busy_ns"}


def check_nodes(url: str, nodes: pl.DataFrame) -> None:
    """Nodes are those of the plan that ends a recording, with its counters."""
    compared = dict.fromkeys(("rows_in", "rows_out", "busy_ns"), 0)
    for query_id in nodes["query_id"].unique(maintain_order=True).head(200)[::10]:
        with urllib.request.urlopen(f"{url}/api/queries/{query_id}/recording", timeout=60) as answer:
            lines = gzip.decompress(answer.read()).splitlines()
        profiles = [event["profile"] for event in map(json.loads, lines) if "profile" in event]
        planned = {node["id"]: node for node in profiles[-1]["plan"]["physical"]}
        rows = {row["node_id"]: row for row in nodes.filter(pl.col("query_id") == query_id).to_dicts()}
        assert set(rows) == set(planned), query_id
        for node_id, node in planned.items():
            row = rows[node_id]
            inputs = {below for below, each in rows.items() if each["parent_id"] == node_id}
            assert (row["kind"], inputs) == (node["kind"], set(node.get("inputs", []))), (query_id, row)
            row["busy_ns"] = None if row["busy_ms"] is None else round(row["busy_ms"] * 1e6)
            for sent, value in node.get("metrics", {}).items():
                name = POLARS_NAMES.get(sent, sent)
                if name in compared:
                    assert row[name] == value, (query_id, node_id, name, row[name], value)
                    compared[name] += 1
    assert min(compared.values()) > 10, compared


def check_findings(url: str, nodes: pl.DataFrame, findings: pl.DataFrame) -> None:
    """Findings are those of the API, in each field of the table."""
    names = ("rule", "kind", "level", "node_id", "cpu_share", "blocked_share", "title", "fix")
    with_findings = findings["query_id"].unique(maintain_order=True).head(10)
    assert len(with_findings) == 10
    for query_id in [*with_findings, *nodes["query_id"].unique(maintain_order=True).head(5)]:
        with urllib.request.urlopen(f"{url}/api/queries/{query_id}/insights", timeout=60) as answer:
            told = json.load(answer)["findings"]
        of_run = findings.filter(pl.col("query_id") == query_id).select(names).rows()
        assert of_run == [tuple(finding.get(name) for name in names) for finding in told], query_id


def check_issues(url: str, issues: pl.DataFrame) -> None:
    """Issues are those of the API, in each field of the table."""
    with urllib.request.urlopen(f"{url}/api/issues?limit=1000", timeout=60) as answer:
        told = {issue["id"]: issue for issue in json.load(answer)["issues"]}
    assert told and set(issues["id"]) == set(told)
    times = {"opened_at", "moved_at", "since_at", "good_at"}
    for row in issues.with_columns(pl.col(name).dt.epoch("ns") for name in times).to_dicts():
        issue = told[row["id"]]
        assert row.pop("findings") == ",".join(issue["findings"]), row
        for name, value in row.items():
            of_api = name.replace("_at", "_unix_ns") if name in times else name
            assert issue[of_api] == value, (name, issue[of_api], value)


def check_files(binary: Path, url: str, folder: Path) -> None:
    """What `queryscope export` writes is one table in days."""
    place = folder / "tables"
    command = [binary, "export", place, "--table", "runs", "--url", url]
    first = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    again = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert " 0 left" in first and " 0 left" not in again, (first, again)
    expected = {run["query_id"] for run in runs_of_api(url)}
    table = f"read_parquet('{place}/runs/*/*.parquet', hive_partitioning = true)"
    rows = duckdb.sql(f"SELECT query_id, day, started_unix_ns FROM {table}").fetchall()
    assert {row[0] for row in rows} == expected and len(rows) == len(expected)
    for _, day, started in rows:
        assert str(day) == time.strftime("%Y-%m-%d", time.gmtime(started // 1_000_000_000)), (day, started)
    scanned = pl.scan_parquet(f"{place}/runs/", hive_partitioning=True).select(pl.len()).collect().item()
    assert scanned == len(expected)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", type=Path, required=True)
    binary = parser.parse_args().binary.resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        service, url = start(binary, folder)
        try:
            fill(binary, folder, url)
            check_runs(url, folder)
            check_groups(url, folder)
            check_filter(url, folder)
            check_details(url, folder)
            check_files(binary, url, folder)
        finally:
            service.terminate()
            service.wait(timeout=START_SECONDS)
    print("exported tables say what the API says")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

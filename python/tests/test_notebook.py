"""`last()` in a real notebook and in a browser."""

from __future__ import annotations

import json
import os
import subprocess
import textwrap
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from queryscope import _page
from queryscope._report import Report

READER = Path(__file__).parents[2] / "ui" / "e2e" / "notebook-output.mjs"
HOSTILE = "</script><img src=x onerror=alert(1)> \"' {{nonce}} <!-- &lt;"

CELLS = [
    """
    import time
    import queryscope
    queryscope.install(exporters=[queryscope.ProfilesFile("profiles.jsonl")])
    import polars as pl
    """,
    """
    n = pl.LazyFrame({"n": range(4_000)})
    with queryscope.label("from a notebook"):
        n.join(n, how="cross").group_by(pl.col("n").map_elements(abs, return_dtype=pl.Int64) % 7).len().collect(
            engine="streaming"
        )
    while queryscope.last() is None:
        time.sleep(0.05)
    """,
    "queryscope.last()",
]


def shown(html: str, folder: Path) -> dict[str, Any]:
    """What a browser shows of an output."""
    file = folder / "output.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><title>notebook</title>{html}", "utf-8")
    command = [os.environ.get("NODE", "node"), str(READER), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def profile(**members: object) -> str:
    scan = {
        "id": 2,
        "kind": "Scan",
        "role": "scan",
        "inputs": [],
        "metrics": {"busy_ns": 30, "rows_out": 1000},
    }
    sort = {
        "id": 1,
        "kind": "Sort",
        "role": "sort",
        "inputs": [2],
        "metrics": {"busy_ns": 90, "rows_out": 1000},
    }
    document = {
        "schema": "polars-telemetry/profile@1",
        "query_id": "01a1faa8-1bd9-77b2-97ab-860dd7026506",
        "wall_ms": 1234,
        "plan": {"physical": [sort, scan], "logical": []},
        **members,
    }
    return json.dumps(document)


def test_a_notebook_shows_the_plan_and_what_was_found(tmp_path: Path) -> None:
    cells = [nbformat.v4.new_code_cell(textwrap.dedent(cell)) for cell in CELLS]  # type: ignore[no-untyped-call]
    notebook = nbformat.v4.new_notebook(cells=cells)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    [output] = notebook.cells[-1].outputs
    text = output.data["text/plain"]
    assert text.splitlines()[0].startswith("from a notebook finished in "), text
    assert "%" in text and "4,000 rows" in text, text
    page = shown(output.data["text/html"], tmp_path)
    assert page["problems"] == [] and page["heading"].startswith("Finished in "), page
    assert "from a notebook" in page["text"], page
    # The plan, with shares.
    for part in ("InMemorySource", "GroupBy", "%"):
        assert part in page["text"], page


def test_findings_are_shown_in_both(tmp_path: Path) -> None:
    finding = {
        "rule": "late_filter",
        "kind": "io",
        "level": "warn",
        "node_id": 2,
        "node_kind": "Scan",
        "title": "The filter comes late",
        "fix": "filter before the sort",
        "evidence": [],
    }
    insights = {"schema": "insights@1", "findings": [finding]}
    report = Report(profile(label="nightly", insights=insights))
    assert str(report).splitlines() == [
        "nightly finished in 1.23 s",
        "Sort       75%      1,000 rows",
        "  Scan     25%      1,000 rows",
        "! The filter comes late",
        "  filter before the sort",
    ]
    page = shown(report._repr_html_(), tmp_path)
    assert page["problems"] == [], page
    assert "The filter comes late" in page["text"] and "Filter before the sort" in page["text"], page


@pytest.mark.parametrize("member", ["label", "failed"])
def test_what_a_run_holds_is_text_wherever_it_stands(member: str, tmp_path: Path) -> None:
    html = Report(profile(**{member: HOSTILE}))._repr_html_()
    page = shown(html, tmp_path)
    assert page["problems"] == [] and page["scripts"] == 0, page
    assert HOSTILE in page["text"], page


def test_without_the_page_there_is_the_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_page, "_TEMPLATE", tmp_path / "none.html")
    _page._template.cache_clear()
    try:
        html = Report(profile(label="<b>"))._repr_html_()
    finally:
        _page._template.cache_clear()
    assert html.startswith("<pre>&lt;b&gt; finished in 1.23 s\n") and html.endswith("</pre>")

"""The code of docs/guides/pytest.md works."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "pytest.md"


def test_the_guide_to_pytest(tmp_path: Path) -> None:
    conftest, test, keep = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    assert keep.startswith("queryscope.install(exporters=["), keep
    (tmp_path / "conftest.py").write_text(conftest.replace("queryscope.install()\n", keep), "utf-8")
    slow = 'def test_fails(last_run):\n    pl.LazyFrame({"a": [1]}).collect()\n    assert not last_run()\n'
    (tmp_path / "test_it.py").write_text(f"{test}\n\n{slow}", "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "test_it.py::test_fails finished in " in done.stdout, "the run is printed"
    assert list((tmp_path / "telemetry").glob("polars-*.jsonl.gz"))

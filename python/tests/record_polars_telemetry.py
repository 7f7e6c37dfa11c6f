"""Records what polars-telemetry sends of the queries that `test_polars_telemetry.py` compares with.

    python record_polars_telemetry.py data/polars-telemetry.jsonl.gz

Needs `polars` and `polars-telemetry`; the record says the versions of both.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
import time
from pathlib import Path

import polars_telemetry
from polars_telemetry.export.file import FileExporter

import polars_queries


def main(target: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        polars_queries.files(folder)
        polars_telemetry.install(exporter=FileExporter(folder / "profiles.jsonl"))
        polars_queries.run(folder, polars_telemetry.label)
        polars_telemetry.uninstall()
        time.sleep(1)
        text = (folder / "profiles.jsonl").read_text("utf-8").replace(name, "/data")
    # Without a time, so that the same record is the same file.
    target.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""What all tests share: telemetry that writes to files in a folder of the test's own."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import queryscope

WAIT_SECONDS = 120

# A tool that needs a package which the tests do without.
collect_ignore = ["record_polars_telemetry.py"]

# Daft and dbt report to their makers otherwise.
os.environ.update(DO_NOT_TRACK="1", DBT_SEND_ANONYMOUS_USAGE_STATS="false")


class Sent:
    """What was written: the profiles of the queries that have ended, and all events."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def profiles(self) -> list[dict[str, Any]]:
        return self._lines("*-profiles*.jsonl")

    def events(self) -> list[dict[str, Any]]:
        return self._lines("*-events*.jsonl")

    def _lines(self, pattern: str) -> list[dict[str, Any]]:
        paths = sorted(self.folder.glob(pattern))
        # What follows the last end of a line is being written.
        return [json.loads(line) for path in paths for line in path.read_bytes().split(b"\n")[:-1]]

    def profile(self, label: str) -> dict[str, Any]:
        """The profile of the only query with this label, once it is there."""
        found = self.wait(lambda: [each for each in self.profiles() if each["label"] == label])
        assert len(found) == 1, found
        return found[0]

    def wait(self, what: Callable[[], Any]) -> Any:
        give_up = time.monotonic() + WAIT_SECONDS
        while not (answer := what()):
            assert time.monotonic() < give_up, "it did not come in time"
            time.sleep(0.05)
        return answer


@pytest.fixture
def sent(tmp_path: Path) -> Iterator[Sent]:
    queryscope.install(
        exporters=[
            queryscope.ProfilesFile(tmp_path / "{engine}-profiles.jsonl"),
            queryscope.EventsFile(tmp_path / "{engine}-events.jsonl"),
        ],
        service="tests",
    )
    try:
        yield Sent(tmp_path)
    finally:
        queryscope.uninstall()

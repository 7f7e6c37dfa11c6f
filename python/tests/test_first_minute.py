"""What a new user does first: the README's lines, then those that the service prints, until a query is seen running."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NODE = os.environ.get("NODE", "node")
WAIT_SECONDS = 120


class User:
    """A shell in an empty folder, with an environment of Python that has nothing but pip."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True, timeout=120)
        constraints = ROOT / "python" / "tests" / "requirements.txt"
        self.environment = {
            "PATH": f"{folder / 'venv' / 'bin'}:/usr/bin:/bin",
            "HOME": str(folder),
            # A port of the test's own, and the versions that are tested; the lines that are run stay as they are.
            "QUERYSCOPE_BIND": "127.0.0.1:0",
            "PIP_CONSTRAINT": str(constraints),
            **{name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "REQUESTS_"))},
        }
        self.started: list[subprocess.Popen[str]] = []

    def run(self, line: str, where: Path | None = None) -> None:
        done = subprocess.run(
            line,
            shell=True,
            cwd=where or self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, f"{line}:\n{done.stdout}{done.stderr}"

    def start(self, line: str, output: Path) -> None:
        with output.open("w") as out:
            started = subprocess.Popen(
                f"exec {line}", shell=True, cwd=self.folder, env=self.environment, stdout=out, text=True
            )
        self.started.append(started)

    def end(self) -> None:
        for each in self.started:
            each.kill()
            each.wait()


@pytest.fixture
def user(tmp_path: Path) -> Iterator[User]:
    user = User(tmp_path)
    try:
        yield user
    finally:
        user.end()


def eventually(what: Any, problem: str) -> Any:
    give_up = time.monotonic() + WAIT_SECONDS
    while not (answer := what()):
        assert time.monotonic() < give_up, problem
        time.sleep(0.1)
    return answer


def first_line() -> str:
    """The command in the README that installs the wheel."""
    first = (ROOT / "README.md").read_text("utf-8").split("## Your first query", 1)[1]
    block = re.search(r"```sh\nmake wheel.*\n(pip install .*)\n```", first)
    assert block, "the README says how to install the package"
    return block[1]


def paragraphs(printed: str) -> list[str]:
    """The indented blocks of what was printed, joined over blank lines."""
    blocks = re.findall(r"(?:^ {4}.*\n|^\n)+", printed, re.MULTILINE)
    return [textwrap.dedent(block).strip() for block in blocks if block.strip()]


def test_the_first_minute(user: User, capsys: pytest.CaptureFixture[str]) -> None:
    begin = time.monotonic()
    user.run(first_line(), where=ROOT)
    output = user.folder / "printed"
    user.start("queryscope", output)
    eventually(lambda: "demo --data" in output.read_text("utf-8"), "the service starts")
    printed = output.read_text("utf-8")
    found = re.search(r"dashboard +(\S+)[\s\S]* token +(\S+)", printed)
    assert found, printed
    url, token = found[1], found[2]
    lines = next(block for block in paragraphs(printed) if "import queryscope" in block)
    polars, program = lines.split("\n\n", 1)
    assert polars.startswith("pip install polars    # "), "the package is there already"
    user.run(polars)
    assert_page_says(url, token, program)
    (user.folder / "program.py").write_text(program, "utf-8")
    user.start("python program.py", user.folder / "said")

    def running() -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"{url}/api/queries?label=first-query&status=running", timeout=10) as answer:
            return json.load(answer)  # type: ignore[no-any-return]

    eventually(running, "the query is seen running")
    shown = subprocess.run(
        [NODE, ROOT / "ui" / "e2e" / "now-page.mjs", url, "first-query"],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
    assert "first-query" in shown and "my-service" in shown, shown
    with capsys.disabled():
        print(f"\na query was seen running {time.monotonic() - begin:.1f} s after pip was started")


def assert_page_says(url: str, token: str, program: str) -> None:
    """The page of a service that has no queries says the same."""
    reader = [NODE, ROOT / "ui" / "e2e" / "page-snippet.mjs", url, token]
    shown = json.loads(subprocess.run(reader, check=True, capture_output=True, text=True, timeout=60).stdout)
    assert shown["program"] == program, shown
    assert shown["install"].startswith("pip install polars target/wheels/queryscope-"), shown

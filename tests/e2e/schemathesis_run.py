"""End to end: the API does what its document says, asked by schemathesis.

Starts the binary on a free port with a data folder of its own, posts the captured requests, and lets schemathesis
make requests from /api/openapi.json: valid ones, and ones that break the document. They are the same each time
and bounded in number, so that a failure is the code's.

    python tests/e2e/schemathesis_run.py --binary target/debug/queryscope

More of them, and others each time: --examples 200 --seed 7

Needs the packages of requirements.txt. Ends by itself.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "schemathesis"
START_SECONDS = 30
SECONDS_AN_EXAMPLE = 7
"""What the whole run may take for each example an operation; it needs a quarter of that."""
EXAMPLES = 25
"""Requests a phase makes of each operation at most."""


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


CONFIG = """
hooks = "{hooks}"
headers = {{ Authorization = "Bearer {token}" }}

# What is asked about one query, or about two.
[parameters]
"path.id" = "{id}"
"query.run" = "{id}"
"query.base" = "{id}"

# A cursor belongs to one answer and order and does not go with an offset, which a schema of single parameters cannot
# say.
[[operations]]
include-name = "GET /api/queries"
checks.positive_data_acceptance.enabled = false

[[operations]]
include-name = "GET /api/groups"
checks.positive_data_acceptance.enabled = false

[[operations]]
include-name = "GET /api/overview"
checks.positive_data_acceptance.enabled = false

[[operations]]
include-name = "GET /api/changes"
checks.positive_data_acceptance.enabled = false

[[operations]]
include-name = "GET /api/issues"
checks.positive_data_acceptance.enabled = false

[[operations]]
include-name = "GET /api/deploys"
checks.positive_data_acceptance.enabled = false

[[operations]]
include-name = "GET /api/notes"
checks.positive_data_acceptance.enabled = false

# Parameters that need each other, or exclude each other.
[[operations]]
include-name = "GET /api/compare"
checks.positive_data_acceptance.enabled = false

[[operations]]
include-name = "GET /api/differences"
checks.positive_data_acceptance.enabled = false

[[operations]]
include-name = "GET /api/series"
checks.positive_data_acceptance.enabled = false

# Of a filter in words, or of states separated by commas, the document cannot say which are right.
[[operations]]
include-name = "GET /api/facets"
checks.positive_data_acceptance.enabled = false

[[operations]]
include-name = "GET /api/export/runs"
checks.positive_data_acceptance.enabled = false

[[operations]]
include-name = "GET /api/export/nodes"
checks.positive_data_acceptance.enabled = false

[[operations]]
include-name = "GET /api/export/findings"
checks.positive_data_acceptance.enabled = false

[[operations]]
include-name = "GET /api/export/issues"
checks.positive_data_acceptance.enabled = false

# One of three members is needed, and a time must be to come.
[[operations]]
include-name = "POST /api/issues/{{id}}/mute"
checks.positive_data_acceptance.enabled = false

# A time must not lie far ahead.
[[operations]]
include-name = "POST /v1/deploys"
checks.positive_data_acceptance.enabled = false

[[operations]]
include-name = "POST /api/notes"
checks.positive_data_acceptance.enabled = false

# The document says of a body that it is lines of text; which lines are events, it cannot say.
[[operations]]
include-name = "POST /v1/events"
checks.positive_data_acceptance.enabled = false
"""


def post_captures(url: str) -> str:
    """Stores the captured queries and gives the id of one that finished."""
    headers = {
        "Authorization": f"Bearer {TOKEN}",
        "Content-Encoding": "gzip",
        "Content-Type": "application/x-ndjson",
    }
    captures = sorted((ROOT / "testdata/captures").glob("*.jsonl.gz"))
    for capture in captures:
        request = urllib.request.Request(f"{url}/v1/events", capture.read_bytes(), headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert answer.status == 202, answer.status
    with urllib.request.urlopen(f"{url}/api/queries?status=finished", timeout=30) as answer:
        return json.load(answer)[0]["query_id"]


def config(query_id: str) -> str:
    """What schemathesis is told beside the document."""
    return CONFIG.format(id=query_id, token=TOKEN, hooks=ROOT / "tests/e2e/schemathesis_hooks.py")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--examples", type=int, default=EXAMPLES)
    parser.add_argument("--seed", type=int, help="of other requests than those made every time")
    options = parser.parse_args()
    binary = options.binary.resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        service, url = start(binary, folder)
        try:
            (folder / "schemathesis.toml").write_text(config(post_captures(url)))
            command = [
                sys.executable, "-m", "schemathesis.cli", "run", f"{url}/api/openapi.json",
                # Live streams do not end.
                "--exclude-path-regex", "^/api/live",
                "--phases", "examples,coverage,fuzzing",
                "--max-examples", str(options.examples),
                *(["--generation-deterministic"] if options.seed is None else ["--seed", str(options.seed)]),
                "--continue-on-failure",
                "--request-timeout", "30",
                "--no-color",
            ]
            timeout = SECONDS_AN_EXAMPLE * options.examples + 60
            return subprocess.run(command, cwd=folder, timeout=timeout, check=False).returncode
        finally:
            service.terminate()
            service.wait(timeout=30)


if __name__ == "__main__":
    sys.exit(main())

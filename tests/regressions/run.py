"""Real regressions of real engines, each with the cause that the service must say.

Starts the service on a free port with a data folder of its own. Each query runs as usual, then worse
(`regressions.py`). After each worse run `/api/changes` is asked. The table says after how many runs the change was
called, and whether its first cause is the right one.

    python tests/regressions/run.py --binary target/debug/queryscope --older /path/to/older/bin/python

Needs Polars, DataFusion, DuckDB and the package `queryscope` in the Python that runs this, and an older DuckDB with it
in that of `--older`. Without `--older`, nothing is run with another version.
"""

import argparse
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from around import AROUND, NotHere
from regressions import REGRESSIONS, Regression

TOKEN = "qs_of_the_regressions"
WAIT_SECONDS = 60
RUN_SECONDS = 120
# What takes less than so many times as long is no regression.
REGRESSION_FACTOR = 1.2
HERE = Path(__file__).parent


class Service:
    """The real binary."""

    def __init__(self, binary: Path, data: Path) -> None:
        self.ended: dict[str, int] = {}
        command = [binary, "serve", "--data", data, "--bind", "127.0.0.1:0", "--token", TOKEN]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.search(r"dashboard\s+(http://\S+)", line):
                self.url = found[1]
                return
        raise SystemExit(f"{binary} ended with {self.process.wait()}")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=30)

    def get(self, path: str) -> str:
        with urllib.request.urlopen(f"{self.url}{path}", timeout=30) as answer:
            return answer.read().decode()

    def evaluated(self, label: str, runs: int) -> None:
        """Waits until so many runs of a query, and all of earlier queries, were evaluated."""
        self.ended[label] = runs
        give_up = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < give_up:
            counter = re.search(r"^queryscope_evaluation_runs_total (\d+)$", self.get("/metrics"), re.M)
            if counter and int(counter[1]) >= sum(self.ended.values()):
                return
            time.sleep(0.1)
        raise SystemExit(f"{runs} runs of {label} were not evaluated in {WAIT_SECONDS} s")

    def walls(self, label: str) -> list[float]:
        """The times of all runs, in milliseconds, the first first."""
        ended = json.loads(self.get(f"/api/queries?label={label}&status=finished&limit=1000"))
        return [run["wall_ms"] for run in sorted(ended, key=lambda run: run["started_unix_ns"])]

    def change(self, label: str) -> dict[str, Any] | None:
        changes = json.loads(self.get(f"/api/changes?label={label}&kind=slower&state=open"))["changes"]
        return changes[0] if changes else None


class Runs:
    """A process that runs a query when it is told to."""

    def __init__(self, service: Service, folder: Path, python: str, which: Regression, worse: bool, procs: Path | None):
        command = [python, HERE / "runs.py", "--name", which.name, "--folder", folder]
        command += ["--worse"] if worse else []
        command += ["--procs", procs] if procs else []
        environment = dict(os.environ, QUERYSCOPE_URL=service.url, TELEMETRY_TOKEN=TOKEN)
        environment |= which.environment if worse else {}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self._answer("ready")

    def _answer(self, word: str) -> None:
        assert self.process.stdout is not None
        if self.process.stdout.readline().strip() != word:
            raise SystemExit(f"the program ended with {self.process.wait(timeout=RUN_SECONDS)}")

    def run(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self._answer("ran")

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=RUN_SECONDS)


def judged(service: Service, which: Regression, folder: Path, named: argparse.Namespace) -> dict[str, Any]:
    """Runs one regression."""
    folder.mkdir(parents=True)
    usual = Runs(service, folder, sys.executable, which, False, None)
    for _ in range(named.usual):
        usual.run()
    usual.end()
    service.evaluated(which.name, named.usual)
    if early := service.change(which.name):
        print(f"  called before it was worse: {early['causes'][0]['sentence']}", flush=True)
    answer: dict[str, Any] = {"name": which.name, "after": None, "first": None, "change": None}
    with AROUND[which.around](folder) if which.around else contextlib.nullcontext() as procs:
        worse = Runs(service, folder, named.older if which.older else sys.executable, which, True, procs)
        try:
            for number in range(1, named.worse + 1):
                worse.run()
                service.evaluated(which.name, named.usual + number)
                change = service.change(which.name)
                if change and answer["after"] is None:
                    answer.update(after=number, first=change)
        finally:
            worse.end()
    answer["change"] = service.change(which.name) or answer["first"]
    answer["walls"] = service.walls(which.name)
    return answer


def verdict(which: Regression, change: dict[str, Any] | None) -> str:
    if change is None:
        return "not called"
    first = change["causes"][0]
    if first["cause"] in which.causes and re.search(which.words, first["sentence"]):
        return "right"
    return "unknown" if first["cause"] == "unexplained" else "WRONG"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--older", help="a Python with older engines")
    parser.add_argument("--usual", type=int, default=20, help="runs before")
    parser.add_argument("--worse", type=int, default=5, help="runs since")
    parser.add_argument("--only", nargs="*", default=[], help="names of regressions")
    parser.add_argument("--data", type=Path, help="keeps everything in this folder")
    parser.add_argument("--stay", action="store_true", help="leaves the service running until Enter is pressed")
    named = parser.parse_args()
    if unknown := set(named.only) - set(REGRESSIONS):
        raise SystemExit(f"{', '.join(unknown)}: there is only {', '.join(REGRESSIONS)}")

    with tempfile.TemporaryDirectory(prefix="queryscope-regressions-") as made:
        place = named.data or Path(made)
        service = Service(named.binary, place / "service")
        print(f"service {service.url}", flush=True)
        rows: list[tuple[str, ...]] = []
        wrong = False
        try:
            for name, which in REGRESSIONS.items():
                if named.only and name not in named.only:
                    continue
                if which.older and not named.older:
                    rows.append((name, "", "", "", "not run: no --older"))
                    continue
                print(f"{name} ...", flush=True)
                try:
                    answer = judged(service, which, place / name, named)
                except NotHere as error:
                    rows.append((name, "", "", "", f"not run: {error}"))
                    continue
                change = answer["change"]
                print("  ms:", *(f"{wall:.0f}" for wall in answer["walls"]), flush=True)
                called = str(answer["after"] or "")
                if change is None:
                    usual, worse = answer["walls"][: named.usual], answer["walls"][named.usual :]
                    factor = statistics.median(worse) / statistics.median(usual)
                    # On another machine it may cost nothing, such as a spill to a disk that is in memory.
                    as_before = factor < REGRESSION_FACTOR
                    wrong |= not as_before
                    said = "no regression here, and none called" if as_before else "not called"
                    rows.append((name, "", f"{factor:.1f}x", "", said))
                    continue
                first = change["causes"][0]
                said = f"`{first['cause']}` {first['share']:.0%}: {first['sentence']}"
                judgement = verdict(which, change)
                wrong |= judgement != "right"
                rows.append((name, called, f"{change['factor']:.1f}x", said, judgement))
                print("  " + " | ".join(rows[-1][1:]), flush=True)
                for cause in change["causes"][1:]:
                    print(f"    {cause['cause']} {cause['share']:.0%}: {cause['sentence']}", flush=True)
                if change["harmless"]:
                    print("    harmless:", change["harmless"], flush=True)
                if answer["first"]["causes"][0]["cause"] != first["cause"]:
                    print("    at first:", answer["first"]["causes"][0], flush=True)
            print("\n| regression | called after runs | factor | first cause | judgement |\n|---|---|---|---|---|")
            for row in rows:
                print("| " + " | ".join(row) + " |")
            if named.stay:
                input(f"service {service.url}: Enter ends it")
        finally:
            service.stop()
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

"""Compares a suite with itself again and again on a machine that is kept busy: each run that differs is a flake.

By hand, with an environment that has the Python package, the engines, pytest and pytest-xdist:

    python tests/gate/repeat.py --binary target/debug/queryscope --runs 200

Each run has another number of threads and workers, and runs beside another number of programs that keep the cores busy.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

SUITE = pathlib.Path(__file__).parent / "suite"
BUSY = "while True: sum(range(1_000_000))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=26)
    parser.add_argument("--busy", type=int, default=4, help="programs that keep the cores busy, at most")
    args = parser.parse_args()
    chance = random.Random(args.seed)
    begun, flakes, loads, counts = time.monotonic(), [], [], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        record(folder, folder / "base.jsonl.gz", {}, 0)
        for number in range(args.runs):
            threads = {"GATE_THREADS": str(chance.randint(1, 16)), "POLARS_MAX_THREADS": str(chance.randint(1, 8))}
            workers, busy = chance.choice((0, 0, 2, 3)), chance.randint(0, args.busy)
            loops = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(busy)]
            try:
                record(folder, folder / "head.jsonl.gz", threads, workers)
            finally:
                for loop in loops:
                    loop.kill()
                    loop.wait()
            loads.append(os.getloadavg()[0])
            report = judge(args.binary.resolve(), folder)
            counts.append(report["unchanged"])
            if report["fails"] or report["queries"]:
                flakes.append((number, threads, workers, report["queries"]))
                print(json.dumps(flakes[-1]), flush=True)
    compared = f"at least {min(counts)} queries each"
    print(
        f"{args.runs} runs of {compared}, {len(flakes)} with a difference, in {time.monotonic() - begun:.0f} s;"
        f" load {min(loads):.1f} to {max(loads):.1f}"
    )
    sys.exit(1 if flakes else 0)


def record(folder: pathlib.Path, file: pathlib.Path, threads: dict[str, str], workers: int) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", SUITE, SUITE]
    command += ["--queryscope", file, "--basetemp", folder / "tmp", *(["-n", workers] if workers else [])]
    environment = {**os.environ, **threads}
    done = subprocess.run(map(str, command), cwd=SUITE, env=environment, capture_output=True, text=True, timeout=600)
    if done.returncode != 0 or "lost" in done.stdout:
        sys.exit(f"the suite failed:\n{done.stdout}\n{done.stderr}")


def judge(binary: pathlib.Path, folder: pathlib.Path) -> dict:
    command = [binary, "gate", "--base", folder / "base.jsonl.gz", "--head", folder / "head.jsonl.gz"]
    done = subprocess.run([*map(str, command), "--format", "json"], capture_output=True, text=True, timeout=60)
    if done.returncode not in (0, 4):
        sys.exit(f"the gate failed: {done.stderr}")
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()

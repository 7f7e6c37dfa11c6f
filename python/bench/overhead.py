"""What it costs a Python program to be followed: TPC-H's 22 queries in Polars and DuckDB, with and without.

    python python/bench/overhead.py [--quick] [--scale 1] [--passes 5] [--rounds 2] [--engines polars,duckdb]

Needs the wheel, its engines and tpchgen-cli in the environment. Three processes for each engine hold the same data: one
is followed and sends to a service of its own, two are not. Each query runs in all three, one after the other in random
order, and each pair of times is a ratio: followed to not followed, and, as the control, not followed to not followed.
A ratio that differs from the control's by less than the control's own interval is noise. Each round starts new
processes, because where a process lies in memory makes it faster or slower for all of its life.

A fourth process of DuckDB is not followed either, and has the settings on that the adapter makes. It shows which part
of the cost is DuckDB's own: of counting what the adapter reads.

CPU time is that of the whole process over all 22 queries, until everything is sent. The medians and their intervals
(95 %, by bootstrap) are printed and, with --results, written as JSON. With --quick (scale 0.01, one pass) nothing is
measured: it proves that the benchmark works.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SQL = Path(__file__).parents[2] / "crates" / "tpch" / "src" / "queries"
BIN = Path(sys.executable).parent
TOKEN = "a-token-of-this-benchmark"
# All but "on" are not followed.
KINDS = {"polars": ("off", "control", "on"), "duckdb": ("off", "control", "settings", "on")}
ENGINES = tuple(KINDS)
TITLES = {"control": "not followed (control)", "settings": "settings alone", "on": "followed"}
RESAMPLES = 2000
IMPORTS = 15
DRAIN_SECONDS = 30


def queries() -> dict[str, str]:
    return {path.stem: path.read_text("utf-8") for path in sorted(SQL.glob("q*.sql"))}


# --- A process that runs queries ---


def polars_runner(data: Path, kind: str) -> Callable[[str], int]:
    import polars

    tables = {path.stem: polars.scan_parquet(path) for path in data.glob("*.parquet")}
    context = polars.SQLContext(tables)
    return lambda sql: context.execute(sql).collect(engine="streaming").height


def duckdb_runner(data: Path, kind: str) -> Callable[[str], int]:
    import duckdb

    from queryscope.adapters.duckdb import SETTINGS

    connection = duckdb.connect()
    for setting in SETTINGS if kind == "settings" else ():
        connection.execute(setting)
    for path in data.glob("*.parquet"):
        connection.execute(f"create table {path.stem} as from '{path}'")
    return lambda sql: len(connection.execute(sql).fetchall())


def work(engine: str, kind: str, data: Path, url: str) -> None:
    """Runs the queries that are named on standard input, and answers with what each took."""
    import queryscope

    if kind == "on":
        queryscope.install(url, TOKEN, service="benchmark")
    run = (polars_runner if engine == "polars" else duckdb_runner)(data, kind)
    texts = queries()
    for line in sys.stdin:
        command = line.strip()
        if command == "cpu":
            drain(queryscope)
            answer: dict[str, Any] = {"cpu": time.process_time()}
        elif command == "end":
            drain(queryscope)
            answer = {"peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, "stats": queryscope.stats()}
        else:
            begin = time.perf_counter()
            with queryscope.label(f"tpch/{command}"):
                rows = run(texts[command])
            answer = {"wall": time.perf_counter() - begin, "rows": rows}
        print(json.dumps(answer), flush=True)


def drain(queryscope: Any) -> None:
    """Waits until every query that ended has been told: a profile is made within half a second of the end."""
    time.sleep(0.7)
    give_up = time.monotonic() + DRAIN_SECONDS
    while queryscope.stats()["queued"] and time.monotonic() < give_up:
        time.sleep(0.05)


# --- The benchmark ---


class Worker:
    def __init__(self, engine: str, kind: str, data: Path, url: str) -> None:
        command = [sys.executable, __file__, "--work", engine, kind, str(data), url]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, what: str) -> dict[str, Any]:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"a process of the benchmark ended with {self.process.wait()} at {what!r}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def measure(engine: str, data: Path, url: str, rounds: int, passes: int, chance: random.Random) -> dict[str, Any]:
    kinds = KINDS[engine]
    walls: dict[str, list[float]] = {kind: [] for kind in kinds}
    cpus: dict[str, list[float]] = {kind: [] for kind in kinds}
    peaks: dict[str, list[int]] = {kind: [] for kind in kinds}
    sent = 0
    for _ in range(rounds):
        workers = {kind: Worker(engine, kind, data, url) for kind in kinds}
        try:
            # The first pass warms up.
            for number in range(passes + 1):
                before = {kind: worker.ask("cpu")["cpu"] for kind, worker in workers.items()}
                for query in queries():
                    answers = {kind: workers[kind].ask(query) for kind in chance.sample(kinds, len(kinds))}
                    if len({answer["rows"] for answer in answers.values()}) != 1:
                        raise SystemExit(f"{engine} {query}: different results: {answers}")
                    if number:
                        for kind, answer in answers.items():
                            walls[kind].append(answer["wall"])
                if number:
                    for kind, worker in workers.items():
                        cpus[kind].append(worker.ask("cpu")["cpu"] - before[kind])
            for kind, worker in workers.items():
                end = worker.ask("end")
                peaks[kind].append(end["peak_kib"])
                if kind == "on":
                    sent += check(engine, end["stats"], (passes + 1) * len(queries()))
        finally:
            for worker in workers.values():
                worker.close()
    return {
        "wall": compared(walls, chance),
        "cpu": compared(cpus, chance),
        "wall_s": {kind: sum(walls[kind]) for kind in kinds},
        "cpu_s": {kind: sum(cpus[kind]) for kind in kinds},
        "peak_mib": {kind: statistics.median(peaks[kind]) / 1024 for kind in kinds},
        "events": sent,
    }


def check(engine: str, stats: dict[str, Any], ended: int) -> int:
    """Every query was followed and has arrived: else there is no cost to speak of."""
    if stats["sent"] < ended or stats["errors"] or any(stats["dropped"].values()):
        raise SystemExit(f"{engine}: not every query arrived: {stats}")
    return int(stats["sent"])


def compared(times: dict[str, list[float]], chance: random.Random) -> dict[str, Any]:
    """Ratios of the other processes to the first one, which is not followed."""
    return {
        kind: summary([mine / base for mine, base in zip(taken, times["off"], strict=True)], chance)
        for kind, taken in times.items()
        if kind != "off"
    }


def summary(ratios: list[float], chance: random.Random) -> dict[str, float]:
    medians = sorted(statistics.median(chance.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    return {
        "median": statistics.median(ratios),
        "low": medians[RESAMPLES * 25 // 1000],
        "high": medians[RESAMPLES * 975 // 1000 - 1],
        "pairs": len(ratios),
    }


def import_ms() -> dict[str, float]:
    """The median time to import the engines, and then the package, each time in a new process."""
    code = (
        "import time; a = time.perf_counter(); import polars, duckdb; b = time.perf_counter(); "
        "import queryscope; c = time.perf_counter(); print((b - a) * 1000, (c - b) * 1000)"
    )
    taken = []
    for _ in range(IMPORTS):
        out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
        taken.append([float(part) for part in out.split()])
    engines, package = (statistics.median(column) for column in zip(*taken, strict=True))
    return {"engines": engines, "queryscope": package}


@contextmanager
def service(folder: Path) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = [BIN / "queryscope", "--data", folder / "data", "--bind", f"127.0.0.1:{port}", "--token", TOKEN]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{url}/v1/health", timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        else:
            raise SystemExit(f"the service does not start: {(folder / 'log').read_text()}")
        yield url
    finally:
        process.kill()
        process.wait()


def generate(scale: str, folder: Path) -> None:
    if len(list(folder.glob("*.parquet"))) == 8:
        return
    shutil.rmtree(folder, ignore_errors=True)
    command = [BIN / "tpchgen-cli", "parquet", "--scale-factor", scale, "--output-dir", folder]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def report(results: dict[str, Any]) -> str:
    def said(figures: dict[str, float]) -> str:
        return f"{figures['median']:.3f} ({figures['low']:.3f} to {figures['high']:.3f})"

    lines = ["| engine | process | wall time | CPU time | pairs | peak memory |", "|---|---|---|---|---|---|"]
    for engine, found in results["engines"].items():
        peaks = found["peak_mib"]
        lines.append(f"| {engine} | not followed | 1 | 1 | | {peaks['off']:.0f} MiB |")
        for kind, wall in found["wall"].items():
            cpu = found["cpu"][kind]
            pairs = f"{wall['pairs']}; {cpu['pairs']}"
            figures = f"{said(wall)} | {said(cpu)} | {pairs} | {peaks[kind]:.0f} MiB"
            lines.append(f"| {engine} | {TITLES[kind]} | {figures} |")
    taken = results["import_ms"]
    lines.append(f"\nimport: engines {taken['engines']:.0f} ms, queryscope {taken['queryscope']:.1f} ms")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="What it costs a Python program to be followed.")
    parser.add_argument("--quick", action="store_true", help="a short run that measures nothing")
    parser.add_argument("--scale", default="1", help="TPC-H's scale factor")
    parser.add_argument("--rounds", type=int, default=2, help="times that new processes are started")
    parser.add_argument("--passes", type=int, default=5, help="times that a round runs all queries")
    parser.add_argument("--engines", default=",".join(ENGINES), help="engines, separated by commas")
    parser.add_argument("--data", type=Path, help="folder to keep the tables in")
    parser.add_argument("--results", type=Path, help="file for the figures, as JSON")
    options = parser.parse_args()
    if options.quick:
        options.scale, options.rounds, options.passes = "0.01", 1, 1
    chosen = options.engines.split(",")
    if unknown := set(chosen) - set(ENGINES):
        parser.error(f"--engines takes {', '.join(ENGINES)}; there is no {unknown.pop()!r}")
    chance = random.Random(7)
    with tempfile.TemporaryDirectory(prefix="queryscope-bench-") as temporary:
        folder = Path(temporary)
        data = (options.data or folder) / f"tpch-{options.scale}"
        generate(options.scale, data)
        with service(folder) as url:
            results: dict[str, Any] = {
                "scale": options.scale,
                "cores": os.cpu_count(),
                "engines": {
                    engine: measure(engine, data, url, options.rounds, options.passes, chance) for engine in chosen
                },
                "import_ms": import_ms(),
            }
    print(report(results))
    if options.results:
        options.results.write_text(json.dumps(results, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        _, _, engine, kind, data, url = sys.argv
        work(engine, kind, Path(data), url)
    else:
        main()

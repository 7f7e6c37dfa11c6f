"""A scripted client with fixed calls: does it get cause, node and line of seeded slowdowns, and at what length?

Starts the binary on a free port, posts the slowdowns that `queryscope-bench slowdowns` prints, waits until all runs are
evaluated, and asks the tools over HTTP: `why_slower` with the label, then `plan_diff` with the run that it names. What
is right follows from what was posted, not from the service.

    python tests/mcp/bench.py --binary target/release/queryscope --bench target/release/queryscope-bench

Needs the packages of tests/e2e/requirements.txt. Ends by itself. It fails where fewer than 85 % are right.
"""

import argparse
import asyncio
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client

TOKEN = "bench"
START_SECONDS = 30
EVALUATED_SECONDS = 900
SHARE_MIN = 0.85
CALLS_MAX = 3
TOKENS_MAX = 4000
BYTES_A_TOKEN = 3
CAUSES = {
    "MoreRows": {"More rows"},
    "LostPredicate": {"Plan change"},
    "OtherJoin": {"Plan change"},
    "FewerThreads": {"Fewer threads"},
    "Quota": {"All nodes slower"},
    "SlowDisk": {"Waiting"},
    "Skew": {"Skew"},
    "Spill": {"Spilling"},
    "EngineVersion": {"Engine version"},
    "SlowHost": {"One host"},
    "UserCode": {"User code"},
    "Planning": {"Planning"},
}
"""The first cause that is right."""
WITHOUT_NODE = {"FewerThreads", "Quota", "SlowDisk", "SlowHost", "Planning"}
"""Kinds that slow all nodes alike, or none: what they are about is no node."""


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


class Slowdown:
    """A query that got slower, and what is to be found of it."""

    def __init__(self, number: int, line: str) -> None:
        made = json.loads(line)
        self.label, self.kind, self.factor = made["label"], made["kind"], made["factor"]
        self.site = f"/srv/jobs/step_{number}.py:{10 + number}"
        self.batches = [[json.loads(event) for event in batch.splitlines()] for batch in made["batches"]]
        runs = [event["profile"] for batch in self.batches for event in batch if "profile" in event]
        self.nodes = right_nodes(self.kind, runs[: made["before"]], runs[made["before"] :])
        for run in runs:
            run["call_site"] = {"filepath": f"/srv/jobs/step_{number}.py", "lineno": 10 + number, "function": "main"}
        self.last_unix_ns = max(run["started_unix_ns"] for run in runs)

    def bodies(self, later_ns: int):
        """Its batches, so many nanoseconds later than they were made."""
        for batch in self.batches:
            for event in batch:
                if "profile" in event:
                    event["profile"]["started_unix_ns"] += later_ns
            yield "".join(json.dumps(event) + "\n" for event in batch).encode()


def right_nodes(kind: str, before: list[dict], after: list[dict]) -> set[str]:
    """The nodes that a slowdown is about, as "Scan #3": from the counters that were sent."""
    nodes = after[-1]["plan"]["physical"]
    named = {node["id"]: f"{node['kind']} #{node['id']}" for node in nodes}

    def median(runs: list[dict], node_id: int, counter: str) -> float:
        values = sorted(
            (node.get("metrics") or {}).get(counter) or 0
            for run in runs
            for node in run["plan"]["physical"]
            if node["id"] == node_id
        )
        return values[len(values) // 2] if values else 0.0

    def most(counter: str) -> set[str]:
        grown = {id: median(after, id, counter) - median(before, id, counter) for id in named}
        return {named[max(grown, key=lambda id: grown[id])]}

    match kind:
        case "MoreRows":
            return most("rows_scanned") if any(median(after, id, "rows_scanned") for id in named) else most("rows_out")
        case "Spill":
            return most("spilled_bytes")
        case "EngineVersion":
            return most("busy_ns")
        case "UserCode":
            return {named[node["id"]] for node in nodes if "user_code" in (node.get("properties") or {})}
        case "Skew":
            return {named[node["id"]] for node in nodes if node["kind"] == "RepartitionExec"}
        case "LostPredicate":
            return {named[node["id"]] for node in nodes if node["role"] == "scan" or node["kind"] == "Filter"}
        case "OtherJoin":
            return {named[node["id"]] for node in nodes if "join" in node["role"] or node["kind"] == "SortExec"}
        case _:
            return set()


def post(url: str, body: bytes) -> None:
    """Stores a batch; a service that has too much to do is asked again."""
    for _ in range(100):
        request = urllib.request.Request(f"{url}/v1/events", body, {"Authorization": f"Bearer {TOKEN}"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                assert answer.status == 202, answer.status
                return
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise SystemExit(f"a batch was refused: {error.read().decode()}") from error
            time.sleep(1)
    raise SystemExit("the service takes no batch")


def wait_until_evaluated(url: str, runs: int) -> None:
    deadline = time.monotonic() + EVALUATED_SECONDS
    while time.monotonic() < deadline:
        with urllib.request.urlopen(f"{url}/metrics", timeout=60) as answer:
            text = answer.read().decode()
        done = int(re.search(r"(?m)^queryscope_evaluation_runs_total (\d+)$", text).group(1))
        if done >= runs and re.search(r"(?m)^queryscope_evaluation_pending 0$", text):
            return
        time.sleep(0.5)
    raise SystemExit(f"not all runs were evaluated within {EVALUATED_SECONDS} s")


class Script:
    """The fixed calls for one slowdown, and what they gave."""

    def __init__(self, session: ClientSession) -> None:
        self.session = session
        self.texts: list[str] = []

    async def call(self, tool: str, **given: object) -> str:
        result = await self.session.call_tool(tool, given)
        text = result.content[0].text
        self.texts.append(text)
        return "" if result.isError else text

    async def run(self, label: str) -> None:
        why = await self.call("why_slower", label=label)
        if run := re.search(r"typical run since: ([0-9a-f-]{36})", why):
            await self.call("plan_diff", run=run.group(1), limit=5)

    @property
    def tokens(self) -> int:
        return sum(-(-len(text.encode()) // BYTES_A_TOKEN) for text in self.texts)

    def found(self, slowdown: Slowdown) -> dict[str, bool]:
        why = self.texts[0]
        first = re.search(r"(?m)^Causes\n  (\S+(?: \S+)*)", why)
        said = "\n".join(self.texts)
        return {
            "cause": bool(first) and first.group(1) in CAUSES[slowdown.kind],
            "node": slowdown.kind in WITHOUT_NODE or any(has_node(said, node) for node in slowdown.nodes),
            "line": slowdown.site in why,
            "short": len(self.texts) <= CALLS_MAX and self.tokens <= TOKENS_MAX,
        }


def has_node(text: str, node: str) -> bool:
    return re.search(re.escape(node) + r"(?!\d)", text) is not None


async def judge(url: str, slowdowns: list[Slowdown], verbose: bool) -> float:
    results: list[tuple[Slowdown, Script, dict[str, bool]]] = []
    async with streamablehttp_client(f"{url}/mcp") as (read, write, _), ClientSession(read, write) as session:
        await session.initialize()
        for slowdown in slowdowns:
            script = Script(session)
            await script.run(slowdown.label)
            results.append((slowdown, script, script.found(slowdown)))
    wrong = collections.Counter()
    for slowdown, script, found in results:
        missing = [part for part, is_there in found.items() if not is_there]
        wrong.update(missing)
        if missing:
            print(f"{slowdown.label} {slowdown.kind} x{slowdown.factor}: no {', '.join(missing)}")
            if verbose:
                print(*sorted(slowdown.nodes), *script.texts, sep="\n")
    right = sum(all(found.values()) for _, _, found in results)
    tokens = sorted(script.tokens for _, script, _ in results)
    calls = max(len(script.texts) for _, script, _ in results)
    share = right / len(results)
    print(f"{right} of {len(results)} ({share:.0%}) have cause, node and line; missing: {dict(wrong)}")
    print(f"calls: {calls} at most; tokens: median {tokens[len(tokens) // 2]}, at most {tokens[-1]}")
    with_node = [found for slowdown, _, found in results if slowdown.kind not in WITHOUT_NODE]
    print(f"node of those that have one: {sum(found['node'] for found in with_node)} of {len(with_node)}")
    return share


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--bench", type=Path, required=True, help="the binary queryscope-bench")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, help="another one than that of the figures in the documentation")
    parser.add_argument("--verbose", action="store_true", help="print the answers that lack something")
    options = parser.parse_args()
    seed = [] if options.seed is None else ["--seed", str(options.seed)]
    command = [options.bench.resolve(), *seed, "slowdowns", "--count", str(options.count)]
    made = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600).stdout.splitlines()
    slowdowns = [Slowdown(number, line) for number, line in enumerate(made)]
    later_ns = time.time_ns() - max(slowdown.last_unix_ns for slowdown in slowdowns) - 3_600_000_000_000
    with tempfile.TemporaryDirectory() as temporary:
        service, url = start(options.binary.resolve(), Path(temporary))
        try:
            runs = 0
            for slowdown in slowdowns:
                for body in slowdown.bodies(later_ns):
                    post(url, body)
                    runs += 1
            wait_until_evaluated(url, runs)
            share = asyncio.run(judge(url, slowdowns, options.verbose))
        finally:
            service.terminate()
            service.wait(timeout=60)
    print(f"{runs} runs")
    return 0 if share >= SHARE_MIN else 1


if __name__ == "__main__":
    sys.exit(main())

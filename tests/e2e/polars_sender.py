"""End to end: a real sender of Polars queries reports to the real binary.

Starts the binary on a free port with a data folder of its own, and sends to it as a user of polars-telemetry would:
with the lines of docs/guides/polars.md. What the read API then says is compared with what the sending program itself
saw.

    python tests/e2e/polars_sender.py --binary target/debug/queryscope

Needs the packages of requirements.txt, and those of ui/ with Chromium to read the page. Ends by itself.
"""

import argparse
import gzip
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import urlencode

WHOLE_SECONDS = 240
"""What all scenarios together may take."""
WAIT_SECONDS = 30
"""What one thing that has to happen may take, on a slow machine."""
BURST_QUERIES = 200
NODE = os.environ.get("NODE", "node")
ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guides" / "polars.md"
FIRST_LINE = ROOT / "ui" / "e2e" / "first-line.mjs"

LONG_QUERY = """
import sys
import time
from pathlib import Path

import polars
import polars_telemetry
from polars.io.plugins import register_io_source

released = Path(sys.argv[1])


def rows(with_columns, predicate, n_rows, batch_size):
    give_up = time.monotonic() + 120
    first = 0
    while not released.exists() and time.monotonic() < give_up:
        yield polars.DataFrame({"n": range(first, first + 1000)})
        first += 1000
        time.sleep(0.05)


source = register_io_source(rows, schema={"n": polars.Int64})
begin = time.monotonic()
with polars_telemetry.label("e2e"), polars_telemetry.label("long"):
    result = source.group_by(polars.col("n") % 7).agg(polars.len()).collect()
print("rows", result.height)
print("wall_ms", (time.monotonic() - begin) * 1000)
"""

FAILING_QUERY = """
import json

import polars
import polars_telemetry

frame = polars.LazyFrame({"text": ["1", "two"]})
try:
    with polars_telemetry.label("e2e/failing"):
        frame.select(polars.col("text").str.to_integer(strict=True)).collect()
except polars.exceptions.PolarsError as error:
    print("error", json.dumps(str(error)))
"""

UDF_QUERY = """
import sys
import time

import polars
import polars_telemetry


def score(value):
    total = 0
    for step in range(8):
        total += value * step % 7
    return total


def run(rows):
    with polars_telemetry.label("e2e/udf"):
        frame = polars.LazyFrame({"n": range(rows)})
        return frame.select(polars.col("n").map_elements(score, return_dtype=polars.Int64)).collect()


# As many rows as take a second of CPU here, then four times as many.
begin = time.process_time()
run(100_000)
rows = int(100_000 / (time.process_time() - begin))
for factor in (1, 4):
    begin = time.process_time()
    run(rows * factor)
    print(f"cpu_s_{factor}", time.process_time() - begin)
"""

BURST = f"""
import sys
import time
from pathlib import Path

import polars
import polars_telemetry

frame = polars.LazyFrame({{"n": [1, 2, 3]}})
with polars_telemetry.label("e2e/burst"):
    for _ in range({BURST_QUERIES}):
        frame.select(polars.col("n").sum()).collect()
# At exit the sender waits two seconds at most for what is not sent yet; here nothing may depend on that.
give_up = time.monotonic() + 120
while not Path(sys.argv[1]).exists() and time.monotonic() < give_up:
    time.sleep(0.05)
"""

ONE_QUERY = """
import polars
import polars_telemetry

with polars_telemetry.label("e2e/one"):
    polars.LazyFrame({"n": [1, 2, 3]}).select(polars.col("n").sum()).collect()
"""


class Service:
    """The binary under test; its data folder and port stay the same when it is started again."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self.binary = binary
        self.folder = folder
        self.data = folder / "data"
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("QUERYSCOPE_")}
        with (self.folder / "out").open("ab") as out, (self.folder / "err").open("ab") as err:
            command = [self.binary, "--data", self.data, "--bind", f"127.0.0.1:{self.port}"]
            self.process = subprocess.Popen(command, stdout=out, stderr=err, env=environment)
        eventually(self.lives, "the service answers")

    def lives(self) -> bool:
        code = self.process.poll()
        assert code is None, f"the service ended with {code}:\n{self.log()}"
        try:
            return self.get("/v1/health")[0] == 200
        except OSError:
            return False

    def stop(self) -> int:
        """Stops it as a user or an init system does."""
        self.process.terminate()
        return self.process.wait(WAIT_SECONDS)

    def kill(self) -> None:
        """Stops it as a power cut does."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(WAIT_SECONDS)

    def log(self) -> str:
        return (self.folder / "err").read_text("utf-8")[-4000:]

    def token(self) -> str:
        return (self.data / "token").read_text("utf-8").strip()

    def get(self, path: str) -> tuple[int, http.client.HTTPMessage, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        except http.client.HTTPException as error:
            raise OSError(f"no answer to GET {path}") from error
        finally:
            connection.close()

    def queries(self, **filters: str) -> list[dict]:
        status, _, body = self.get(f"/api/queries?{urlencode({'limit': 1000, **filters})}")
        assert status == 200, (status, body)
        return json.loads(body)

    def ended(self, label: str) -> dict:
        """The one query with this label, once it does not run any more."""

        def one() -> dict | None:
            found = [query for query in self.queries(label=label) if query["status"] != "running"]
            assert len(found) <= 1, found
            return found[0] if found else None

        return eventually(one, f"a query {label} has ended")

    def running(self, label: str, sender: "Sender") -> dict:
        """The one query with this label, once it is listed as running."""

        def one() -> dict | None:
            sender.lives()
            found = self.queries(label=label, status="running")
            assert len(found) <= 1, found
            return found[0] if found else None

        return eventually(one, f"a query {label} runs")

    def recording(self, query: dict) -> list[dict]:
        """The events of a recording, after the checks that hold for every recording."""
        status, headers, body = self.get(f"/api/queries/{query['query_id']}/recording")
        assert status == 200, (status, body)
        assert headers["Content-Type"] == "application/x-ndjson", headers["Content-Type"]
        assert headers["Content-Encoding"] == "gzip", headers["Content-Encoding"]
        events = [json.loads(line) for line in gzip.decompress(body).decode("utf-8").splitlines()]
        process, *rest = events
        assert process["type"] == "process", process
        assert process["id"] == query["stream_id"], (process, query)
        seqs = [event["seq"] for event in rest]
        assert seqs == sorted(set(seqs)), seqs
        assert {event["query_id"] for event in rest} == {query["query_id"]}
        assert {event["schema"] for event in events} == {"polars-telemetry/events@1"}
        return events


def eventually(ask, what: str):
    """Asks until the answer is true, and returns it."""
    give_up = time.monotonic() + WAIT_SECONDS
    while not (answer := ask()):
        assert time.monotonic() < give_up, f"waited {WAIT_SECONDS} s in vain: {what}"
        time.sleep(0.1)
    return answer


def documented_snippet(service: Service) -> str:
    """The first program of the guide, with the service's address and token."""
    program = re.search(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    assert program, f"{GUIDE} has no program"
    text, addresses = re.subn(r'"http://127\.0\.0\.1:7766"', json.dumps(service.url), program[1])
    text, tokens = re.subn(r'token="…"', f"token={json.dumps(service.token())}", text)
    assert (addresses, tokens) == (1, 1), text
    return text


class Sender:
    """A program that sends queries, in a process of its own."""

    def __init__(self, folder: Path, snippet: str, queries: str) -> None:
        self.released = folder / f"released-{time.monotonic_ns()}"
        environment = {key: value for key, value in os.environ.items() if not key.startswith("POLARS_")}
        self.process = subprocess.Popen(
            [sys.executable, "-c", snippet + queries, self.released],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )

    def lives(self) -> None:
        if self.process.poll() is not None:
            raise AssertionError(f"the sender ended too early: {self.process.communicate()}")

    def release(self) -> None:
        """Lets a long query end."""
        self.released.touch()

    def finish(self, *, quietly: bool = True) -> dict[str, str]:
        """Waits for its end, and returns what it printed by the first word of each line."""
        out, err = self.process.communicate(timeout=WAIT_SECONDS)
        assert self.process.returncode == 0, f"the sender ended with {self.process.returncode}:\n{out}{err}"
        # A sender that could not send says so, once for each kind of problem.
        assert not quietly or "event export failed" not in err, err
        return dict(line.split(" ", 1) for line in out.splitlines() if " " in line)

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


class Scenarios:
    def __init__(self, service: Service, snippet: str, senders: list[Sender]) -> None:
        self.service = service
        self.snippet = snippet
        self.senders = senders

    def send(self, snippet: str, queries: str) -> Sender:
        self.senders.append(Sender(self.service.folder, snippet, queries))
        return self.senders[-1]

    def the_documented_snippet_works(self) -> None:
        self.send(self.snippet, ONE_QUERY).finish()
        query = self.service.ended("e2e/one")
        assert (query["status"], query["result_rows"]) == ("finished", 1), query
        assert query["engine"] == "polars", query

    def the_token_is_for_its_owner_alone(self) -> None:
        for path in (self.service.data, self.service.data / "token"):
            assert path.stat().st_mode & 0o077 == 0, (path.name, oct(path.stat().st_mode))

    def health_lists_the_format_of_the_sender(self) -> None:
        health = json.loads(self.service.get("/v1/health")[2])
        assert health["status"] == "ok", health
        assert health["protocol"][0] == "engine-telemetry/events@1", health
        assert "polars-telemetry/events@1" in health["protocol"], health

    def a_long_query_runs_then_is_finished(self) -> None:
        snippet = self.snippet
        sender = self.send(snippet, LONG_QUERY)
        running = self.service.running("e2e/long", sender)
        said = dict(re.findall(r'(service|environment)="([^"]+)"', snippet))
        expected = {**said, "host": socket.gethostname(), "engine": "polars", "project": "default"}
        assert {"service", "environment"} <= expected.keys(), snippet
        assert {key: running[key] for key in expected} == expected, running
        unknown = ("wall_ms", "recording", "failed", "result_rows")
        assert {running[key] for key in unknown} == {None}, running
        assert abs(time.time() - running["started_unix_ns"] / 1e9) < 60, running
        path = f"/api/queries/{running['query_id']}"
        assert json.loads(self.service.get(path)[2])["status"] == "running"
        status, headers, body = self.service.get(f"{path}/recording")
        assert status == 404 and headers["Content-Type"] == "application/json", (status, headers)
        assert json.loads(body)["error"], body

        time.sleep(3)
        sender.release()
        seen = sender.finish()
        query = self.service.ended("e2e/long")
        assert query["query_id"] == running["query_id"], (query, running)
        assert (query["status"], query["failed"]) == ("finished", None), query
        assert {key: query[key] for key in expected} == expected, query
        assert query["started_unix_ns"] == running["started_unix_ns"], (query, running)
        assert 4000 <= query["wall_ms"] <= float(seen["wall_ms"]), (query, seen)
        assert 0 < query["cpu_ms"] <= query["wall_ms"] * (os.cpu_count() or 1), query
        assert query["result_rows"] == int(seen["rows"]) == 7, (query, seen)
        assert re.fullmatch(r"[0-9a-f]{12}", query["fingerprint"]), query
        day = datetime.fromtimestamp(query["started_unix_ns"] // 10**9, timezone.utc)
        assert query["recording"] == f"{day:%Y/%m/%d}/{query['query_id']}.jsonl.gz", query

        process, started, *progress, finished = self.service.recording(query)
        assert {key: process[key] for key in said} == said, process
        assert started["type"] == "query.started", started
        assert {event["type"] for event in progress} == {"query.progress"}, progress
        elapsed = [event["elapsed_ms"] for event in progress]
        assert len(elapsed) >= 3 and elapsed == sorted(elapsed), elapsed
        assert finished["type"] == "query.finished", finished
        assert finished["profile"]["wall_ms"] == query["wall_ms"], (finished, query)

    def a_failing_query_is_failed_with_its_text(self) -> None:
        seen = self.send(self.snippet, FAILING_QUERY).finish()
        query = self.service.ended("e2e/failing")
        assert query["status"] == "failed", query
        assert query["failed"].strip() == json.loads(seen["error"]).strip(), (query, seen)
        assert [found["query_id"] for found in self.service.queries(status="failed")] == [query["query_id"]]
        events = self.service.recording(query)
        assert events[-1]["profile"]["failed"] == query["failed"], events

    def user_code_that_works_is_not_called_waiting(self) -> None:
        seen = self.send(self.snippet, UDF_QUERY).finish()
        ended = eventually(
            lambda: len(found := self.service.queries(label="e2e/udf", status="finished")) == 3 and found,
            "three queries with user code have ended",
        )
        slow, base, _ = ended
        # The process worked for seconds, and the engine's counters do not show it.
        assert float(seen["cpu_s_4"]) * 1000 > 10 * slow["cpu_ms"], (seen, slow)
        assert slow["cpu_ms"] < slow["wall_ms"] / 10, slow
        line = self.first_line(slow)
        assert re.search(r" are in no counter; Select #\d+ runs Python code and is the likely place\.$", line), line
        assert "wait" not in line, line
        status, _, body = self.service.get(f"/api/queries/{slow['query_id']}/insights")
        found = json.loads(body)
        assert status == 200 and [one["node_kind"] for one in found["findings"]] == ["Select"], found
        evidence = {item["name"] for one in found["findings"] for item in one["evidence"]}
        assert "rows_in" in evidence and not any(name.startswith("saves") for name in evidence), found
        # Four times the rows, and so four times the calls, which no counter shows: neither waiting nor fewer threads.
        status, _, body = self.service.get(f"/api/compare?run={slow['query_id']}&base={base['query_id']}")
        account = json.loads(body)["account"]
        assert status == 200 and sum(part["ns"] for part in account["parts"]) == account["difference_ns"] > 0, account
        longer = {part["cause"]: part for part in account["parts"] if part["ns"] > 0}
        rows = longer["more_rows"]
        assert rows["node"]["kind"] == "InMemorySource" and "gives 4.0x the rows" in rows["sentence"], account
        # On a busy machine each call takes longer, too.
        assert longer.keys() <= {"more_rows", "user_code", "unexplained"}, account

    def first_line(self, query: dict) -> str:
        """The first line of a run's page, read in a browser."""
        reader = [NODE, FIRST_LINE, f"{self.service.url}/queries/{query['query_id']}"]
        return subprocess.run(reader, check=True, capture_output=True, text=True, timeout=WAIT_SECONDS).stdout.strip()

    def a_burst_of_tiny_queries_all_arrive(self) -> None:
        sender = self.send(self.snippet, BURST)
        burst = {"label": "e2e/burst", "status": "finished"}
        eventually(lambda: len(self.service.queries(**burst)) >= BURST_QUERIES, "the burst has arrived")
        sender.release()
        sender.finish()
        queries = self.service.queries(**burst)
        assert len({query["query_id"] for query in queries}) == len(queries) == BURST_QUERIES
        starts = [query["started_unix_ns"] for query in queries]
        assert starts == sorted(starts, reverse=True), "the newest first"

    def a_restart_and_a_crash_lose_no_event_of_a_long_query(self) -> None:
        sender = self.send(self.snippet, LONG_QUERY.replace('"long"', '"restarted"'))
        before = self.service.running("e2e/restarted", sender)
        time.sleep(1.5)
        for end in (self.service.stop, self.service.kill):
            end()
            time.sleep(2)
            self.service.start()
            running = self.service.running("e2e/restarted", sender)
            assert running["query_id"] == before["query_id"], (running, before)
            # Long enough for the sender, which waits longer after each failure, to be through again.
            time.sleep(3)
        sender.release()
        sender.finish(quietly=False)
        query = self.service.ended("e2e/restarted")
        assert (query["status"], query["query_id"]) == ("finished", before["query_id"]), query
        _, *events = self.service.recording(query)
        types = [event["type"] for event in events]
        assert types == ["query.started", *["query.progress"] * (len(types) - 2), "query.finished"], types
        # Nothing else runs in this program: a missing number is a lost event.
        seqs = [event["seq"] for event in events]
        assert seqs == list(range(seqs[0], seqs[0] + len(seqs))) and len(seqs) >= 10, seqs

    def it_stops_when_told_to(self) -> None:
        code = self.service.stop()
        assert code == 0, f"it ended with {code}:\n{self.service.log()}"

    def all(self) -> list:
        return [
            self.the_documented_snippet_works,
            self.the_token_is_for_its_owner_alone,
            self.health_lists_the_format_of_the_sender,
            self.a_long_query_runs_then_is_finished,
            self.a_failing_query_is_failed_with_its_text,
            self.user_code_that_works_is_not_called_waiting,
            self.a_burst_of_tiny_queries_all_arrive,
            self.a_restart_and_a_crash_lose_no_event_of_a_long_query,
            self.it_stops_when_told_to,
        ]


class OutOfTimeError(BaseException):
    """Ends everything, whatever waits: no scenario may catch it."""


def out_of_time(*_: object) -> None:
    raise OutOfTimeError(f"not done after {WHOLE_SECONDS} s")


def run(binary: Path, folder: Path) -> tuple[int, int]:
    """Runs every scenario, and returns how many passed and how many failed."""
    passed = failed = 0
    service = Service(binary, folder)
    senders: list[Sender] = []
    try:
        service.start()
        scenarios = Scenarios(service, documented_snippet(service), senders)
        for scenario in scenarios.all():
            begin = time.monotonic()
            name = scenario.__name__.replace("_", " ")
            try:
                scenario()
            except Exception:
                failed += 1
                print(f"FAILED {name}", flush=True)
                traceback.print_exc()
            else:
                passed += 1
                print(f"ok     {name} ({time.monotonic() - begin:.1f} s)", flush=True)
    except (Exception, OutOfTimeError):
        failed += 1
        traceback.print_exc()
    finally:
        signal.alarm(0)
        for sender in senders:
            sender.kill()
        service.kill()
        if failed:
            print(f"The end of the service's log:\n{service.log()}", file=sys.stderr)
    return passed, failed


def main() -> int:
    parser = argparse.ArgumentParser(description="A real sender against the real binary.")
    parser.add_argument("--binary", type=Path, required=True, help="queryscope")
    binary = parser.parse_args().binary.resolve(strict=True)
    signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(WHOLE_SECONDS)
    with tempfile.TemporaryDirectory(prefix="queryscope-e2e-") as folder:
        passed, failed = run(binary, Path(folder))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

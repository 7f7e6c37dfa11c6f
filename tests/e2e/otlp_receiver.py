"""`queryscope serve --otlp` against a receiver that reads what it is sent with the messages of opentelemetry-proto:
while it is up, busy, slow, and away. Ingest must never wait for it.

A real collector would have to be built of its Go modules.
"""

import argparse
import contextlib
import http.server
import json
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

WAIT_SECONDS = 60
TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
START_NS = 1_790_000_000_000_000_000


class Receiver:
    """A receiver on a port that stays its own while it is away."""

    def __init__(self) -> None:
        self.spans: list[tuple[dict, Any]] = []
        self.metrics: list[tuple[dict, Any]] = []
        self.headers: list[str] = []
        self.answers: list[int] = []
        self.delay = 0.0
        self.port = 0
        self.server: http.server.ThreadingHTTPServer | None = None

    def up(self) -> None:
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                assert self.headers["Content-Type"] == "application/x-protobuf"
                time.sleep(receiver.delay)
                is_of_spans = self.path == "/v1/traces"
                status = receiver.answers.pop(0) if is_of_spans and receiver.answers else 200
                if status == 200:
                    receiver.take(self.path, self.headers.get("X-Key", ""), body)
                answer = trace_service_pb2.ExportTraceServiceResponse().SerializeToString()
                self.send_response(status)
                if status == 429:
                    self.send_header("Retry-After", "1")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def down(self) -> None:
        assert self.server is not None
        self.server.shutdown()
        self.server.server_close()

    def take(self, path: str, key: str, body: bytes) -> None:
        self.headers.append(key)
        if path == "/v1/traces":
            for resource in trace_service_pb2.ExportTraceServiceRequest.FromString(body).resource_spans:
                for scope in resource.scope_spans:
                    self.spans += [(attributes(resource.resource.attributes), span) for span in scope.spans]
        else:
            assert path == "/v1/metrics", path
            self.metrics = [
                (attributes(resource.resource.attributes), metric)
                for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics
                for scope in resource.scope_metrics
                for metric in scope.metrics
            ]

    def runs(self) -> list[tuple[dict, Any]]:
        return [(resource, span) for resource, span in self.spans if "queryscope.run.id" in attributes(span.attributes)]


def attributes(pairs: Any) -> dict[str, Any]:
    values = {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}
    return {key: [each.string_value for each in getattr(value, "values", [])] or value for key, value in values.items()}


class Service:
    def __init__(self, binary: pathlib.Path, folder: pathlib.Path, *options: str) -> None:
        command = [binary, "serve", "--data", folder, "--bind", "127.0.0.1:0", *options]
        self.log = (folder.parent / f"{folder.name}.log").open("w+")
        self.process = subprocess.Popen(map(str, command), stdout=subprocess.PIPE, stderr=self.log, text=True)
        out = ""
        while "token" not in out:
            line = self.process.stdout.readline()
            assert line, self.logged()
            out += line
        self.url = re.search(r"dashboard +(\S+)", out)[1]
        self.token = (folder / "token").read_text().strip()

    def post(self, batch: str) -> float:
        """Sends a batch, and returns how many seconds it took."""
        headers = {"Authorization": f"Bearer {self.token}"}
        begun = time.monotonic()
        request = urllib.request.Request(f"{self.url}/v1/events", batch.encode(), headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert answer.status == 202, answer.status
        return time.monotonic() - begun

    def figure(self, name: str) -> float:
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=30) as answer:
            text = answer.read().decode()
        return sum(float(value) for value in re.findall(rf"^queryscope_{name}(?:\{{.*\}})? (\S+)$", text, re.MULTILINE))

    def logged(self) -> str:
        self.log.seek(0)
        return self.log.read()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=60) == 0, self.logged()


def batch(label: str, number: int = 1, **more: object) -> str:
    """A process that runs queries with a label."""
    process = {"type": "process", "id": str(uuid.uuid4()), "host": "worker-1", "service": "etl", "environment": "prod",
               "program_version": "7.1"}
    events = [process]
    for _ in range(number):
        run = str(uuid.uuid4())
        scan = {"id": 1, "kind": "Scan", "role": "scan", "inputs": [],
                "metrics": {"busy_ns": 1_000_000, "rows_out": 5}}
        total = {"id": 2, "kind": "Sum", "role": "aggregation", "inputs": [1], "metrics": {"busy_ns": 9_000_000_000}}
        profile = {"schema": "polars-telemetry/profile@1", "query_id": run, "label": label, "wall_ms": 20.5,
                   "started_unix_ns": START_NS, "result_rows": 3, "plan": {"physical": [scan, total], "logical": []},
                   "call_site": {"filepath": "/app/orders.py", "lineno": 7, "function": "daily"}, **more}
        events.append({"type": "query.finished", "query_id": run, "profile": profile})
    lines = [{"schema": "polars-telemetry/events@1", "seq": at + 1, **event} for at, event in enumerate(events)]
    return "".join(json.dumps(line) + "\n" for line in lines)


def wait(what: str, look: Callable[[], Any]) -> Any:
    give_up = time.monotonic() + WAIT_SECONDS
    while not (found := look()):
        assert time.monotonic() < give_up, f"waited in vain for {what}"
        time.sleep(0.05)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    binary = parser.parse_args().binary.resolve()
    with tempfile.TemporaryDirectory() as folder:
        check(binary, pathlib.Path(folder))
        check_stop(binary, pathlib.Path(folder))
    print("otlp: sent")


@contextlib.contextmanager
def served(binary: pathlib.Path, folder: pathlib.Path, receiver: Receiver, *options: str) -> Iterator[Service]:
    address = f"http://127.0.0.1:{receiver.port}"
    service = Service(binary, folder, "--otlp", address, "--otlp-headers", "x-key=k1", *options)
    try:
        yield service
    finally:
        service.process.kill()
        service.process.wait()


def check(binary: pathlib.Path, folder: pathlib.Path) -> None:
    receiver = Receiver()
    receiver.up()
    with served(binary, folder / "one", receiver, "--otlp-nodes", "--otlp-metrics-every", "1") as service:
        check_spans(service, receiver)
        check_metrics(receiver)
        check_pauses(service, receiver)


def check_spans(service: Service, receiver: Receiver) -> None:
    traced = batch("traced", trace_id=TRACE, span_id=CALLER)
    service.post(traced)
    (resource, span), = wait("a span", receiver.runs)
    assert resource == {"service.name": "etl", "service.version": "7.1", "deployment.environment.name": "prod",
                        "host.name": "worker-1"}, resource
    assert (span.trace_id.hex(), span.parent_span_id.hex(), span.name) == (TRACE, CALLER, "traced"), span
    assert span.start_time_unix_nano == START_NS and span.end_time_unix_nano == START_NS + 20_500_000
    told = attributes(span.attributes)
    assert told["db.system.name"] == "polars" and told["db.query.summary"] == "traced", told
    assert (told["db.response.returned_rows"], told["code.line.number"]) == (3, 7), told
    assert told["queryscope.project"] == "default", told
    nodes = {each.name: each for _, each in receiver.spans if each.name in ("Scan", "Sum")}
    assert nodes["Sum"].parent_span_id == span.span_id and nodes["Scan"].parent_span_id == nodes["Sum"].span_id
    assert nodes["Sum"].end_time_unix_nano == span.end_time_unix_nano, "a node is at most as long as its run"
    # What comes again ends nothing again. A run without a trace has one of its own.
    service.post(traced)
    service.post(batch("failed", failed="no such column"))
    wait("the second", lambda: len(receiver.runs()) == 2)
    _, failed = receiver.runs()[1]
    assert failed.status.code == 2 and failed.status.message == "no such column", failed
    assert len(failed.trace_id) == 16 and not failed.parent_span_id and failed.trace_id.hex() != TRACE
    assert set(receiver.headers) == {"k1"}


def check_metrics(receiver: Receiver) -> None:
    def points(name: str) -> dict[tuple[str, str], Any]:
        found = [metric for _, metric in list(receiver.metrics) if metric.name == name]
        each = [point for metric in found for point in (metric.sum or metric.histogram).data_points]
        each += [point for metric in found for point in metric.histogram.data_points]
        pairs = [(attributes(point.attributes), point) for point in each]
        return {(told["db.query.summary"], told["queryscope.run.status"]): point for told, point in pairs}

    wait("metrics", lambda: len(points("queryscope.runs")) == 2)
    assert points("queryscope.runs")["traced", "finished"].as_int == 1
    wait("metrics", lambda: len(points("db.client.operation.duration")) == 2)
    duration = points("db.client.operation.duration")["failed", "failed"]
    assert duration.count == 1 and abs(duration.sum - 0.0205) < 1e-9, duration
    assert list(duration.bucket_counts)[3] == 1 and list(duration.explicit_bounds)[:3] == [0.001, 0.005, 0.01], duration


def check_pauses(service: Service, receiver: Receiver) -> None:
    """A receiver that is busy, slow, refuses, or is away: batches are acknowledged as fast as before."""
    receiver.answers = [429, 503]
    service.post(batch("busy"))
    wait("what came after a pause", lambda: any(span.name == "busy" for _, span in receiver.runs()))
    assert not receiver.answers
    receiver.answers = [400]
    before = len(receiver.runs())
    service.post(batch("refused"))
    wait("a run that was refused", lambda: service.figure("otlp_runs_dropped_total") == 1)
    assert len(receiver.runs()) == before

    receiver.delay = 2.0
    slow = max(service.post(batch("slow")) for _ in range(50))
    receiver.delay = 0.0
    wait("all that was sent slowly", lambda: sum(span.name == "slow" for _, span in receiver.runs()) == 50)
    receiver.down()
    away = max(service.post(batch("away", 20)) for _ in range(100))
    wait("the log", lambda: "does not take requests" in service.logged())
    # Much faster than the receiver answers, and than the pauses between two tries.
    assert max(slow, away) < 1.5, (slow, away)
    receiver.up()
    wait("what was sent while it was away", lambda: sum(span.name == "away" for _, span in receiver.runs()) == 2000)
    wait("the log", lambda: "is back" in service.logged())
    ids = [attributes(span.attributes)["queryscope.run.id"] for _, span in receiver.runs()]
    assert len(ids) == len(set(ids)), "each run once"
    sent = service.figure("otlp_runs_sent_total")
    assert sent == len(ids), (sent, len(ids))


def check_stop(binary: pathlib.Path, folder: pathlib.Path) -> None:
    """What waits is sent before the service ends. One that cannot be sent does not hold it up."""
    receiver = Receiver()
    receiver.up()
    with served(binary, folder / "two", receiver) as service:
        service.post(batch("last", 3))
        service.stop()
    assert [span.name for _, span in receiver.spans] == ["last"] * 3, "nodes are not asked for"
    assert {metric.name for _, metric in receiver.metrics} == {"queryscope.runs", "db.client.operation.duration"}
    receiver.down()
    with served(binary, folder / "three", receiver) as service:
        service.post(batch("lost", 3))
        begun = time.monotonic()
        service.stop()
        assert time.monotonic() - begun < 30
        assert "were not sent" in service.logged() or "in time" in service.logged(), service.logged()


if __name__ == "__main__":
    main()

"""Makes a small data folder with everything a store keeps; argument: the binary, the folder."""
import subprocess, sys, time, os, signal, json, pathlib, shutil, glob
binary, folder = sys.argv[1], pathlib.Path(sys.argv[2])
shutil.rmtree(folder, ignore_errors=True)
now = time.time_ns()
def q(n): return f"01a1faa8-0000-7000-8000-{n:012d}"
S1, S2 = "210de94c-dce3-44f0-9cd3-2604c74dbeea", "c618f894-96d2-4c5f-aeaf-4c96e2e905b4"
def ev(seq, kind, brand="engine", **m):
    event = {"schema": f"{brand}-telemetry/events@1", "seq": seq, "type": kind, **m}
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False)
def prof(n, label, brand="engine", started=1_795_206_683_609_778_763, **m):
    return {"schema": f"{brand}-telemetry/profile@1", "query_id": q(n), "label": label, "fingerprint": "4df7bbc342f4",
            "started_unix_ns": started, **m, "plan": {"physical": [], "logical": []}}
def start(seq, n, label): return ev(seq, "query.started", query_id=q(n), profile=prof(n, label, wall_ms=1000.5))
def fin(seq, n, label, **k):
    brand = k.pop("brand", "engine")
    profile = prof(n, label, brand, wall_ms=2500.25, cpu_ms=40, **k)
    return ev(seq, "query.finished", brand, query_id=q(n), profile=profile)
def prog(seq, n):
    return ev(seq, "query.progress", query_id=q(n), elapsed_ms=1500, nodes={"4294967299": {"rows_sent": seq}})
p1 = ev(1, "process", id=S1, service="etl", environment="prod", host="h", pid=7)
p2 = ev(1, "process", "polars", id=S2, service=None, environment=None, host="maschine-ä")
skew = {"rule": "skew", "kind": "k", "level": "warn", "node_id": None, "title": "t"}
warn = {"schema": "insights@1", "findings": [skew]}
files = 0
def imp(process, lines, project="default"):
    f = folder.parent / "events.jsonl"; f.write_text("\n".join([process, *lines]) + "\n")
    subprocess.run([binary, "import", "--data", str(folder), "--project", project, str(f)], check=True)
def serve(done, *args):
    command = [binary, "serve", "--data", str(folder), "--bind", "127.0.0.1:0", "--seal-within", "1ms", *args]
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    t = time.time()
    while not done():
        time.sleep(.1); assert time.time() - t < 30 and p.poll() is None
    p.send_signal(signal.SIGTERM); p.wait(20)
recs = lambda: len(glob.glob(str(folder / "recordings/*/*/*/*")))
# 1 finished, 2 failed and 3 unfinished, in one pack, with a late event of 1 beside it; 9 old, deleted by retention.
imp(p1, [start(2, 1, "täglich"), prog(3, 1), fin(4, 1, "täglich", result_rows=3, insights=warn),
         fin(5, 2, "täglich", failed="out of memory"), start(6, 3, "slow"),
         ev(7, "process.note", text="of no query"), fin(8, 9, "old", started=1_600_000_000_000_000_000)])
serve(lambda: recs() == 2, "--silent-after", "200ms")
serve(lambda: recs() == 1, "--keep-days", "2000")
# 4 finished, in two chunks; 5 of another engine and project; 6 running; 7 known by a sample alone.
imp(p1, [start(9, 4, "slow"), start(12, 6, "slow"), prog(13, 6)])
imp(p1, [fin(11, 4, "slow"), prog(10, 4), prog(14, 1), prog(20, 7)])
imp(p2, [fin(2, 5, None, brand="polars")], project="other")
added = [binary, "token", "add", "nightly", "--project", "other", "--data", str(folder)]
subprocess.run(added, check=True, stdout=subprocess.DEVNULL)
for name in ["token", "lock", "recordings.lock", "address"]: (folder / name).unlink(missing_ok=True)
subprocess.run([binary, "check", "--data", str(folder)], check=True)
print(sorted(os.listdir(folder)), os.path.getsize(folder / "queryscope.db"))

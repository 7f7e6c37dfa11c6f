import { expect, test } from "vitest";
import { momentAt } from "./moment";
import { readRecording } from "./run";
import { busyThreads, nodeThreads } from "./threads";
import { timesOf } from "./times";
import { usageOf, valueAt } from "./usage";

const SCHEMA = '"schema":"engine-telemetry/events@1"';
const sample = (seq: number, ms: number, rest: string): string =>
  `{${SCHEMA},"seq":${seq},"type":"query.progress","query_id":"q","elapsed_ms":${ms},${rest}}`;
/** The end of a run with nodes 1, 2, and so on, that were busy for so long. */
const finishedOf = (wallMs: number, cores: number | null, ...busyNs: number[]): string => {
  const nodes = busyNs.map((ns, at) => `{"id":${at + 1},"kind":"K","inputs":[],"metrics":{"busy_ns":${ns}}}`);
  return (
    `{${SCHEMA},"seq":99,"type":"query.finished","query_id":"q","profile":{"schema":"engine-telemetry/profile@1",` +
    `"query_id":"q","wall_ms":${wallMs},"diagnostics":{"cpu_count":${cores}},` +
    `"plan":{"physical":[${nodes.join(",")}],"logical":[]}}}`
  );
};
const finished = (wallMs: number, busyNs: number): string => finishedOf(wallMs, null, busyNs);

function read(...lines: string[]) {
  const run = readRecording(lines.join("\n")).runs.get("q");
  if (!run) throw new Error("no run");
  return run;
}

const told = (cpuS: number, mib: number): string =>
  `"nodes":{},"process_cpu_ns":${cpuS * 1e9},"process_memory_bytes":${mib * 2 ** 20},` +
  `"host_cpu_ns":${2 * cpuS * 1e9},"host_memory_bytes":${3 * mib * 2 ** 20},"host_memory_total_bytes":${2 ** 34}`;

test("threads are what a clock of CPU time grew by, and memory is what is held", () => {
  // The second sample comes late.
  const lines = usageOf(read(sample(3, 2000, told(5, 20)), sample(2, 1000, told(2, 10))));
  expect(lines.processThreads).toEqual([
    { fromMs: 0, untilMs: 1000, value: 2 },
    { fromMs: 1000, untilMs: 2000, value: 3 },
  ]);
  expect(lines.hostThreads.map(({ value }) => value)).toEqual([4, 6]);
  expect(lines.processBytes.map(({ value }) => value / 2 ** 20)).toEqual([10, 20]);
  expect(lines.hostTotalBytes).toBe(2 ** 34);
  expect([0, 1000, 1001, 2000, 2001].map((ms) => valueAt(lines.processThreads, ms))).toEqual([2, 2, 3, 3, null]);
});

test("what is not sent, or is no count, has no line", () => {
  const lines = usageOf(read(sample(2, 1000, '"nodes":{},"process_cpu_ns":-1,"process_memory_bytes":"x"')));
  expect(lines).toEqual({ processThreads: [], hostThreads: [], processBytes: [], hostBytes: [], hostTotalBytes: null });
});

test("a node worked when its counter grew, and not while nothing was told of it", () => {
  const run = read(
    sample(2, 1000, '"nodes":{"1":{"busy_ns":500000000}}'),
    sample(3, 2000, '"nodes":{"2":{"busy_ns":1}}'),
    sample(4, 3000, '"nodes":{"1":{"busy_ns":2500000000}}'),
    finished(4000, 2_500_000_000),
  );
  expect(nodeThreads(run, "1")).toEqual([
    { fromMs: 0, untilMs: 1000, value: 0.5 },
    { fromMs: 1000, untilMs: 2000, value: 0 },
    { fromMs: 2000, untilMs: 3000, value: 2 },
    { fromMs: 3000, untilMs: 4000, value: 0 },
  ]);
  expect(nodeThreads(run, "7")).toEqual([]);
});

test("work that an engine told late is spread over the time since it told before", () => {
  // Polars: the sample at 1 s tells 10 ms of node 2, whose other 830 ms on 2 cores cannot all be in the last 50 ms.
  const late = read(
    sample(2, 1000, '"nodes":{"1":{"busy_ns":300000000},"2":{"busy_ns":10000000}}'),
    finishedOf(1050, 2, 300_000_000, 840_000_000),
  );
  expect(nodeThreads(late, "2")).toEqual([
    { fromMs: 0, untilMs: 1050, value: expect.closeTo(0.8) as number, isSpread: true },
  ]);
  expect(busyThreads(late).map(({ threads }) => Math.round(threads * 10))).toEqual([11, 8]);
  // DuckDB: samples tell of progress alone, so when a node worked is not known.
  const untold = read(
    sample(2, 1000, '"nodes":{"1":{"custom":[{"key":"progress","unit":"%","value":50}]}}'),
    finishedOf(2000, 2, 1_000_000_000, 3_000_000_000),
  );
  expect(nodeThreads(untold, "1")).toEqual([{ fromMs: 0, untilMs: 2000, value: 0.5, isSpread: true }]);
  expect(busyThreads(untold).map(({ threads }) => threads)).toEqual([2, 2]);
});

test("what the process used is told of a run that was sampled until its end", () => {
  const times = (wallMs: number) => {
    const run = read(sample(2, 1000, told(1, 10)), finished(wallMs, 1_500_000_000));
    return timesOf(run, momentAt(run, null));
  };
  expect(times(1020).processCpuMs).toBe(1000);
  expect(times(1800).processCpuMs).toBe(null);
});

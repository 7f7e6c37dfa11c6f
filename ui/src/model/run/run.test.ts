import { expect, test } from "vitest";
import { captured, everything } from "./captures";
import { momentAt } from "./moment";
import { readRecording, Recording } from "./run";
import { busyThreads, tellsBusyTime } from "./threads";

const event = (seq: number, type: string, fields: string): string =>
  `{"schema":"engine-telemetry/events@1","seq":${seq},"type":"${type}",${fields}}`;
const PROCESS = event(1, "process", '"id":"p","host":"h"');
const profile = (nodes: string, rest = ""): string =>
  `{"schema":"engine-telemetry/profile@1","query_id":"q","wall_ms":1000${rest},` +
  `"plan":{"physical":[${nodes}],"logical":[]}}`;
const started = (nodes: string): string => event(2, "query.started", `"query_id":"q","profile":${profile(nodes)}`);
const sample = (ms: number, nodes: string): string =>
  event(3, "query.progress", `"query_id":"q","elapsed_ms":${ms},"nodes":{${nodes}}`);
const finished = (nodes: string, rest: string): string =>
  event(9, "query.finished", `"query_id":"q","profile":${profile(nodes, rest)}`);

const SCAN = '{"id":4294967297,"kind":"Scan","role":"scan","inputs":[]}';
const SINK = '{"id":18446744073709551615,"kind":"Sink","role":"sink","inputs":[4294967297]}';

function read(...lines: string[]) {
  const recording = readRecording(lines.join("\n"));
  const run = [...recording.runs.values()][0];
  if (run === undefined) throw new Error("no query");
  return { recording, run };
}

test("the moment is what the samples until then said, and the end is the profile's", () => {
  const { run } = read(
    PROCESS,
    started(`${SINK},${SCAN}`),
    sample(1000, '"4294967297":{"total_time_ns":500000000,"rows_sent":10}'),
    sample(
      1500,
      '"4294967297":{"total_time_ns":900000000,"rows_sent":18},"18446744073709551615":{"total_time_ns":100000000}',
    ),
    finished(
      `${SCAN.slice(0, -1)},"metrics":{"total_time_ns":1500000000,"rows_sent":20}},` +
        `${SINK.slice(0, -1)},"metrics":{"total_time_ns":500000000}}`,
      ',"wall_ms":2000',
    ),
  );
  expect(momentAt(run, 999).nodes.get("4294967297")).toMatchObject({ counters: null, share: null, rowsOut: null });
  expect(momentAt(run, 1499).nodes.get("4294967297")).toMatchObject({ share: 1, rowsOut: 10, threads: 0.5 });
  expect(momentAt(run, 1500).nodes.get("4294967297")).toMatchObject({ share: 0.9, rowsOut: 18, threads: 0.8 });
  expect(momentAt(run, null).nodes.get("4294967297")).toMatchObject({ share: 0.75, rowsOut: 20, threads: null });
  expect(busyThreads(run)).toEqual([
    { fromMs: 0, untilMs: 1000, threads: 0.5 },
    { fromMs: 1000, untilMs: 1500, threads: 1 },
    { fromMs: 1500, untilMs: 2000, threads: 2 },
  ]);
  expect(tellsBusyTime(run)).toBe(true);
});

test("rows without times say nothing of busy threads", () => {
  const told = (counters: string): boolean =>
    tellsBusyTime(read(PROCESS, started(`${SINK},${SCAN}`), sample(1000, `"4294967297":${counters}`)).run);
  expect(told('{"rows_sent":10}')).toBe(false);
  expect(told('{"rows_sent":10,"busy_ns":0}')).toBe(true);
  const end = (metrics: string): string =>
    finished(`${SCAN.slice(0, -1)},"metrics":${metrics}},${SINK}`, ',"wall_ms":2');
  expect(tellsBusyTime(read(PROCESS, end('{"rows_sent":20}')).run)).toBe(false);
  expect(tellsBusyTime(read(PROCESS, end('{"total_time_ns":9}')).run)).toBe(true);
});

test("a time that was not counted yet is not said to be none", () => {
  const times = (...samples: string[]) =>
    [...momentAt(read(PROCESS, started(`${SINK},${SCAN}`), ...samples).run, null).nodes.values()].map(
      ({ busyNs }) => busyNs,
    );
  const scan = (counters: string): string => `"4294967297":${counters}`;
  // Daft tells rows alone, and DuckDB 2.0 its progress.
  expect(times(sample(1000, scan('{"rows_out":7}')))).toEqual([null, null]);
  expect(times(sample(1000, scan('{"custom":[{"key":"progress","unit":"%","value":3}]}')))).toEqual([null, null]);
  // DuckDB 1.5 counts 3 ms when a join is built, and the rest at the end.
  const late = [sample(1000, scan('{"busy_ns":3000000}')), sample(9000, "")];
  expect(times(...late)).toEqual([null, 3_000_000]);
  // A zero that was sent stays, and so does one that is left out beside time that is counted.
  expect(times(sample(1000, scan('{"busy_ns":0}')))).toEqual([null, 0]);
  expect(times(sample(1000, scan('{"busy_ns":900000000}')))).toEqual([0, 900_000_000]);
});

test("ids and counters beyond 2^53 keep every digit", () => {
  const { run } = read(
    PROCESS,
    started(`${SINK},${SCAN}`),
    sample(1, '"18446744073709551615":{"rows_received":9007199254740993}'),
  );
  expect(run.plan.physical.map(({ id }) => id)).toEqual(["18446744073709551615", "4294967297"]);
  expect(momentAt(run, null).nodes.get("18446744073709551615")?.rowsIn).toBe(9007199254740993n);
});

test("what is broken, cut, foreign or unknown is named and the rest stays", () => {
  const { recording, run } = read(
    PROCESS,
    "{",
    '{"schema":"other@1"}',
    started(SCAN),
    '{"schema":"engine-telemetry/events@1","seq":5,"type":"query.noted","query_id":"q"}',
    sample(1500, "").slice(0, -9),
  );
  expect(recording.problems).toEqual([
    { line: 2, reason: "not JSON, or cut off" },
    { line: 3, reason: "not of the formats events@1 and profile@1" },
    { line: 6, reason: "not JSON, or cut off" },
  ]);
  expect(run.plan.physical).toHaveLength(1);
  expect(run.finished).toBeNull();
});

test("inputs that the plan does not have are left out", () => {
  const { run } = read(
    PROCESS,
    started('{"id":1,"kind":"Join","role":"brand_new","inputs":[1,2,3]},{"id":2,"kind":"Scan","role":"scan"},{"id":2}'),
  );
  expect(run.plan.physical.map(({ id, role, inputs }) => ({ id, role, inputs }))).toEqual([
    { id: "1", role: "unknown", inputs: ["2"] },
    { id: "2", role: "scan", inputs: [] },
  ]);
});

test("of a recording too long to keep as text, everything is read", () => {
  const recording = new Recording(PROCESS.length + 10);
  for (const line of [PROCESS, started(SCAN), sample(1, '"4294967297":{"rows_sent":2}')]) recording.addLine(line);
  expect(recording.lines).toEqual([PROCESS]);
  expect(recording.runs.get("q")?.sampleMs).toEqual([1]);
});

test("samples that come late go where they belong", () => {
  const { run } = read(
    PROCESS,
    started(SCAN),
    sample(2000, '"4294967297":{"rows_sent":2}'),
    sample(1000, '"4294967297":{"rows_sent":1}'),
  );
  expect(momentAt(run, 1500).nodes.get("4294967297")?.rowsOut).toBe(1);
  expect(momentAt(run, null).nodes.get("4294967297")?.rowsOut).toBe(2);
});

test("a profile document alone is a run, also over several lines", () => {
  const { run } = read(profile(SCAN).replaceAll(",", ",\n"));
  expect(run.finished?.wallMs).toBe(1000);
});

test("every query of the captures can be shown at each of its moments", () => {
  const { runs, problems } = everything();
  expect(problems).toEqual([]);
  expect(runs.size).toBeGreaterThan(70);
  for (const run of runs.values()) {
    for (const time of [0, ...run.sampleMs, null]) {
      const shares = [...momentAt(run, time).nodes.values()].map(({ share }) => share ?? 0);
      const whole = shares.reduce((total, share) => total + share, 0);
      expect(whole === 0 || Math.abs(whole - 1) < 1e-9).toBe(true);
    }
  }
});

test("the shares of a real run are those its findings name", () => {
  const run = captured("unique/redundant");
  const moment = momentAt(run, null);
  for (const finding of run.finished?.findings ?? []) {
    expect(moment.nodes.get(finding.nodeId ?? "")?.share).toBeCloseTo(finding.cpuShare ?? -1, 3);
  }
  expect(run.finished?.findings).toHaveLength(2);
  expect(busyThreads(run).at(-1)?.untilMs).toBe(run.finished?.wallMs);
});

test("a file of profiles has a query a line, and what is no profile is named", () => {
  const profile = (query: string, rest = ""): string =>
    `{"schema":"polars-telemetry/profile@1","query_id":"${query}","wall_ms":7${rest},` +
    `"plan":{"physical":[${SCAN}],"logical":[]}}`;
  const lines = [
    profile("a"),
    "",
    profile("b", ',"failed":"no such column"'),
    '{"schema":"x-telemetry/profile@1"}',
    "{",
  ];
  const recording = readRecording(lines.join("\n"));
  expect([...recording.runs.keys()]).toEqual(["a", "b"]);
  expect(recording.runs.get("b")?.finished).toMatchObject({ wallMs: 7, failed: "no such column", engine: "polars" });
  expect(recording.runs.get("a")?.plan.physical).toHaveLength(1);
  expect(recording.problems).toEqual([
    { line: 3, reason: "a profile without a query_id" },
    { line: 4, reason: "not JSON, or cut off" },
  ]);
});

test("calls of user code that one node alone can have made are in its share, though the engine counts none", () => {
  const shares = (calledNs: number, joinCalls = ""): (number | null | undefined)[] => {
    const join =
      `{"id":1,"kind":"Join","role":"join","inputs":[2],"properties":{${joinCalls}},` + '"metrics":{"busy_ns":2000}}';
    const select =
      '{"id":2,"kind":"Select","role":"map","inputs":[],"properties":{"user_code":"f"},"metrics":{"busy_ns":0}}';
    const { run } = read(profile(`${join},${select}`, `,"query_metrics":{"user_code_ns":${calledNs}}`));
    const moment = momentAt(run, null);
    return ["1", "2"].map((id) => moment.nodes.get(id)?.share);
  };
  expect(shares(6000)).toEqual([0.25, 0.75]);
  expect(shares(0)).toEqual([1, 0]);
  // Of two nodes that call it, nobody knows which took how much.
  expect(shares(6000, '"user_code":"f"')).toEqual([1, 0]);
});

import { expect, test } from "vitest";
import type { Running } from "../live/hub";
import { busyWords, doneWords, firstLine, lastEndedFirst, oldestFirst, quietWords, type Asked } from "./running";

const running = (query_id: string, label: string | null, threads: number[], startedMs = 0): Running => ({
  query: {
    query_id,
    stream_id: "s",
    project: "p",
    host: "h",
    status: "running",
    warnings: 0,
    rules: [],
    label,
    started_unix_ns: BigInt(startedMs) * 1_000_000n,
  },
  pulse: { query_id, elapsed_ms: 0, threads, busy_known: threads.length > 0, done: 0, nodes: 1, quiet_ms: 0 },
});
const NOW_MS = 100_000;
const told = (id: string, is_late: boolean, p50?: number): [string, Asked] => [
  id,
  {
    progress: {
      query_id: id,
      is_late,
      runs: 9,
      status: "running",
      remaining_ms: p50 === undefined ? null : { p10: p50 / 2, p50, p90: p50 * 2 },
    },
    atMs: NOW_MS - 1000,
  },
];
const says = (all: Running[], ...asked: [string, Asked][]): string => firstLine(all, new Map(asked), NOW_MS);
const late = (...ids: string[]): [string, Asked][] => ids.map((id) => told(id, true));

test("the line names the one that is late, and counts several", () => {
  expect(says([])).toBe("Nothing is running");
  const two = [running("1", "a", [8]), running("2", null, [1, 3.2])];
  expect(says(two, told("1", false))).toBe("2 running, 11.2 threads busy");
  expect(says(two, ...late("1"))).toBe("2 running, 11.2 threads busy; a is past its usual time");
  expect(says(two, ...late("2"))).toBe("2 running, 11.2 threads busy; a query without a label is past its usual time");
  expect(says(two, ...late("1", "2"))).toBe("2 running, 11.2 threads busy; 2 late");
});

test("the line says which one should end soonest, among those that are not late", () => {
  const three = [running("1", "a", [8]), running("2", "b", [1]), running("3", "c", [1])];
  const asked = [told("1", false, 90_000), told("2", false, 16_000), told("3", true, 2000)];
  expect(says(three, ...asked)).toBe(
    "3 running, 10.0 threads busy; b should end in about 15 s; c is past its usual time",
  );
  expect(says(three, told("1", false, 500))).toMatch(/a should end any moment$/);
});

test("the line says the service of a label that runs in several", () => {
  const of = (id: string, service: string): Running => {
    const one = running(id, "a", [1]);
    return { ...one, query: { ...one.query, service } };
  };
  const asked = [told("1", false, 16_000), told("2", true, 2000)];
  expect(says([of("1", "x"), of("2", "y")], ...asked)).toMatch(
    /; a of x should end in about 15 s; a of y is past its usual time$/,
  );
  expect(says([of("1", "x"), of("2", "x")], ...asked)).toMatch(
    /; a should end in about 15 s; a is past its usual time$/,
  );
});

test("where one runs code of the program, the busy threads are a least number", () => {
  const udf = running("2", "b", [1]);
  if (udf.pulse) udf.pulse.user_code = { id: 3, kind: "sink", name: "score" };
  expect(says([running("1", "a", [8]), udf])).toBe("2 running, at least 9.0 threads busy");
  expect(says([udf], ...late("2"))).toBe("1 running, at least 1.0 threads busy; b is past its usual time");
});

test("a late query that ended is not counted", () =>
  expect(says([running("1", "a", [0])], ...late("gone"))).toBe("1 running, 0.0 threads busy"));

test("threads of an engine that does not count its work are not known, and not none", () => {
  const daft = running("2", "b", []);
  expect(says([daft])).toBe("1 running");
  expect(says([running("1", "a", [8]), daft])).toBe("2 running, at least 8.0 threads busy");
  expect(says([{ ...daft, pulse: undefined }])).toBe("1 running");
});

test("counters that stand still before they told any work do not say that no thread is busy", () => {
  const still = (threads: number[], quiet_ms: number): Running => {
    const one = running("1", "a", threads);
    return one.pulse ? { ...one, pulse: { ...one.pulse, quiet_ms } } : one;
  };
  const duckdb = still([0.003, 0, 0], 1000);
  expect(busyWords(duckdb.pulse)).toBe("not counted");
  expect(says([duckdb])).toBe("1 running");
  expect(says([duckdb, running("2", "b", [8])])).toBe("2 running, at least 8.0 threads busy");
  expect(says([duckdb, running("2", "b", [0])])).toBe("2 running");
  // Counters that told work before, or that move, tell of none at work.
  expect(says([still([8, 0], 1000)])).toBe("1 running, 0.0 threads busy");
  expect(says([still([0, 0], 0)])).toBe("1 running, 0.0 threads busy");
});

test("counters that stand still are told in the sentence of how far it is", () => {
  const pulse = running("1", "a", [1]).pulse;
  const words = "longer than 3 of 9 earlier runs; it reads 3.0x the rows of those";
  expect(pulse && `${words}; ${quietWords({ ...pulse, quiet_ms: 8000 })}`).toBe(
    `${words}; no counter has changed for 8 s`,
  );
  expect(pulse && quietWords({ ...pulse, quiet_ms: 5000 })).toBe("");
  expect(quietWords(undefined)).toBe("");
  // What works in the program's code is in no counter, and DuckDB tells of none before the end.
  expect(
    pulse && quietWords({ ...pulse, quiet_ms: 8000, user_code: { id: 1, kind: "PROJECTION", name: "rate" } }),
  ).toBe("");
  const still = pulse && { ...pulse, quiet_ms: 8000, threads: [0, 0] };
  expect(still && [quietWords(still), quietWords({ ...still, rows_read: 7 })]).toEqual([
    "",
    "no counter has changed for 8 s",
  ]);
});

test("nodes that ended are counted once one has told that it ended", () => {
  const pulse = running("1", "a", [1]).pulse;
  expect(pulse && [0, 1].map((done) => doneWords({ ...pulse, done, nodes: 5 }))).toEqual(["–", "1 of 5"]);
  expect(doneWords(undefined)).toBe("–");
});

test("a long query that ended just now comes before short ones that started after it", () => {
  const ended = (id: string, startedMs: number, wall_ms: number | null): Running["query"] => ({
    ...running(id, id, [], startedMs).query,
    status: "finished",
    wall_ms,
  });
  const runs = [ended("short", 8000, 100), ended("long", 1000, 8000), ended("silent", 2000, null)];
  expect(runs.sort(lastEndedFirst).map(({ query_id }) => query_id)).toEqual(["long", "short", "silent"]);
});

test("a query that starts takes the last place", () => {
  const ids = oldestFirst([running("new", "a", [], 9), running("old", "b", [], 5)]).map(({ query }) => query.query_id);
  expect(ids).toEqual(["old", "new"]);
});

test("threads that nothing counts are not said to be none", () => {
  const pulse = (threads: number[], isUser = false): Running["pulse"] => {
    const of = running("1", "a", threads).pulse;
    return of && isUser ? { ...of, user_code: { id: 3, kind: "sink", name: "score" } } : of;
  };
  expect([undefined, pulse([]), pulse([0]), pulse([2]), pulse([0], true), pulse([2], true)].map(busyWords)).toEqual([
    "–",
    "not counted",
    "0.0",
    "2.0",
    "not counted",
    "at least 2.0",
  ]);
});

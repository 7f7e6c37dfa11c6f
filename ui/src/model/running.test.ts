import { expect, test } from "vitest";
import type { Running } from "../live/hub";
import { firstLine, lastEndedFirst, oldestFirst } from "./running";

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
const late = (...ids: string[]): Map<string, boolean> => new Map(ids.map((id) => [id, true]));

test("the line names the one that is late, and counts several", () => {
  expect(firstLine([], late())).toBe("Nothing is running");
  const two = [running("1", "a", [8]), running("2", null, [1, 3.2])];
  expect(firstLine(two, new Map([["1", false]]))).toBe("2 running, 11.2 threads busy");
  expect(firstLine(two, late("1"))).toBe("2 running, 11.2 threads busy; a is past its usual time");
  expect(firstLine(two, late("2"))).toBe("2 running, 11.2 threads busy; 1 is past its usual time");
  expect(firstLine(two, late("1", "2"))).toBe("2 running, 11.2 threads busy; 2 are past their usual time");
});

test("where one runs code of the program, the busy threads are a least number", () => {
  const udf = running("2", "b", [1]);
  if (udf.pulse) udf.pulse.user_code = { id: 3, kind: "sink", name: "score" };
  expect(firstLine([running("1", "a", [8]), udf], late())).toBe("2 running, at least 9.0 threads busy");
  expect(firstLine([udf], late("2"))).toBe("1 running, at least 1.0 threads busy; b is past its usual time");
});

test("a late query that ended is not counted", () =>
  expect(firstLine([running("1", "a", [0])], late("gone"))).toBe("1 running, 0.0 threads busy"));

test("threads of an engine that does not count its work are not known, and not none", () => {
  const daft = running("2", "b", []);
  expect(firstLine([daft], late())).toBe("1 running");
  expect(firstLine([running("1", "a", [8]), daft], late())).toBe("2 running, at least 8.0 threads busy");
  expect(firstLine([{ ...daft, pulse: undefined }], late())).toBe("1 running");
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

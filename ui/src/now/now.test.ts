import { expect, test } from "vitest";
import type { Running } from "../live/hub";
import { firstLine, oldestFirst } from "./now";

const running = (query_id: string, label: string | null, threads: number[], startedMs = 0): Running => ({
  query: {
    query_id, stream_id: "s", project: "p", host: "h", status: "running", warnings: 0, rules: [], label,
    started_unix_ns: BigInt(startedMs) * 1_000_000n,
  },
  pulse: { query_id, elapsed_ms: 0, threads, done: 0, nodes: 1, quiet_ms: 0 },
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

test("a late query that ended is not counted", () =>
  expect(firstLine([running("1", "a", [])], late("gone"))).toBe("1 running, 0.0 threads busy"));

test("a query that starts takes the last place", () => {
  const ids = oldestFirst([running("new", "a", [], 9), running("old", "b", [], 5)]).map(({ query }) => query.query_id);
  expect(ids).toEqual(["old", "new"]);
});

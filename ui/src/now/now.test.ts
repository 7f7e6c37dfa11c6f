import { expect, test } from "vitest";
import type { LabelOverview } from "../api/client";
import type { Running } from "../live/hub";
import { firstLine } from "./now";

const running = (label: string | null, startedMs: number, threads: number[]): Running => ({
  query: { query_id: "q", stream_id: "s", project: "p", host: "h", status: "running", started_unix_ns: BigInt(startedMs) * 1_000_000n, warnings: 0, rules: [], label },
  pulse: { query_id: "q", elapsed_ms: 0, threads, done: 0, nodes: 1, quiet_ms: 0 },
});
const usual = new Map(["a", "b"].map((label) => [label, { usual_wall_ms: 10_000, usual_band_ms: [9000, 11_000] } as LabelOverview]));

test("the line names the one that is late, and counts several", () => {
  expect(firstLine([], usual, 0)).toBe("Nothing is running");
  expect(firstLine([running("a", 0, [8]), running(null, 0, [1, 3.2])], usual, 5000)).toBe("2 running, 11.2 threads busy");
  expect(firstLine([running("a", 0, [8]), running("b", 15_000, [])], usual, 20_000)).toBe("2 running, 8.0 threads busy; a is past its usual time");
  expect(firstLine([running("a", 0, []), running("b", 0, [])], usual, 20_000)).toBe("2 running, 0.0 threads busy; 2 are past their usual time");
});

test("what its plan says of a query counts more than what its label says", () => {
  expect(firstLine([running("a", 0, [])], usual, 20_000, new Map([["q", false]]))).toBe("1 running, 0.0 threads busy");
  expect(firstLine([running("a", 0, [])], usual, 1000, new Map([["q", true]]))).toBe("1 running, 0.0 threads busy; a is past its usual time");
});

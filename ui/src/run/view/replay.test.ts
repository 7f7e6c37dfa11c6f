import { expect, test } from "vitest";
import type { QuerySummary } from "../../api/client";
import { readRecording } from "../../model/run/run";
import { RunData } from "./data.svelte";
import { KeptChoices } from "./kept.svelte";
import { Replay } from "./replay.svelte";

const EVENTS = [
  { type: "process", id: "s" },
  {
    type: "query.started",
    query_id: "q",
    profile: {
      schema: "engine-telemetry/profile@1",
      query_id: "q",
      wall_ms: 0,
      plan: { physical: [{ id: 1, kind: "Sort", role: "sort", inputs: [] }], logical: [] },
    },
  },
  { type: "query.progress", query_id: "q", elapsed_ms: 1000, nodes: { 1: { busy_ns: 9e8 } } },
];

function replay(status: QuerySummary["status"], t?: string, more: readonly object[] = []): Replay {
  const samples = more.map((sample) => ({ type: "query.progress", query_id: "q", ...sample }));
  const text = [...EVENTS, ...samples].map((event, seq) =>
    JSON.stringify({ schema: "engine-telemetry/events@1", seq, ...event }),
  );
  const run = readRecording(text.join("\n")).runs.get("q");
  if (run === undefined) throw new Error("no such run");
  const data = new RunData(run, []);
  data.summary = { status } as QuerySummary;
  return new Replay(data, new KeptChoices({ t }));
}

test("nodes of a run that was lost work at a moment that is replayed, and no longer", () => {
  expect(replay("running").showsWork).toBe(true);
  expect(replay("unfinished").showsWork).toBe(false);
  expect(replay("unfinished", "1000").showsWork).toBe(true);
  expect(replay("unfinished").moment.nodes.get("1")?.threads).toBeCloseTo(0.9);
});

test("where most of the time is in no counter, shares are of the time of the run", () => {
  const share = (replay: Replay): number | null | undefined => replay.moment.nodes.get("1")?.share;
  expect([share(replay("running")), replay("running").nodesTime]).toEqual([1, "CPU"]);
  const few = replay("running", undefined, [{ elapsed_ms: 10_000, nodes: { 1: { busy_ns: 3e6 } } }]);
  expect(share(few)).toBeCloseTo(0.0003);
  expect(few.nodesTime).toBe("time");
  expect(share(replay("running", "5000", [{ elapsed_ms: 10_000, nodes: { 1: { busy_ns: 3e6 } } }]))).toBeCloseTo(0.18);
});

import { expect, test } from "vitest";
import { captured, everything } from "./captures";
import { firstLine, firstSentence, savesAtMost, standingOf } from "./firstline";
import { momentAt } from "./moment";
import { Run } from "./run";

const said = (label: string, usual: { wallMs: number; runs: number } | null = null): string => {
  const run = captured(label);
  const { state, cause } = firstLine(run, momentAt(run, null), standingOf(run), usual);
  return [state, cause].filter(Boolean).join(" ");
};

test("the first line says how it went and where the time is", () => {
  expect(said("join/exploding", { wallMs: 17, runs: 37 })).toMatchInlineSnapshot(`"Finished in 39 ms, 2.3x its usual time (17 ms, n = 37). 97 % of the CPU is in EquiJoin #4, whose output is 522x its input."`);
  expect(said("unique/redundant", { wallMs: 1900, runs: 8 })).toMatchInlineSnapshot(`"Finished in 1.87 s, as usual for its plan (1.9 s, n = 8). 69 % of the CPU is in GroupBy #3: deduplication removes no rows."`);
  expect(said("scan/csv", { wallMs: 900, runs: 3 })).toMatchInlineSnapshot(`"Finished in 295 ms; too few runs to say what is usual (3). 100 % of the CPU is in MultiScan #1, which read 45.2 MiB."`);
  expect(said("wide/concat-60-groupbys")).toMatchInlineSnapshot(`"Finished in 403 ms. No node stands out: the five hottest of 422 take 18 % of the CPU."`);
});

test("a failed run says its error's first line", () => {
  const failed = [...everything().runs.values()].find((run) => run.finished?.failed);
  expect(failed && firstLine(failed, momentAt(failed, null), standingOf(failed), null).state).toMatch(/^Failed after .*: .+[.…]$/);
  expect(firstSentence("no such column: price\nThis error occurred here", 100)).toBe("no such column: price");
  expect(firstSentence("an error that goes on and on", 10)).toBe("an error…");
});

test("a running query is compared only once it is past its usual time", () => {
  const run = captured("unique/redundant");
  const line = (wallMs: number): string => firstLine(run, momentAt(run, 1500), "running", { wallMs, runs: 9 }).state;
  expect(line(3000)).toBe("Running for 1.87 s, usually 3 s, n = 9.");
  expect(line(1000)).toBe("Running for 1.87 s, 1.9x its usual time (1 s, n = 9).");
});

test("a query that hardly works is said to wait, not to be hot somewhere", () => {
  const run = new Run("q");
  const nodes = [{ id: "1", kind: "Scan", role: "scan" as const, inputs: [], properties: {}, metrics: { total_time_ns: 5_000_000 } }];
  const plain = captured("scan/csv").finished;
  if (!plain) throw new Error("the capture has no end");
  run.add({ type: "finished", queryId: "q", seq: 1, profile: { ...plain, wallMs: 13_000, plan: { physical: nodes, logical: [] } } });
  expect(firstLine(run, momentAt(run, null), "finished", null).cause).toBe("It waited most of the time: 5 ms of CPU.");
});

test("a finding saves no more than the time in which nothing else ran", () => {
  const run = captured("unique/redundant");
  const [first] = run.finished?.findings ?? [];
  expect(first && Math.round(savesAtMost(first, run.elapsedMs) ?? 0)).toBe(1125);
});

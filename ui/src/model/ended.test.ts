import { expect, test } from "vitest";
import type { QuerySummary } from "../api/client";
import { endedLast, inSeries, readPage } from "./ended";

const run = (query_id: string, startedS: number, more: Partial<QuerySummary> = {}): QuerySummary => ({
  query_id,
  stream_id: "s",
  project: "p",
  host: "h",
  status: "finished",
  warnings: 0,
  rules: [],
  wall_ms: 1000,
  started_unix_ns: BigInt(startedS) * 1_000_000_000n,
  ...more,
});
const inWords = (runs: readonly QuerySummary[]): string[] =>
  inSeries(runs).map(({ run, earlier }) => ids([run, ...earlier]));
const ids = (runs: readonly QuerySummary[]): string => runs.map(({ query_id }) => query_id).join(" ");

test("a full page says nothing of what ended before it, and each run is there once", () => {
  const failed = { status: "failed" } as const;
  const states = [
    readPage([run("d", 9), run("c", 8)], 2),
    readPage([run("b", 7, failed), run("long", 1, { ...failed, wall_ms: 9000 }), run("a", 2, failed)], 5),
  ];
  const none = readPage([], 9, 100n * 1_000_000_000n);
  expect(ids(endedLast(states, none))).toBe("d long c b");
  const any = readPage([run("r", 9, { status: "running" }), run("d", 9), run("c", 8), run("b", 7, failed)], 9);
  expect(ids(endedLast(states, any))).toBe("d long c b a");
});

test("three runs and more that differ in their times alone are one", () => {
  const all = [run("a", 9), run("b", 8), run("c", 7), run("d", 6, { label: "x" }), run("e", 5), run("f", 4)];
  const failed = [1, 2, 3].map((at) => run(`g${at}`, 3, { status: "failed", failed: `at ${at}` }));
  expect(inWords([...all, ...failed])).toEqual(["a b c", "d", "e", "f", "g1", "g2", "g3"]);
  const warned = run("w", 8, { rules: ["python_udf"] });
  expect(inWords([run("a", 9), run("b", 8), warned, run("c", 7)])).toEqual(["a", "b", "w", "c"]);
});

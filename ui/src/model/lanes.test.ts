import { expect, test } from "vitest";
import type { QuerySummary } from "../api/client";
import { hasStart, lanesOf } from "./lanes";

const SINCE = 1000;
const NOW = 2000;
let count = 0;
const run = (
  service: string | null,
  fromMs: number,
  wall_ms: number | null,
  more: Partial<QuerySummary> = {},
): QuerySummary => ({
  query_id: `id${(count += 1)}`,
  stream_id: "s",
  project: "p",
  host: "h",
  service,
  status: wall_ms === null ? "running" : "finished",
  warnings: 0,
  rules: [],
  wall_ms,
  started_unix_ns: BigInt(fromMs) * 1_000_000n,
  ...more,
});
const lanes = (runs: QuerySummary[], most = 6): unknown =>
  lanesOf(runs, "service", SINCE, NOW, most).map(({ name, rows, bars }) => [
    name,
    rows,
    bars.map(({ fromMs, toMs, row }) => [fromMs, toMs, row]),
  ]);

test("runs that overlap stand in rows of their own, and a row is used again", () => {
  expect(lanes([run("a", 1100, 300), run("a", 1200, 50), run("a", 1300, 100), run("a", 1500, null)])).toEqual([
    [
      "a",
      2,
      [
        [1100, 1400, 0],
        [1200, 1250, 1],
        [1300, 1400, 1],
        [1500, NOW, 0],
      ],
    ],
  ]);
});

test("what lies before is left out, and one that began before is there", () => {
  expect(lanes([run("a", 100, 300), run("a", 900, 300), run("a", 2100, 5)])).toEqual([["a", 1, [[900, 1200, 0]]]]);
});

test("the same run counts once, and the least lanes share one", () => {
  const twice = run("a", 1100, 300);
  expect(lanes([twice, twice, run(null, 1100, 200), run("c", 1100, 100)], 2)).toEqual([
    ["a", 1, [[1100, 1400, 0]]],
    [
      undefined,
      2,
      [
        [1100, 1300, 0],
        [1100, 1200, 1],
      ],
    ],
  ]);
});

test("a span in which no run started is known", () => {
  const drawn = lanesOf([run("a", 1100, 300), run("b", 1500, null)], "service", SINCE, NOW, 6);
  expect([1000, 1200, 1500].map((from) => hasStart(drawn, from, from + 150))).toEqual([true, false, true]);
});

import { expect, test } from "vitest";
import type { QuerySummary } from "../api/client";
import { crosses, dots, nearest, scatter, type Point } from "./scatter";

const DAY = 86_400_000;
const run = (atMs: number, wall: number | null): QuerySummary => ({
  query_id: `${atMs}`,
  stream_id: "s",
  project: "p",
  host: "h",
  status: "finished",
  started_unix_ns: BigInt(atMs) * 1_000_000n,
  warnings: 0,
  rules: [],
  wall_ms: wall,
});

const at = (x: number, y: number): Point => ({ x, y, query: run(1, 1), status: "finished" });

test("twice as slow is the same way up everywhere", () => {
  const { points } = scatter([run(1, 10), run(2, 20), run(3, 40), run(4, null)], 0, 10, 0, 500, 300);
  const [a, b, c] = points.map(({ y }) => y);
  expect((a ?? 0) - (b ?? 0)).toBeCloseTo((b ?? 0) - (c ?? 0));
  expect(points).toHaveLength(3);
});

test("what ran outside the range is left out", () =>
  expect(scatter([run(1, 10), run(99, 10)], 0, 50, 0, 500, 300).points).toHaveLength(1));

test("no runs still have axes", () => expect(scatter([], 0, DAY, 0, 500, 300).wallTicks.length).toBeGreaterThan(2));

test("the nearest point within reach", () => {
  const points = [at(0, 0), at(10, 0)];
  expect(nearest(points, 8, 1, 5)).toBe(1);
  expect(nearest(points, 8, 9, 5)).toBeUndefined();
});

test("many marks are one path", () => {
  const points = [at(1, 2), at(3, 4)];
  expect(dots(points)).toBe("M1.0 2.0h0M3.0 4.0h0");
  expect(crosses(points.slice(0, 1), 1)).toBe("M0.0 1.0l2 2m-2 0l2 -2");
});

test("runs that take the same time stand in the middle, with times above and below them", () => {
  const { points, wallTicks: ticks, plot } = scatter([run(1, 1870), run(2, 1870)], 0, 10, 0, 500, 300);
  expect(points[0]?.y).toBeCloseTo((plot.top + plot.bottom) / 2);
  expect(ticks.map(({ text }) => text)).toEqual(["1 s", "2 s"]);
});

test("a chart that is not laid out has no negative width", () => {
  const { plot } = scatter([], 0, 1000, 0, 0, 100);
  expect(plot.right).toBe(plot.left);
});

import { expect, test } from "vitest";
import type { LabelOverview } from "../api/client";
import type { Change } from "../model/change";
import { DAY_NS, dayCells, dayOf } from "./days";

const cells = (usual: number | null, ...medians: (number | null)[]): ReturnType<typeof dayCells> =>
  dayCells({
    usual_wall_ms: usual,
    recent_wall_ms: 2,
    days: medians.map((median_wall_ms) => ({
      runs: 3,
      failed: median_wall_ms === null ? 3 : 0,
      cancelled: median_wall_ms === null ? 1 : 0,
      median_wall_ms,
    })),
  } as unknown as LabelOverview);

test("the colour follows the usual time, the number says the same", () => {
  const found = cells(10, 6, 10, 13, 15, 30, 60);
  expect(found.map(({ heat }) => heat)).toEqual([-1, 0, 1, 2, 3, 4]);
  expect(found.map(({ text }) => text)).toEqual(["1.7x ↓", "", "1.3x", "1.5x", "3.0x", "6.0x"]);
});

test("a day on which all runs failed has no time", () =>
  expect(cells(10, null)[0]).toMatchObject({
    heat: undefined,
    text: "",
    failed: 2,
    cancelled: 1,
    title: "3 runs, 2 failed, 1 cancelled",
  }));

test("without a usual time no day is judged, and none looks as usual", () => {
  const found = cells(null, 1, 2, null);
  expect(found.map(({ heat, text }) => [heat, text])).toEqual([
    ["few", ""],
    ["few", ""],
    [undefined, ""],
  ]);
  expect(found[1]?.title).toBe("3 runs, median 2 ms, too few earlier runs to judge it");
  expect(cells(2, 40)[0]?.title).toBe("3 runs, median 40 ms, 20x the usual time");
});

test("a moment is of the day before whose end it was", () => {
  const days = [10n, 20n];
  const moments = [9n, 10n, 19n, 20n, 20n + DAY_NS - 1n, 20n + DAY_NS];
  expect(moments.map((moment) => dayOf(moment, days))).toEqual([-1, 0, 0, 1, 1, -1]);
});

test("while a change of all its runs is open, the days are held against the runs before it", () => {
  const label = { usual_wall_ms: 20, days: [{ runs: 3, failed: 0, cancelled: 0, median_wall_ms: 20 }] };
  const change = { kind: "slower", before: { runs: 9, failed: 0, median_wall_ms: 10 }, since_unix_ns: 9n };
  const cell = (more: Partial<Change> = {}): unknown =>
    dayCells(label as unknown as LabelOverview, { ...change, ...more } as Change)[0];
  expect(cell()).toMatchObject({ heat: 3, title: "3 runs, median 20 ms, 2.0x the median before its change" });
  expect(cell({ host: "h" })).toMatchObject({ heat: 0, title: "3 runs, median 20 ms, 1.0x the usual time" });
});

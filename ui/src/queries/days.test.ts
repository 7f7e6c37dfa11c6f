import { expect, test } from "vitest";
import type { LabelOverview } from "../api/client";
import type { Change } from "../model/change";
import { DAY_NS } from "../model/range";
import { columnOf, columnsOf, dayCells } from "./days";

const cells = (usual: number | null, ...medians: (number | null)[]): ReturnType<typeof dayCells> =>
  dayCells({
    usual_wall_ms: usual,
    recent_wall_ms: 2,
    days: medians.map((median_wall_ms) => ({
      runs: 7,
      failed: median_wall_ms === null ? 3 : 0,
      cancelled: median_wall_ms === null ? 1 : 0,
      unfinished: median_wall_ms === null ? 4 : 0,
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
    others: 5,
    title: "7 runs, 2 failed, 1 cancelled, 4 unfinished",
  }));

test("a day on which most runs failed is shown as one that failed", () => {
  const day = (failed: number): unknown => {
    const days = [{ runs: 24, failed, cancelled: 0, unfinished: 0, median_wall_ms: 10 }];
    return dayCells({ usual_wall_ms: 10, days } as unknown as LabelOverview)[0];
  };
  expect(day(13)).toMatchObject({ heat: undefined, failed: 13 });
  expect(day(12)).toMatchObject({ heat: 0, failed: 12 });
});

test("without a usual time no day is judged, and none looks as usual", () => {
  const found = cells(null, 1, 2, null);
  expect(found.map(({ heat, text }) => [heat, text])).toEqual([
    ["few", ""],
    ["few", ""],
    [undefined, ""],
  ]);
  expect(found[1]?.title).toBe("7 runs, median 2 ms, too few earlier runs to judge it");
  expect(cells(2, 40)[0]?.title).toBe("7 runs, median 40 ms, 20x the usual time");
});

const NS = 1_000_000_000n;

test("a moment is of the column before whose end it was", () => {
  const columns = { begins: [10n, 20n], ns: 10n, isOfSlices: true };
  expect([9n, 10n, 19n, 20n, 29n, 30n].map((moment) => columnOf(moment, columns))).toEqual([-1, 0, 0, 1, 1, -1]);
});

test("a range of less than two days is shown by its slices", () => {
  const range = { days: [0n, DAY_NS], since_unix_ns: 5n, now_unix_ns: 5n + 200n * NS, slice_ns: 60_000_000_000 };
  expect(columnsOf(range)).toEqual({
    begins: [0n, 60n, 120n, 180n].map((seconds) => 5n + seconds * NS),
    ns: 60n * NS,
    isOfSlices: true,
  });
  expect(columnsOf({ ...range, now_unix_ns: 5n + 2n * DAY_NS })).toEqual({
    begins: range.days,
    ns: DAY_NS,
    isOfSlices: false,
  });
});

test("of a slice the median alone is known, and one in which nothing finished is empty", () => {
  const found = dayCells({ usual_wall_ms: 10, bins: [null, 20] } as unknown as LabelOverview, undefined, true);
  expect(found).toMatchObject([
    { heat: undefined, isEmpty: true },
    { heat: 3, isEmpty: false, title: "median 20 ms, 2.0x the usual time" },
  ]);
});

test("while a change of all its runs is open, the days are held against the runs before it", () => {
  const label = { usual_wall_ms: 20, days: [{ runs: 3, failed: 0, cancelled: 0, median_wall_ms: 20 }] };
  const change = { kind: "slower", before: { runs: 9, failed: 0, median_wall_ms: 10 }, since_unix_ns: 9n };
  const cell = (more: Partial<Change> = {}): unknown =>
    dayCells(label as unknown as LabelOverview, { ...change, ...more } as Change)[0];
  expect(cell()).toMatchObject({ heat: 3, title: "3 runs, median 20 ms, 2.0x the median before its change" });
  expect(cell({ host: "h" })).toMatchObject({ heat: 0, title: "3 runs, median 20 ms, 1.0x the usual time" });
  // The median of the day on which it began is of both sides.
  const began = (more: Partial<Change>): unknown =>
    dayCells(label as unknown as LabelOverview, { ...change, factor: 4.3, ...more } as Change, false, 0)[0];
  expect(began({})).toMatchObject({ heat: 4, text: "4.3x", title: "3 runs, median 20 ms, its change began" });
  expect(began({ host: "h" })).toMatchObject({ heat: 0, text: "", title: "3 runs, median 20 ms, its change began" });
});

import { expect, test } from "vitest";
import { drawn, middleOf, sliceWords, timesOf, yOf, type SeriesGroup, type SeriesSlice } from "./series";

const slice = (runs: number, p50_ms: number | null, p95_ms: number | null = null, failed = 0): SeriesSlice => ({
  runs,
  failed,
  cancelled: 0,
  unfinished: 0,
  p50_ms,
  p95_ms,
});
const group = (...slices: SeriesSlice[]): SeriesGroup => ({
  value: null,
  values: 1,
  all: slice(0, null),
  total_wall_ms: 0,
  slices,
});
const PLOT = { left: 0, right: 40, first: 0, last: 40, top: 0, bottom: 100, barsTop: 100, foot: 120 };

test("a slice in which nothing finished is a gap, and the scale has room", () => {
  const one = group(slice(1, 10), slice(1, 10), slice(2, null, null, 2), slice(1, 100, 1000));
  const times = timesOf([one]);
  expect(times?.map((ms) => Math.round(ms * 10) / 10)).toEqual([8.7, 1150]);
  const paths = drawn(one, [10, 1000], PLOT, 2);
  const dot = "m-1.2 1.2h2.4m0-1.2h-2.4m0-1.2h2.4";
  expect(paths.p50).toBe(`M5.0 100.0h0L15.0 100.0M35.0 50.0${dot}`);
  expect(paths.p95).toBe(`M35.0 0.0${dot}`);
  expect(paths.failed).toBe("M21.0 120h8.0v-20.0h-8.0z");
  expect(paths.runs.match(/M/g)).toHaveLength(4);
  const counts = drawn(one, undefined, PLOT, 2);
  expect([counts.p50, counts.p95, counts.failed]).toEqual(["", "", paths.failed]);
});

test("slices stand where their time is on the axis, and end with it", () => {
  const one = group(slice(1, 10), slice(1, 10), slice(1, 10), slice(1, 10));
  // The axis begins within the second slice and ends within the third.
  const plot = { ...PLOT, left: 0, right: 40, first: -40, last: 60 };
  const paths = drawn(one, [10, 1000], plot, 1);
  expect(paths.p50).toBe("M5.0 100.0h0L22.5 100.0L37.5 100.0");
  expect(paths.runs).toBe("M1.0 120h8.0v-20.0h-8.0zM11.0 120h23.0v-20.0h-23.0zM35.8 120h3.3v-20.0h-3.3z");
  expect(middleOf(3, 4, plot)).toBe(37.5);
});

test("figures of wide slices are drawn over their whole width", () => {
  const one = group(slice(1, 10), slice(1, 100), slice(1, null), slice(1, 10));
  const plot = { ...PLOT, right: 220, last: 240 };
  expect(drawn(one, [10, 1000], plot, 1).p50).toBe("M0.0 100.0H60.0L60.0 50.0H120.0M180.0 100.0H220.0");
});

test("where nothing finished there is no scale, and a time stands on it by its logarithm", () => {
  expect(timesOf([group(slice(2, null))])).toBeUndefined();
  expect(yOf(100, [10, 1000], PLOT)).toBeCloseTo(50, 9);
});

test("a slice is said in words", () => {
  expect(sliceWords({ ...slice(37, 41_000, 52_000, 3), cancelled: 1 })).toBe(
    "median 41 s, 95th percentile 52 s, 37 runs, 2 failed, 1 cancelled",
  );
  expect(sliceWords(slice(1, null))).toBe("nothing finished, 1 run");
});

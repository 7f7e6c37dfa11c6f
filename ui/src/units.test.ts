import { describe, expect, test } from "vitest";
import {
  capital,
  elapsedMs,
  epochMs,
  exactTime,
  formatAgo,
  formatBytes,
  formatCount,
  formatDuration,
  formatRatio,
  formatShare,
  formatThreads,
  formatTime,
  heatOf,
  plural,
  unbroken,
} from "./units";

test.each([
  [null, "–"],
  [0, "0 ms"],
  [0.0000004, "<1 ns"],
  [0.0004, "400 ns"],
  [0.42, "420 µs"],
  [0.99951, "1 ms"],
  [41.26, "41.3 ms"],
  [309.4, "309 ms"],
  [999.6, "1 s"],
  [1603.4, "1.6 s"],
  [94_000, "94 s"],
  [119_499, "119 s"],
  [120_000, "2 min"],
  [281_384, "4 min 41 s"],
  [694_937, "11.6 min"],
  [3_600_000, "1 h"],
  [7_500_000, "2 h 05 min"],
  [44_280_000, "12.3 h"],
  [180_000_000, "2.08 d"],
  [-1500, "-1.5 s"],
])("%d ms is said as %s", (ms, said) => expect(formatDuration(ms)).toBe(said));

test.each([
  [undefined, "–"],
  [0, "0"],
  [999, "999"],
  [999.6, "1 k"],
  [8059, "8.06 k"],
  [1_234_567, "1.23 M"],
  [9_007_199_254_740_993n, "9.01 P"],
])("%s rows are said as %s", (rows, said) => expect(formatCount(rows)).toBe(said));

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "0.977 KiB"],
  [1024, "1 KiB"],
  [1_572_864, "1.5 MiB"],
  [5 * 1024 ** 4, "5 TiB"],
])("%d bytes are said as %s", (bytes, said) => expect(formatBytes(bytes)).toBe(said));

test.each([
  [0, "0 %"],
  [0.0004, "<0.1 %"],
  [0.003, "0.3 %"],
  [0.0417, "4.2 %"],
  [0.0996, "10 %"],
  [0.713, "71 %"],
  [1, "100 %"],
])("a share of %d is said as %s", (share, said) => expect(formatShare(share)).toBe(said));

test.each([
  [0.4989, "0.5x"],
  [0, "0x"],
  [0.00000005, "<0.001x"],
  [0.0004, "<0.001x"],
  [0.001, "0.001x"],
  [0.04, "0.04x"],
  [1.983, "2.0x"],
  [9.96, "10x"],
  [40.2, "40x"],
  [999.6, "1,000x"],
  [1234, "1,230x"],
  [Infinity, "–"],
])("a ratio of %d is said as %s", (ratio, said) => expect(formatRatio(ratio)).toBe(said));

test("threads have one digit after the point", () =>
  expect([0, 0.27, 11.24, 128.4].map(formatThreads)).toEqual(["0.0", "0.3", "11.2", "128"]));

test("heat has fixed steps, so that two queries compare", () =>
  expect([null, 0.009, 0.01, 0.05, 0.15, 0.29, 0.3, 1].map(heatOf)).toEqual([0, 0, 1, 2, 3, 3, 4, 4]));

describe("times", () => {
  const time = 1_795_206_683_609_778_763n;
  const now = Date.UTC(2026, 10, 20, 23, 0);

  test("the date is left out today, the clock in another year", () => {
    expect(formatTime(time, "utc", now)).toBe("20:31");
    expect(formatTime(time, "utc", now, true)).toBe("20:31:23");
    expect(formatTime(time, "utc", now + 86_400_000)).toBe("20 Nov 20:31");
    expect(formatTime(time, "utc", Date.UTC(2027, 1, 1))).toBe("20 Nov 2026");
    expect(formatTime(null, "utc", now)).toBe("–");
  });

  test("the tooltip holds every nanosecond and the zone", () => {
    expect(exactTime(time, "utc")).toBe("2026-11-20 20:31:23.609778763 UTC");
    expect(exactTime(time, "local")).toMatch(/^2026-11-2\d \d\d:\d\d:23\.609778763 [+-]\d\d:\d\d$/);
  });

  test("differences are taken before they become doubles", () => {
    expect(elapsedMs(time, time + 1n)).toBe(1e-6);
    expect(epochMs(time)).toBe(1_795_206_683_609);
  });

  test("ages", () =>
    expect([0, 14_000, 180_000, 18_000_000, 777_600_000].map(formatAgo)).toEqual([
      "just now",
      "14 s ago",
      "3 min ago",
      "5 h ago",
      "9 d ago",
    ]));
});

test("a number and its unit stay on one line", () =>
  expect(unbroken("2 queries: 85.3 s in 24 runs, 71 %, 4 min 05 s, 3 MiB, 2 threads")).toBe(
    "2 queries: 85.3\u00a0s in 24 runs, 71\u00a0%, 4\u00a0min 05\u00a0s, 3\u00a0MiB, 2 threads",
  ));

test("a sentence begins in upper case", () =>
  expect([capital("filter on region before HashJoin"), capital("éa"), capital("")]).toEqual([
    "Filter on region before HashJoin",
    "Éa",
    "",
  ]));

test("what is shown as 1 is one", () => {
  expect([1, 1n, 1.001, 0, 1.34, 2].map((count) => plural(count, "thread"))).toEqual([
    "1 thread",
    "1 thread",
    "1 thread",
    "0 threads",
    "1.34 threads",
    "2 threads",
  ]);
});

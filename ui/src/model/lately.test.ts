import { expect, test } from "vitest";
import type { LabelOverview } from "../api/client";
import { isAsUsual, isFew, latelyWords } from "./lately";

const label = {
  runs: 100,
  judged: true,
  usual_wall_ms: 41_000,
  usual_band_ms: [40_000, 43_000],
  recent_wall_ms: 41_800,
  recent_runs: 9,
  recent_failed: 0,
} as LabelOverview;

test("as usual is said of a median within the usual band, where enough runs were compared and none failed", () => {
  expect(isAsUsual(label)).toBe(true);
  for (const other of [
    { judged: false },
    { recent_wall_ms: 39_999 },
    { recent_wall_ms: 43_001 },
    { recent_wall_ms: null },
    { usual_band_ms: null },
    { recent_failed: 1 },
  ]) {
    expect(isAsUsual({ ...label, ...other }), JSON.stringify(other)).toBe(false);
  }
});

test("runs are few in which a change may not show yet", () => {
  expect(isFew({ ...label, recent_runs: 3 }, 8), "as usual").toBe(false);
  const far = { ...label, recent_wall_ms: 60_000 };
  expect([isFew({ ...far, recent_runs: 3 }, 8), isFew(far, 8)]).toEqual([true, false]);
  const young = { ...label, judged: false, usual_wall_ms: null, usual_band_ms: null };
  expect([isFew({ ...young, runs: 7 }, 8), isFew({ ...young, runs: 8 }, 8)]).toEqual([true, false]);
});

test("what ran lately is said with its runs where these are the last ones", () => {
  expect(latelyWords(label)).toBe("41.8 s lately, usually 41 s");
  expect(latelyWords({ ...label, recent_runs: 3, usual_wall_ms: null })).toBe("41.8 s in its last 3 runs");
  expect(latelyWords({ ...label, recent_spread_ms: [2.2, 45_000] })).toBe("2.2 ms to 45 s lately, usually 41 s");
  expect(latelyWords({ ...label, recent_runs: 1 })).toBe("41.8 s in its last run, usually 41 s");
  expect(latelyWords({ ...label, recent_wall_ms: null })).toBe("usually 41 s");
  expect(latelyWords({ ...label, recent_wall_ms: null, usual_wall_ms: null })).toBe("");
});

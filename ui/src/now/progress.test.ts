import { expect, test } from "vitest";
import type { LabelOverview } from "../api/client";
import { progressOf } from "./progress";

const usual = { usual_wall_ms: 40_000, usual_band_ms: [35_000, 60_000] } as LabelOverview;

test("late is later than three quarters of the usual runs", () => {
  expect(progressOf(20_000, usual)).toEqual({ share: 0.5, words: "usually 40 s", isLate: false });
  expect(progressOf(60_000, usual)?.isLate).toBe(false);
  expect(progressOf(92_000, usual)).toEqual({ share: 2.3, words: "2.3x its usual time (40 s)", isLate: true });
});

test("without a usual time nothing is said", () => {
  expect(progressOf(20_000, undefined)).toBeUndefined();
  expect(progressOf(20_000, { usual_wall_ms: null } as LabelOverview)).toBeUndefined();
});

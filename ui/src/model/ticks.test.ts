import { expect, test } from "vitest";
import { timeTicks, wallTicks } from "./ticks";

const DAY = 86_400_000;

test("ticks are round, and few", () => {
  expect(wallTicks(900, 130_000)).toEqual([1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000]);
  expect(wallTicks(0.1, 1e9).length).toBeLessThanOrEqual(8);
  expect(timeTicks(DAY / 2, 4 * DAY, 0, 5)).toEqual([DAY, 2 * DAY, 3 * DAY, 4 * DAY]);
  expect(timeTicks(0, 10 * DAY, 0, 5)).toEqual([0, 2, 4, 6, 8, 10].map((day) => day * DAY));
});

test("a short time has ticks of the day", () => {
  const minutes = timeTicks(DAY - 126 * 60_000, DAY, 0, 5).map((ms) => (DAY - ms) / 60_000);
  expect(minutes).toEqual([120, 90, 60, 30, 0]);
  expect(timeTicks(5000, 185_000, 0, 16).map((ms) => ms / 1000)).toEqual([
    15, 30, 45, 60, 75, 90, 105, 120, 135, 150, 165, 180,
  ]);
});

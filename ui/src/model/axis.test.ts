import { expect, test } from "vitest";
import { axisOf } from "./axis";

const DAY = 86_400_000;
const HOUR = DAY / 24;
const axis = (atMs: readonly number[], ...moments: bigint[]): number[] =>
  axisOf(
    atMs.map((ms) => ({ started_unix_ns: BigInt(ms) * 1_000_000n })),
    moments,
    0,
    10 * DAY,
  );

test("a young label fills the axis of time", () => {
  expect(axis([10 * DAY - 2 * HOUR, 10 * DAY - HOUR / 2])).toEqual([10 * DAY - 2.1 * HOUR, 10 * DAY]);
  expect(axis([DAY, 9 * DAY])).toEqual([0, 10 * DAY]);
  expect(axis([10 * DAY - 1000])).toEqual([10 * DAY - 189_000, 10 * DAY]);
});

test("a label that stopped has half of its time behind its last run, and all that is marked", () => {
  expect(axis([DAY, DAY + 2 * HOUR])).toEqual([DAY - 0.15 * HOUR, DAY + 3 * HOUR]);
  expect(axis([DAY])).toEqual([DAY - 99_000, DAY + 90_000]);
  expect(axis([DAY], BigInt(5 * DAY) * 1_000_000n)).toEqual([0, 7 * DAY]);
});

import { expect, test } from "vitest";
import { largestShift, medianMs } from "./shift";

const runs = (...times: number[]): Parameters<typeof largestShift>[0] => times.map((wallMs, at) => ({ startedNs: BigInt(at), wallMs }));

test("the shift is where the sides differ most", () =>
  expect(largestShift(runs(10, 11, 10, 9, 10, 23, 24, 22, 23))).toEqual({ at: 5n, before: 10, after: 23, ratio: 2.3, runsBefore: 5, runsAfter: 4 }));

test("one slow run is not a shift, nor is noise", () => {
  expect(largestShift(runs(10, 11, 10, 90, 10, 11, 10, 10))).toBeUndefined();
  expect(largestShift(runs(10, 12, 9, 11, 10, 12, 9, 11))).toBeUndefined();
  expect(largestShift(runs(10, 30))).toBeUndefined();
  expect(largestShift([])).toBeUndefined();
});

test("the median of an even number lies between the middle ones", () => expect(medianMs(runs(1, 9, 3, 5))).toBe(4));

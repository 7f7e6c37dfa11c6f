import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { remainingOf } from "./remaining";

const says = (given: Partial<Schemas["Progress"]>): ReturnType<typeof remainingOf> => remainingOf({ query_id: "q", status: "running", runs: 40, ...given });

test("what remains is an interval with its basis", () =>
  expect(says({ longer_than: 21, remaining_ms: { p50: 8300, p90: 31_000 }, done: { low: 0.66, high: 0.88 } })).toEqual({
    words: "8.3 s to 31 s more, by 40 runs of its plan", done: { low: 0.66, high: 0.88 }, isLate: false,
  }));

test("later than nearly all earlier runs is late", () => {
  expect(says({ longer_than: 38 })).toEqual({ words: "already longer than 38 of 40 runs of its plan", done: undefined, isLate: true });
  expect(says({ longer_than: 36, remaining_ms: { p50: 1000, p90: 2000 } })?.words).toBe("longer than 36 of 40 runs of its plan; 1 s to 2 s more, by 40 runs of its plan");
});

test("without a basis nothing is said", () => {
  expect(says({ runs: 2 })).toBeUndefined();
  expect(says({ longer_than: 0 })).toBeUndefined();
  expect(remainingOf(undefined)).toBeUndefined();
});

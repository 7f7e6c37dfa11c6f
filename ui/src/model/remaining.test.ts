import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { remainingOf } from "./remaining";

const says = (given: Partial<Schemas["Progress"]>, laterMs = 0): ReturnType<typeof remainingOf> =>
  remainingOf({ query_id: "q", status: "running", runs: 40, is_late: false, ...given }, laterMs);
const remaining_ms = { p10: 2100, p50: 8300, p90: 31_000 };

test("what remains is an interval with its basis", () => {
  const done = { low: 0.66, high: 0.88 };
  expect(says({ longer_than: 21, remaining_ms, basis: "the last 40 runs of its plan", done })).toEqual({
    words: "2.1 s to 31 s more (the last 40 runs of its plan)",
    isKnown: true,
    isLate: false,
    ...done,
  });
});

test("later than nearly all earlier runs is late", () => {
  const basis = "the last 40 runs of its plan";
  expect(says({ longer_than: 38, is_late: true, basis })).toEqual({
    words: "longer than 38 of the last 40 runs of its plan",
    isKnown: false,
    isLate: true,
    low: 0,
    high: 0,
  });
  expect(says({ longer_than: 40, basis })).toMatchObject({
    words: "already longer than 40 of the last 40 runs of its plan",
    low: 1,
    high: 1,
  });
  expect(says({ runs: 16, longer_than: 12, change: "slower-1", basis: "16 runs before its change" })?.words).toBe(
    "longer than 12 of 16 runs before its change",
  );
});

test("the line of a late run names one set of runs", () => {
  const basis = "the last 12 runs of its plan since its change";
  expect(says({ longer_than: 36, is_late: true, remaining_ms, basis, change: "slower-1" })?.words).toBe(
    `late: 2.1 s to 31 s more (${basis})`,
  );
});

test("a run that reads more than the others is not late", () => {
  const basis = "3.0 times the rows of usual; the last 40 runs of its plan";
  expect(says({ longer_than: 40, remaining_ms, basis, rows_read_factor: 3 })).toMatchObject({
    words: `2.1 s to 31 s more (${basis})`,
    isLate: false,
  });
  const more = says({ longer_than: 40, rows_read_factor: 3, basis: "40 earlier runs" })?.words;
  expect(more).toBe("already longer than 40 of 40 earlier runs; so far it has read 3.0x the rows of its last runs");
});

test("without a basis nothing is said", () => {
  expect(says({ runs: 2 })).toBeUndefined();
  expect(says({ longer_than: 0, basis: "40 earlier runs" })).toBeUndefined();
  expect(says({ longer_than: 3 })).toBeUndefined();
  expect(remainingOf(undefined, 0)).toBeUndefined();
});

test("what remains is counted from the answer on", () => {
  expect(says({ remaining_ms }, 1100)?.words).toBe("1 s to 29.9 s more");
  expect(says({ remaining_ms }, 4000)?.words).toBe("up to 27 s more");
  expect(says({ remaining_ms, is_late: true }, 31_000)?.words).toBe("late: any moment");
});

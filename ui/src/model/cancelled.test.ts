import { expect, test } from "vitest";
import { failureWords, isCancelled, onlyFailed, otherEnds, shownStatus } from "./cancelled";

test("a run that was stopped did not fail", () => {
  const texts = [
    "cancelled",
    " Cancelled. ",
    "python: KeyboardInterrupt:.",
    "dropped",
    "Query was cancelled",
    "asyncio.exceptions.CancelledError: ",
    "InterruptException: INTERRUPT Error: Interrupted!",
    "canceling statement due to user request",
  ];
  expect(texts.filter((text) => !isCancelled(text))).toEqual([]);
  const failures = ["the table was dropped", "column cancelled_at not found", "SystemExit: 1", "", null, undefined];
  expect(failures.filter(isCancelled)).toEqual([]);
  expect(shownStatus({ status: "failed", failed: "cancelled" })).toBe("cancelled");
  expect(shownStatus({ status: "failed", failed: "disk full" })).toBe("failed");
  expect(shownStatus({ status: "unfinished", failed: null })).toBe("unfinished");
});

test("cancelled runs are counted apart from the failed ones they are among", () => {
  expect(onlyFailed({ failed: 3, cancelled: 1 })).toBe(2);
  const words = [
    { failed: 0, cancelled: 0 },
    { failed: 3, cancelled: 0 },
    { failed: 3, cancelled: 1 },
    { failed: 3, cancelled: 3 },
    { failed: 3, cancelled: 1, unfinished: 2 },
  ].map(failureWords);
  expect(words).toEqual([
    "",
    "3 failed",
    "2 failed, 1 cancelled",
    "3 cancelled",
    "2 failed, 1 cancelled, 2 unfinished",
  ]);
  expect(otherEnds({ failed: 3, cancelled: 0 })).toEqual([]);
  expect(otherEnds({ failed: 3, cancelled: 1, unfinished: 2 })).toEqual([
    ["cancelled", 1],
    ["unfinished", 2],
  ]);
});

import { expect, test } from "vitest";
import { isCancelled, shownStatus } from "./cancelled";

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

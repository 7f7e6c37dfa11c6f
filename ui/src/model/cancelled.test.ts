import { expect, test } from "vitest";
import { isCancelled, shownStatus } from "./cancelled";

test("a run that was stopped did not fail", () => {
  const texts = ["cancelled", " Cancelled. ", "python: KeyboardInterrupt:.", "dropped", "Query was cancelled"];
  expect(texts.filter((text) => !isCancelled(text))).toEqual([]);
  const failures = ["the table was dropped", "ComputeError: division by zero", "", null, undefined];
  expect(failures.filter(isCancelled)).toEqual([]);
  expect(shownStatus({ status: "failed", failed: "cancelled" })).toBe("cancelled");
  expect(shownStatus({ status: "failed", failed: "disk full" })).toBe("failed");
  expect(shownStatus({ status: "unfinished", failed: null })).toBe("unfinished");
});

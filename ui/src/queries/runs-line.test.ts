import { expect, test } from "vitest";
import { runsLine, type ListedRuns } from "./runs-line";

const counts = [
  { value: "finished", runs: 4000 },
  { value: "failed", runs: 50 },
  { value: "running", runs: 1 },
];
const says = (given: Partial<ListedRuns>): string =>
  runsLine({ filters: {}, counts, read: 200, hasMore: true, ...given }, (time) => `t${time}`);

test("runs are counted as runs, in the range that is in force", () => {
  expect(says({})).toBe("4.05 k runs in all, 50 failed or cancelled, 1 running");
  expect(says({ filters: { since: "5" } })).toBe("4.05 k runs since t5, 50 failed or cancelled, 1 running");
  expect(says({ filters: { since: "5", until: "9" } })).toBe(
    "4.05 k runs from t5 to t9, 50 failed or cancelled, 1 running",
  );
  expect(says({ filters: { until: "9", service: "s" } })).toBe(
    "4.05 k runs until t9 match the filters, 50 failed or cancelled, 1 running",
  );
  expect(says({ filters: { status: "failed" } })).toBe("50 runs match the filters");
  expect(says({ filters: { status: "running" } })).toBe("1 run matches the filters");
  expect(says({ filters: { status: "unfinished" } })).toBe("0 runs match the filters");
});

test("a search says how many were found, and that there are more", () => {
  expect(says({ filters: { q: "x" } })).toBe('More than 200 runs match "x"');
  expect(says({ filters: { q: "x", service: "s" }, read: 3, hasMore: false })).toBe('3 runs match "x" and the filters');
  expect(says({ filters: { q: "x" }, read: 1, hasMore: false })).toBe('1 run matches "x"');
});

test("where there is nothing, it says so", () => {
  expect(says({ counts: [], read: 0, hasMore: false })).toBe("No run is stored");
  expect(says({ counts: [], filters: { since: "5" } })).toBe("No run is stored since t5");
});

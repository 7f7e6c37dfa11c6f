import { expect, test } from "vitest";
import { runsLine, type ListedRuns } from "./runs-line";

const counts = [
  { value: "finished", runs: 4000 },
  { value: "failed", runs: 50 },
  { value: "running", runs: 1 },
];
const says = (given: Partial<ListedRuns>): string =>
  runsLine({ filters: {}, counts, cancelled: 0, found: undefined, read: 200, hasMore: true, ...given }, "in 14 days");

test("runs are counted as runs, in the range that is in force", () => {
  expect(says({})).toBe("4.05 k runs in 14 days, 50 failed, 1 running");
  expect(says({ cancelled: 20 })).toBe("4.05 k runs in 14 days, 30 failed, 20 cancelled, 1 running");
  expect(says({ cancelled: 50 })).toBe("4.05 k runs in 14 days, 50 cancelled, 1 running");
  expect(says({ filters: { since: "5", until: "9" } })).toBe("4.05 k runs in 14 days, 50 failed, 1 running");
  expect(says({ filters: { service: "s" } })).toBe("4.05 k runs in 14 days match the filters, 50 failed, 1 running");
  expect(says({ filters: { status: "failed" } })).toBe("50 runs in 14 days match the filters");
  expect(says({ filters: { status: "running" } })).toBe("1 run in 14 days matches the filters");
  expect(says({ filters: { status: "unfinished" } })).toBe("0 runs in 14 days match the filters");
});

test("a search says how many were found, and that there are more", () => {
  expect(says({ filters: { q: "x" } })).toBe('More than 200 runs in 14 days match "x"');
  expect(says({ filters: { q: "x", service: "s" }, read: 3, hasMore: false })).toBe(
    '3 runs in 14 days match "x" and the filters',
  );
  expect(says({ filters: { q: "x" }, read: 1, hasMore: false })).toBe('1 run in 14 days matches "x"');
});

test("a search that is counted says how many match, and not how many were read", () => {
  expect(says({ filters: { q: "wall>1s" }, found: { of: 3700, isLeast: false } })).toBe(
    '3.7 k runs in 14 days match "wall>1s"',
  );
  expect(says({ filters: { q: "-read>1GB" }, found: { of: 3700, isLeast: false } })).toMatch(/^About 3\.7.k runs/);
  expect(says({ filters: { q: "wall>1s", status: "failed" }, found: { of: 3700, isLeast: true } })).toBe(
    'At least 3.7 k runs in 14 days match "wall>1s" and the filters',
  );
  // Where all are read, the list is newer than the count.
  expect(says({ filters: { q: "wall>1s" }, read: 5, hasMore: false, found: { of: 4, isLeast: false } })).toBe(
    '5 runs in 14 days match "wall>1s"',
  );
});

test("where there is nothing, it says so", () => {
  expect(says({ counts: [], read: 0, hasMore: false })).toBe("No run started in 14 days");
  expect(says({ counts: [], filters: { since: "5" } })).toBe("No run started in 14 days");
});

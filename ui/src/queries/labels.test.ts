import { expect, test } from "vitest";
import type { LabelOverview } from "../api/client";
import { firstLine, matching, sorted } from "./labels";

const label = (name: string, total: number, ratio: number | null, more: Partial<LabelOverview> = {}): LabelOverview => ({
  label: name, service: `service-${name}`, runs: 500, failed: 0, failed_before: 0, recent_runs: 9, recent_failed: 0, total_wall_ms: total,
  ratio, verdict: null, rules: [], new_rules: [], bins: [], days: [], ...more,
});
const labels = [label("b", 10, null), label("c", 30, 2), label("a", 60, 3)];
const names = (found: LabelOverview[]): string => found.map(({ label }) => label).join("");

test("numbers sort the largest first, names from A, the unknown last both ways", () => {
  expect(names(sorted(labels, "share", false))).toBe("acb");
  expect(names(sorted(labels, "label", false))).toBe("abc");
  expect(names(sorted(labels, "ratio", false))).toBe("acb");
  expect(names(sorted(labels, "ratio", true))).toBe("cab");
});

test("a search looks into label and service, whatever the case", () => {
  expect(names(matching(labels, "SERVICE-B", false))).toBe("b");
  expect(names(matching([...labels, label("d", 1, 9, { verdict: "slower" })], "", true))).toBe("d");
});

test("the first line names what took most", () => {
  expect(firstLine(labels, 14)).toBe("3 queries, 1.5 k runs in 14 days; a took 60 % of the time");
  expect(firstLine([], 1)).toBe("No query with a label ran in 1 day");
});

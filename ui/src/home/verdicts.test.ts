import { expect, test } from "vitest";
import type { LabelOverview } from "../api/client";
import { basis, changed, firstLine, isFailing, judge } from "./verdicts";

const label = (given: Partial<LabelOverview>): LabelOverview => ({
  label: "a", runs: 100, failed: 0, failed_before: 0, recent_runs: 10, recent_failed: 0, total_wall_ms: 1, usual_wall_ms: 1000,
  recent_wall_ms: 1000, ratio: 1, verdict: null, rules: [], new_rules: [], bins: [], days: [], ...given,
});
const judged = (...given: Partial<LabelOverview>[]): ReturnType<typeof judge>[] => given.map((one) => judge(label(one)));

test("failing is more than a failure now and then", () => {
  expect(isFailing(label({ recent_failed: 0 }))).toBe(false);
  expect(isFailing(label({ recent_failed: 1, recent_runs: 144, failed_before: 10 }))).toBe(false);
  expect(isFailing(label({ recent_failed: 5 }))).toBe(true);
  expect(isFailing(label({ recent_failed: 3, runs: 110, failed_before: 9 }))).toBe(true);
  expect(isFailing(label({ recent_failed: 3, runs: 110, failed_before: 20 }))).toBe(false);
});

test("the first line says what got worse before what did not", () => {
  const usual = Array<Partial<LabelOverview>>(41).fill({});
  const all = judged({ verdict: "slower" }, { verdict: "slower" }, { recent_failed: 9 }, ...usual);
  expect(firstLine(all, "14:02")).toBe("2 queries are slower than usual, 1 fails since 14:02; 41 run as usual");
  expect(firstLine(judged({ recent_failed: 9 }), undefined)).toBe("1 query fails");
  expect(firstLine(judged({ verdict: "slower" }, { verdict: "faster" }), undefined)).toBe("1 query is slower than usual; 1 is faster");
  expect(firstLine(judged({}), undefined)).toBe("Nothing got worse: 1 runs as usual");
  expect(firstLine(judged({}, { usual_wall_ms: null }), undefined)).toBe("Nothing got worse: 1 runs as usual, 1 has too few runs to judge");
  expect(firstLine([], undefined)).toBe("Nothing has run in this time");
});

test("the worst comes first, and within a kind what costs most", () => {
  const all = judged({ label: "f", verdict: "faster" }, { label: "s", verdict: "slower", recent_wall_ms: 2000 }, { label: "u" },
    { label: "S", verdict: "slower", recent_wall_ms: 9000 }, { label: "w", new_rules: ["x"] }, { label: "!", recent_failed: 10 });
  expect(changed(all).map(({ label }) => label.label)).toEqual(["!", "S", "s", "w", "f"]);
});

test("one label may have changed in several ways", () =>
  expect(judged({ verdict: "slower", plan_changed_unix_ns: 5n, new_rules: ["exploding_join"] })[0]?.changes).toEqual(["slower", "warning", "plan"]));

test("a verdict says its basis", () => {
  expect(basis(label({ verdict: "slower", ratio: 2.3, recent_wall_ms: 94_000, usual_wall_ms: 41_000 }))).toBe("94 s in 10 runs, usually 41 s (2.3x slower)");
  expect(basis(label({ verdict: "faster", ratio: 0.5, recent_wall_ms: 500 }))).toBe("500 ms in 10 runs, usually 1 s (2.0x faster)");
  expect(basis(label({ recent_runs: 2 }))).toBe("1 s, usually 1 s (1.0x, too few runs (2))");
  expect(basis(label({ recent_wall_ms: null, recent_failed: 10 }))).toBe("usually 1 s");
  expect(basis(label({ usual_wall_ms: null, recent_runs: 2 }))).toBe("1 s; too few runs to say what is usual (2, it takes 5 before them)");
});

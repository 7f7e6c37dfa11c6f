import { expect, test } from "vitest";
import type { LabelOverview } from "../api/client";
import { basis, changed, count, emptyLine, firstLine, hasNews, isFailing, judge } from "./verdicts";

const label = (given: Partial<LabelOverview>): LabelOverview => ({
  label: "a", services: 1, runs: 100, failed: 0, failed_before: 0, recent_runs: 10, recent_failed: 0,
  total_wall_ms: 1, usual_wall_ms: 1000, recent_wall_ms: 1000, ratio: 1, verdict: null, rules: [], new_rules: [],
  bins: [], days: [], ...given,
});
const judged = (...given: Partial<LabelOverview>[]): ReturnType<typeof judge>[] =>
  given.map((one) => judge(label(one)));

test("failing is more than a failure now and then", () => {
  expect(isFailing(label({ recent_failed: 0 }))).toBe(false);
  expect(isFailing(label({ recent_failed: 1, recent_runs: 144, failed_before: 10 }))).toBe(false);
  expect(isFailing(label({ recent_failed: 5 }))).toBe(true);
  expect(isFailing(label({ recent_failed: 3, runs: 110, failed_before: 9 }))).toBe(true);
  expect(isFailing(label({ recent_failed: 3, runs: 110, failed_before: 20 }))).toBe(false);
});

/**
 * The first line of so many queries, of which these changed and so many have too few runs. `read`: so many of those
 * without a change were read.
 */
function says(labels: number, young: number, given: Partial<LabelOverview>[], { since, isCut = false, read }: {
  since?: string; isCut?: boolean; read?: number;
} = {}): string {
  const totals = { labels, runs: 0, failed: 0, total_wall_ms: 0, slower: 0, faster: 0 };
  const unchanged = Array.from({ length: read ?? labels - given.length }, (_, at) =>
    label(at < young ? { usual_wall_ms: null } : {}),
  );
  const queries = [...given.map((one) => label(one)), ...unchanged];
  return firstLine(count(changed(judged(...given)), { totals, queries }, isCut), since);
}

test("the first line says what got worse before what did not", () => {
  const worse = [{ verdict: "slower" }, { verdict: "slower" }, { recent_failed: 9 }] as const;
  expect(says(44, 0, [...worse], { since: "14:02" }))
    .toBe("2 queries are slower than usual, 1 fails since 14:02; 41 run as usual");
  expect(says(1, 0, [{ recent_failed: 9 }])).toBe("1 query fails");
  expect(says(2, 0, [{ verdict: "slower" }, { verdict: "faster" }])).toBe("1 query is slower than usual; 1 is faster");
  expect(says(1, 0, [])).toBe("Nothing got worse: 1 runs as usual");
  expect(says(2, 1, [])).toBe("Nothing got worse: 1 runs as usual, 1 has too few runs to judge");
});

test("a query with a new warning or plan does not run as usual", () => {
  expect(says(3, 0, [{ new_rules: ["x"] }, { plan_changed_unix_ns: 5n }]))
    .toBe("Nothing got worse: 1 has a new warning, 1 has a new plan, 1 runs as usual");
});

test("a failing query without a usual time counts as failing, not as one of too few runs", () =>
  expect(says(2, 0, [{ recent_failed: 9, usual_wall_ms: null }])).toBe("1 query fails; 1 runs as usual"));

test("where not all were read, it does not say that the others run as usual", () => {
  expect(says(900, 0, [{ verdict: "slower" }], { read: 9 })).toBe("1 query is slower than usual; 899 show no change");
  expect(says(900, 9, [], { read: 9 })).toBe("Nothing got worse: 900 show no change");
});

test("where nothing can be judged, it does not say that nothing got worse", () => {
  expect(says(1, 1, [])).toBe("Nothing can be judged yet: 1 query has too few runs");
  expect(says(2, 2, [])).toBe("Nothing can be judged yet: 2 queries have too few runs");
});

test("where more changed than were read, it says at least", () =>
  expect(says(900, 0, [{ verdict: "slower" }, { recent_failed: 9 }], { isCut: true }))
    .toBe("At least 1 query is slower than usual, at least 1 fails"));

test("where nothing with a label ran, runs without one may have", () => {
  expect(emptyLine(14, false)).toBe("No query with a label ran in 14 days");
  expect(emptyLine(1, true)).toBe("No query with a label matches the filters in 1 day");
});

test("news are what the service lists first", () => {
  const news: Partial<LabelOverview>[] = [
    { verdict: "faster" }, { recent_failed: 1 }, { new_rules: ["x"] }, { plan_changed_unix_ns: 5n },
  ];
  expect(news.map((given) => hasNews(label(given)))).toEqual([true, true, true, true]);
  expect(hasNews(label({}))).toBe(false);
});

test("the worst comes first, and within a kind what costs most", () => {
  const all = judged(
    { label: "f", verdict: "faster" }, { label: "s", verdict: "slower", recent_wall_ms: 2000 }, { label: "u" },
    { label: "S", verdict: "slower", recent_wall_ms: 9000 }, { label: "w", new_rules: ["x"] },
    { label: "!", recent_failed: 10 },
  );
  expect(changed(all).map(({ label }) => label.label)).toEqual(["!", "S", "s", "w", "f"]);
});

test("one label may have changed in several ways", () =>
  expect(judged({ verdict: "slower", plan_changed_unix_ns: 5n, new_rules: ["exploding_join"] })[0]?.changes)
    .toEqual(["slower", "warning", "plan"]));

test("a verdict says its basis", () => {
  expect(basis(label({ verdict: "slower", ratio: 2.3, recent_wall_ms: 94_000, usual_wall_ms: 41_000 })))
    .toBe("94 s in 10 runs, usually 41 s (2.3x slower)");
  expect(basis(label({ verdict: "faster", ratio: 0.5, recent_wall_ms: 500 })))
    .toBe("500 ms in 10 runs, usually 1 s (2.0x faster)");
  expect(basis(label({ recent_runs: 2 }))).toBe("1 s, usually 1 s (1.0x, too few runs (2))");
  expect(basis(label({ recent_wall_ms: null, recent_failed: 10 }))).toBe("usually 1 s");
  expect(basis(label({ usual_wall_ms: null, recent_runs: 2 })))
    .toBe("1 s; too few runs to say what is usual (2, it takes 5 before them)");
});

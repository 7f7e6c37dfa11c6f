import { expect, test } from "vitest";
import type { LabelOverview } from "../api/client";
import type { Shift } from "./shift";
import { verdict } from "./verdict";

const said = (time: bigint): string => `t${time}`;
const label = (given: Partial<LabelOverview>): LabelOverview => ({
  label: "a", services: 1, runs: 100, failed: 0, failed_before: 0, recent_runs: 37, recent_failed: 0, total_wall_ms: 1,
  usual_wall_ms: 41_000, recent_wall_ms: 94_000, ratio: 2.3, verdict: null, rules: [], new_rules: [], bins: [],
  days: [], ...given,
});
const says = (given: Partial<LabelOverview>, shift?: Partial<Shift>, failingSince?: bigint): string =>
  verdict({ label: label(given), shift: shift as Shift | undefined, failingSince }, said);

test("slower says since when, against what, and whether the plan changed", () => {
  expect(says({ verdict: "slower", plan_changed_unix_ns: 9n }))
    .toBe("2.3x slower than usual since t9 (94 s in 37 runs, usually 41 s): the plan changed");
  expect(says({ verdict: "slower" }, { at: 7n, ratio: 2 }))
    .toBe("2.3x slower than usual since t7 (94 s in 37 runs, usually 41 s). Its plan is the same");
  expect(says({ verdict: "slower" }, { at: 7n, ratio: 0.5 }))
    .toBe("2.3x slower than usual (94 s in 37 runs, usually 41 s). Its plan is the same");
  expect(says({ verdict: "faster", ratio: 0.5 }, { at: 7n, ratio: 0.5 })).toMatch(/^2\.0x faster than usual since t7/);
});

test("failing comes before slow", () =>
  expect(says({ verdict: "slower", recent_failed: 37 }, undefined, 5n))
    .toBe("Fails since t5: 37 of its last 37 runs (usually it takes 41 s)"));

test("as usual, with its basis; too few runs says so", () => {
  expect(says({ ratio: 1.02, recent_wall_ms: 41_820 })).toBe("Runs as usual (41.8 s in 37 runs, usually 41 s)");
  expect(says({ ratio: 1.02, recent_wall_ms: 41_820, plan_changed_unix_ns: 3n }))
    .toBe("Runs as usual (41.8 s in 37 runs, usually 41 s), with a new plan since t3");
  expect(says({ usual_wall_ms: null, runs: 3 }))
    .toBe("Too few runs (3) to say what is usual; it takes 5 before the last ones");
});

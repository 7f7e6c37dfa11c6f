import { expect, test } from "vitest";
import {
  addedBusyMs,
  byInterest,
  type Comparison,
  comparisonLine,
  isComparable,
  mostMoved,
  pairName,
  planLine,
  rowsOut,
  signedDuration,
  toWaterfall,
} from "./comparison";

type Part = Comparison["account"]["parts"][number];
type Parts = (Pick<Part, "cause" | "ns"> & Partial<Part>)[];

function comparison(before: number, now: number, parts: Parts): Comparison {
  const summary = { status: "finished" } as Comparison["run"];
  return {
    base: summary,
    run: summary,
    basis: "plan",
    runs: 9,
    same_plan: true,
    nodes: [],
    differences: [],
    base_physical_fingerprint: "p1",
    run_physical_fingerprint: "p1",
    account: {
      base_wall_ns: before,
      run_wall_ns: now,
      difference_ns: now - before,
      parts: parts.map((part) => ({ evidence: [], sentence: "", ...part })),
    },
  };
}

test("two logical plans of the same nodes are not told as one plan", () => {
  const of = (fields: Partial<Comparison>, fingerprint = "l1"): string => {
    const compared = comparison(1, 2, []);
    const run = { ...compared.run, fingerprint };
    return planLine({ ...compared, base: { ...compared.base, fingerprint: "l1" }, run, ...fields });
  };
  expect(of({})).toBe("Both ran the same plan, as far as the engine describes it.");
  expect(of({}, "l2")).toMatch(/^The logical plan is another one/);
  // Another file: both fingerprints have its name.
  expect(of({ run_physical_fingerprint: "p2" }, "l2")).toBe(
    "Both ran the same plan, as far as the engine describes it.",
  );
  expect(of({ same_plan: false }, "l2")).toBe("The plan is another one.");
  // The line before says so.
  const slower = comparison(1e9, 3e9, [{ cause: "plan_change", ns: 2e9 }]);
  expect(planLine({ ...slower, same_plan: false })).toBe("");
});

test("each step begins where the one before ended, and the last one ends at the run", () => {
  const steps = toWaterfall(
    comparison(1_000_000_000, 1_500_000_000, [
      { cause: "more_rows", ns: 700_000_000 },
      { cause: "waiting", ns: 0 },
      { cause: "fewer_threads", ns: -200_000_000 },
    ]),
  );
  expect(steps.map(({ name, fromMs, untilMs, text }) => `${name}: ${fromMs} to ${untilMs}, ${text}`)).toEqual([
    "Before: 0 to 1000, 1 s",
    "More rows: 1000 to 1700, +700 ms",
    "More threads: 1700 to 1500, −200 ms",
    "This run: 0 to 1500, 1.5 s",
  ]);
  const at = (id: number, kind: string, ns: number): Parts[number] => ({
    cause: "slower_per_row",
    ns,
    node: { id, kind },
  });
  const several = toWaterfall(
    comparison(1e9, 2e9, [at(3, "HashJoin", 5e8), at(6, "HashJoin", 3e8), at(2, "Scan", 2e8)]),
  );
  expect(several.slice(1, -1).map(({ name }) => name)).toEqual([
    "Slower per row: HashJoin #3",
    "Slower per row: HashJoin #6",
    "Slower per row: Scan",
  ]);
  const evidence = [{ name: "threads_used", before: 2, after: 3, unit: "threads" }];
  const busy = toWaterfall(comparison(1e9, 2e9, [{ cause: "fewer_threads", ns: 5e8, evidence }]));
  expect(busy.map(({ name }) => name)).toContain("Fewer threads busy");
  // A part that nobody could see is no step.
  expect(toWaterfall(comparison(1e9, 1e9 + 400, [{ cause: "waiting", ns: 400 }])).map(({ name }) => name)).toEqual([
    "Before",
    "This run",
  ]);
});

test("what the line tells sums to the difference", () => {
  const parts: Parts = [
    { cause: "plan_change", ns: 2e9 },
    { cause: "unexplained", ns: 2e9 },
    { cause: "waiting", ns: 1e9 },
    { cause: "more_rows", ns: -3e9 },
  ];
  expect(comparisonLine(comparison(1e9, 3e9, parts))).toBe(
    "3 s instead of 1 s (3.0x): +2 s. Largest increase: plan change (+2 s).",
  );
  const less: Parts = [
    { cause: "plan_change", ns: 60e9 },
    { cause: "slower_per_row", ns: -8e9 },
    { cause: "unexplained", ns: -3e9 },
  ];
  expect(comparisonLine(comparison(10e9, 59e9, less))).toBe(
    "59 s instead of 10 s (5.9x): +49 s. Largest increase: plan change (+60 s), all else −11 s.",
  );
  expect(comparisonLine(comparison(1e9, 1.01e9, [{ cause: "waiting", ns: 1e7 }]))).toBe(
    "1.01 s instead of 1 s (1.0x). That is about the same.",
  );
  expect(comparisonLine(comparison(2e9, 1e9, [{ cause: "more_rows", ns: -1e9 }]))).toBe(
    "1 s instead of 2 s (0.5x): −1 s. Largest decrease: fewer rows (−1 s).",
  );
});

test("a run that did not finish has no causes, and its time is not compared", () => {
  const pair = comparison(170e6, 22e6, [{ cause: "more_rows", ns: -163e6 }]);
  const line = (run: Partial<Comparison["run"]>, base: Partial<Comparison["run"]> = {}): string =>
    comparisonLine({ ...pair, run: { ...pair.run, ...run }, base: { ...pair.base, ...base } });
  const told = "Only times of runs that finished are comparable.";
  expect(line({ status: "failed", failed: "disk full" })).toBe(
    `This run failed after 22 ms, the other took 170 ms. ${told}`,
  );
  expect(line({ status: "failed", failed: "cancelled" })).toBe(
    `This run was cancelled after 22 ms, the other took 170 ms. ${told}`,
  );
  expect(line({}, { status: "failed" })).toBe(`This run took 22 ms, the other failed after 170 ms. ${told}`);
  expect(line({ status: "running" }, { status: "unfinished" })).toBe(
    `This run has run for 22 ms so far, the other lost contact after 170 ms. ${told}`,
  );
  expect(isComparable(pair)).toBe(true);
  expect(isComparable({ ...pair, base: { ...pair.base, status: "failed" } })).toBe(false);
});

test("nodes whose time moved most come first, of those that moved as much the ones that changed", () => {
  const pair = (id: number, busy: number, delta: number | null) =>
    ({
      fate: delta === null ? "added" : "same",
      changes: [],
      base: delta === null ? null : { id },
      delta: delta === null ? null : { busy_ns: delta },
      run: { id, kind: "Scan", role: "scan", busy_ns: busy },
    }) as unknown as Comparison["nodes"][number];
  const pairs = [pair(1, 900, 10), pair(2, 50, null), pair(3, 70, -60), pair(4, 10, null)];
  expect(byInterest(pairs).map(({ run }) => run?.id)).toEqual([3, 2, 4, 1]);
});

test("the node to blame is the one whose work moved most the way the time went", () => {
  type Pair = Comparison["nodes"][number];
  const node = (id: number, busy_ns: number, rows_out: number) => ({
    id,
    kind: "Scan",
    role: "scan",
    busy_ns,
    rows_out,
  });
  const both = {
    fate: "same",
    changes: [],
    base: node(1, 100, 7),
    run: node(1, 4e6, 7),
    delta: { busy_ns: 3e6 },
  } as unknown as Pair;
  const less = {
    fate: "changed",
    changes: [],
    base: node(2, 9e9, 5),
    run: node(2, 1e9, 6_000),
    delta: { busy_ns: -8e9 },
  } as unknown as Pair;
  const gone = { fate: "removed", changes: [], base: node(3, 9e9, 5), run: null, delta: null } as unknown as Pair;
  const of = (before: number, now: number): Comparison => ({
    ...comparison(before, now, []),
    nodes: [both, less, gone],
  });
  expect(mostMoved(of(1e9, 2e9))).toBe(both);
  expect(mostMoved(of(2e9, 1e9))).toBe(gone);
  expect(pairName(gone)).toBe("Scan #3");
  expect([both, less, gone].map(addedBusyMs)).toEqual([3, -8000, -9000]);
  // A run that failed may tell no time of a node, which did not take none.
  expect(addedBusyMs({ ...both, delta: { ...both.delta, busy_ns: null } } as Pair)).toBeNull();
  expect([both, less, gone].map(rowsOut)).toEqual(["7", "5 → 6 k", "5"]);
});

test("a sink gives no rows on: what it took is told", () => {
  type Pair = Comparison["nodes"][number];
  const sink = (rows_in: number | null): object => ({
    id: 5,
    kind: "InMemorySink",
    role: "sink",
    rows_in,
    rows_out: 0,
  });
  const pair = (base: number | null, run: number | null): Pair =>
    ({ fate: "same", changes: [], base: sink(base), run: sink(run), delta: null }) as unknown as Pair;
  expect([pair(5, 5), pair(5, 6_000), pair(null, null)].map(rowsOut)).toEqual(["5 in", "5 → 6 k in", "–"]);
});

test("a difference has its sign, unless it is too small to be told", () =>
  expect([12, -12, 0, 0.0004, -0.0000004, null].map(signedDuration)).toEqual([
    "+12 ms",
    "−12 ms",
    "0",
    "+400 ns",
    "<1 ns",
    "–",
  ]));

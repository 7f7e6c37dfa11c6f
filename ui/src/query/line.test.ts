import { expect, test } from "vitest";
import type { LabelOverview, Version } from "../api/client";
import type { Change } from "../model/change";
import { figure } from "../model/evidence";
import { plansOf } from "../model/plans";
import { concernsAll, isApart, mainChange, queryLine } from "./line";

const said = (time: bigint): string => `t${time}`;
const label = { label: "a", runs: 100, usual_wall_ms: 41_000, recent_wall_ms: 41_800, recent_runs: 9 } as LabelOverview;
const slower: Change = {
  id: "slower-1",
  label: "a",
  kind: "slower",
  state: "open",
  since_unix_ns: 9n,
  since_query_id: "q",
  before: { runs: 12, median_wall_ms: 300, failed: 0 },
  after: { runs: 6, median_wall_ms: 900, failed: 0 },
  factor: 3,
  causes: [{ cause: "more_rows", share: 1, wall_ms: 600, evidence: [], sentence: "Scan #1 reads 3x the rows" }],
  cost: { runs: 6, extra_wall_ms: 3600, extra_cpu_ms: 0, wall_ms_a_day: 3600 },
  examples: {},
  harmless: [],
};
const grew: Change = { ...slower, id: "g", kind: "data_grew", factor: 1.3 };

test("an open change is said with its cause, the worse first", () => {
  expect(queryLine(label, [slower], "in 14 days", said)).toBe(
    "3.0x slower since t9 (900 ms in 6 runs, before 300 ms in 12). Scan #1 reads 3x the rows.",
  );
  expect(mainChange([grew, slower])).toBe(slower);
  expect(queryLine(label, [{ ...slower, host: "h" }, grew], "in 14 days", said)).toBe(
    "3.0x slower since t9 (900 ms in 6 runs, before 300 ms in 12) on host h. Scan #1 reads 3x the rows. " +
      "1 other change is open.",
  );
});

test("failures are said with their error, and not with their counts again", () => {
  const counts = { cause: "failures" as const, share: 1, wall_ms: 0, evidence: [], sentence: "6 of 6 runs failed" };
  const after = { runs: 6, failed: 6 };
  const failing: Change = { ...slower, kind: "failing", before: { runs: 12, failed: 0 }, after, causes: [counts] };
  const line = (error?: string, ...more: Change[]): string =>
    queryLine(label, [failing, ...more], "in 14 days", said, error);
  expect(line()).toBe("Fails since t9 (6 of 6 runs, before 0 of 12).");
  expect(line("no column x\nat y")).toBe("Fails since t9 (6 of 6 runs, before 0 of 12): no column x.");
  expect(line("no!", grew)).toBe("Fails since t9 (6 of 6 runs, before 0 of 12): no! 1 other change is open.");
  expect(line("x".repeat(199))).toMatch(/: x{160}…$/);
});

test("without a change it says on what runs", () => {
  expect(queryLine(label, [], "in 14 days", said)).toBe(
    "No change is open: 41.8 s lately, usually 41 s, 100 runs in 14 days",
  );
  expect(queryLine({ ...label, runs: 3, usual_wall_ms: null }, [], "in 1 day", said)).toBe(
    "No change is open: 41.8 s lately, 3 runs in 1 day. A change can be found from 8 runs on",
  );
  const lost = { ...label, runs: 1, usual_wall_ms: null, recent_wall_ms: null, unfinished: 1 };
  expect(queryLine(lost, [], "in 1 day", said)).toBe(
    "No change is open: 1 run in 1 day, 1 unfinished. A change can be found from 8 runs on",
  );
  expect(queryLine({ ...label, runs: 8, usual_wall_ms: null, recent_wall_ms: null }, [], "in 1 day", said)).toBe(
    "No change is open: 8 runs in 1 day",
  );
});

test("a change is of all runs that are shown where no other service, environment or host is among them", () => {
  const one = { service: [{ value: "etl", runs: 9 }], environment: [{ value: "prod", runs: 9 }] };
  const two = { service: [...one.service, { value: null, runs: 1 }], environment: one.environment };
  const both = { service: one.service, environment: [...one.environment, { value: "test", runs: 1 }] };
  const change = { service: "etl", environment: "prod", host: null };
  expect(concernsAll(change, one, {})).toBe(true);
  expect(concernsAll(change, two, {})).toBe(false);
  expect(concernsAll(change, two, { service: "etl" })).toBe(true);
  expect(concernsAll(change, both, {})).toBe(false);
  expect(concernsAll(change, both, { environment: "prod" })).toBe(true);
  expect(concernsAll({ ...change, host: "etl-1" }, one, {})).toBe(false);
  expect(concernsAll({ service: null, environment: null }, one, { service: "", environment: "" })).toBe(true);
});

test("figures have the unit that the service names", () => {
  expect(["ms", "ns", "bytes", "rows", "1"].map((unit) => figure(2_000_000, unit))).toEqual([
    "33.3 min",
    "2 ms",
    "1.91 MiB",
    "2 M rows",
    "2 M",
  ]);
  expect(figure(null, "ms")).toBe("–");
});

test("plans that run beside each other are told with the time of each, where the times lie far apart", () => {
  const of = (fingerprint: string, first: bigint, last: bigint, usual_wall_ms: number): Version =>
    ({ fingerprint, first_started_unix_ns: first, last_started_unix_ns: last, usual_wall_ms, runs: 9 }) as Version;
  const apart = { ...label, usual_wall_ms: null, recent_wall_ms: 71, recent_spread_ms: [2, 45_000] };
  const beside = plansOf([of("b", 2n, 9n, 45_000), of("a", 1n, 8n, 2)]);
  expect(queryLine(apart, [], "in 1 day", said, undefined, beside)).toBe(
    "No change is open: usually 2 ms with plan A, 45 s with plan B, 100 runs in 1 day",
  );
  // One took the place of the other, at once or after a while; and one plan alone.
  const after = plansOf([of("b", 2n, 9n, 45_000), of("a", 1n, 1n, 2)]);
  const long = plansOf([of("b", 2n, 90_000_000_000_000n, 45_000), of("a", 1n, 8n, 2)]);
  for (const plans of [after, long, after.slice(0, 1)]) expect(isApart(apart, plans)).toBe(false);
  expect(isApart({ ...apart, recent_spread_ms: null }, beside)).toBe(false);
});

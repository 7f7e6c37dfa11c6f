import { expect, test } from "vitest";
import type { LabelOverview } from "../api/client";
import type { Change } from "../model/change";
import { formatTime } from "../units";
import {
  byQuery,
  changeTime,
  firstLine,
  haveAllFailed,
  isOfShown,
  matching,
  sorted,
  usualOf,
  type Listed,
} from "./labels";

type Entry = LabelOverview;
const label = (name: string, total: number, ratio: number | null, more: Partial<Entry> = {}): Entry => ({
  label: name,
  service: `service-${name}`,
  services: 1,
  runs: 500,
  failed: 0,
  cancelled: 0,
  unfinished: 0,
  failed_before: 0,
  recent_runs: 9,
  recent_failed: 0,
  total_wall_ms: total,
  ratio,
  verdict: null,
  judged: ratio !== null,
  rules: [],
  new_rules: [],
  bins: [],
  days: [],
  ...more,
});
const labels = [label("b", 10, null), label("c", 30, 2), label("a", 60, 3)];
const change = (name: string, kind: Change["kind"], wall_ms_a_day: number): Change =>
  ({ id: `${kind}-${name}`, label: name, service: `service-${name}`, kind, cost: { wall_ms_a_day } }) as Change;
const changes = byQuery([change("c", "slower", 9), change("a", "faster", 5), change("a", "failing", 4)]);
const names = (found: LabelOverview[]): string => found.map(({ label }) => label).join("");

test("numbers sort the largest first, names from A, the unknown last both ways", () => {
  expect(names(sorted(labels, "share", false))).toBe("acb");
  expect(names(sorted(labels, "label", false))).toBe("abc");
  expect(names(sorted(labels, "change", false, changes))).toBe("cab");
  expect(names(sorted(labels, "change", true, changes))).toBe("acb");
});

test("the usual time is that before a change of the times on all hosts, else that of the 14 days before", () => {
  const one = label("a", 60, 3, { usual_wall_ms: 20, usual_band_ms: [18, 22], recent_wall_ms: 12 });
  const before = { runs: 9, failed: 0, median_wall_ms: 10, low_ms: 9, high_ms: 11 };
  const after = { runs: 5, failed: 0, median_wall_ms: 30 };
  const slower = { ...change("a", "slower", 1), before, after, since_unix_ns: 7n };
  expect(usualOf(one, slower)).toEqual({ ms: 10, band: [9, 11], since: 7n, latelyMs: 30 });
  const fortnight = { ms: 20, band: [18, 22], since: undefined, latelyMs: 12 };
  const others = [{ host: "h" }, { kind: "failing" as const }, { before: { runs: 9, failed: 9 } }];
  for (const other of others) expect(usualOf(one, { ...slower, ...other })).toEqual(fortnight);
  expect(usualOf(one, undefined)).toEqual(fortnight);
  // A range that ended before the change knows nothing of it, and one that ended since not all runs after it.
  expect(usualOf(one, slower, 7n)).toEqual(fortnight);
  expect(usualOf(one, slower, 8n)).toEqual({ ms: 10, band: [9, 11], since: 7n, latelyMs: 12 });
  const prod = { ...slower, environment: "prod" };
  expect([undefined, "prod", "test"].map((shown) => isOfShown(prod, shown))).toEqual([false, true, false]);
  expect(isOfShown(slower, undefined)).toBe(true);
  const both = [one, label("b", 10, null, { usual_wall_ms: 15, recent_wall_ms: 20 })];
  expect(names(sorted(both, "usual", false))).toBe("ab");
  expect(names(sorted(both, "usual", false, byQuery([slower])))).toBe("ba");
  expect(names(sorted(both, "lately", false))).toBe("ba");
  expect(names(sorted(both, "lately", false, byQuery([slower])))).toBe("ab");
});

test("a usual time before a change says the time of day: runs of that day came before it, too", () => {
  const since = 1_795_924_680_000_000_000n;
  const text = (time: bigint): string => formatTime(time, "utc", Number(since / 1_000_000n) + 3_600_000);
  expect(changeTime(since, undefined, text)).toBe("03:58");
  const later = (time: bigint): string => formatTime(time, "utc", Number(since / 1_000_000n) + 90_000_000);
  expect(changeTime(since, "prod", later)).toBe("29 Nov 03:58, prod");
});

test("runs that were cancelled are not said to have failed", () => {
  const of = (recent_failed: number, cancelled: number): boolean =>
    haveAllFailed(label("a", 0, null, { recent_runs: 3, recent_failed, cancelled }));
  expect([of(3, 0), of(2, 0), of(3, 1)]).toEqual([true, false, false]);
  expect(haveAllFailed(label("a", 0, null, { recent_runs: 0 }))).toBe(false);
});

test("a search looks into label and service, whatever the case", () => {
  expect(names(matching(labels, "SERVICE-B", undefined))).toBe("b");
  expect(names(matching(labels, "", changes))).toBe("ca");
});

const totals = {
  labels: 3,
  runs: 1500,
  failed: 0,
  cancelled: 0,
  unfinished: 0,
  total_wall_ms: 100,
  slower: 0,
  faster: 0,
  judged: 3,
};
const listed: Listed = {
  rows: labels,
  totals,
  during: "in 14 days",
  find: "",
  onlyChanged: false,
  isFiltered: false,
  read: undefined,
};
const says = (given: Partial<Listed>): string => firstLine({ ...listed, ...given });

test("the first line is of what is listed, and names what took most of it", () => {
  expect(says({})).toBe("3 queries, 1.5 k runs in 14 days; a took 60 % of their time");
  expect(says({ rows: labels.slice(0, 2), find: "c" })).toBe(
    '2 of 3 queries match "c", 1 k runs in 14 days; c took 75 % of their time',
  );
  expect(says({ rows: [], find: "zzzz" })).toBe('0 of 3 queries match "zzzz"');
  expect(says({ rows: labels.slice(0, 1), find: "b" })).toBe('1 of 3 queries matches "b", 500 runs in 14 days');
  expect(says({ rows: [], onlyChanged: true })).toBe("0 of 3 queries changed");
  expect(says({ rows: labels.slice(0, 1), find: "b", onlyChanged: true })).toMatch(
    /^1 of 3 queries matches "b" and changed, /,
  );
});

test("what was not read is not counted as searched", () => {
  expect(says({ rows: [], find: "x", read: 5000, totals: { ...totals, labels: 9000 } })).toBe(
    '0 of the 5 k queries that took the most time match "x"',
  );
  // Without a search the totals count all of them, whatever was read.
  expect(says({ rows: labels.slice(0, 1), read: 1 })).toBe(
    "3 queries, 1.5 k runs in 14 days; b took 10 % of their time",
  );
});

test("where there is nothing, the filters are named only where they are set", () => {
  const none = { rows: [], totals: { ...totals, labels: 0, runs: 0 } };
  expect(says({ ...none, during: "in 1 day" })).toBe("No query with a label ran in 1 day");
  expect(says({ ...none, isFiltered: true })).toBe("No query with a label matches the filters in 14 days");
});

test("a label in two services is named with its service", () => {
  const two = [label("a", 90, 1, { service: "x" }), label("a", 10, 1, { service: "y" })];
  expect(says({ rows: two, totals: { ...totals, labels: 2 } })).toMatch(/; a \(x\) took 90 % of their time$/);
});

test("of several changes of a query, that for the worse counts", () =>
  expect([...changes.values()].map(({ id }) => id)).toEqual(["slower-c", "failing-a"]));

import { expect, test } from "vitest";
import {
  againstBefore,
  cpuShare,
  firstLine,
  formatCost,
  isAllRead,
  matching,
  sortedPlaces,
  versionName,
  worseOf,
  type Place,
  type Places,
} from "./places";

const place = (value: string | null, runs: number, more: Partial<Place> = {}): Place => ({
  value,
  runs,
  running: 0,
  failed: 0,
  cancelled: 0,
  unfinished: 0,
  total_wall_ms: runs,
  total_cpu_ms: null,
  cpu_runs: 0,
  total_bytes_read: null,
  bytes_read_runs: 0,
  ...more,
});
const all: Places = {
  service: [place("etl", 40, { total_wall_ms: 5 }), place(null, 2, { failed: 2, total_wall_ms: 9 })],
  environment: [],
  host: [place("etl-1", 42)],
  owner: [],
};

test("the first line counts what is listed", () => {
  expect(firstLine(all, all, "", "in 14 days")).toBe("1 service and 1 host; 42 runs in 14 days");
  const three = { ...all, environment: [place("prod", 40), place("test", 2)] };
  expect(firstLine(three, three, "", "in 1 day")).toBe("1 service, 2 environments and 1 host; 42 runs in 1 day");
  expect(firstLine(all, matching(all, "ETL"), "ETL", "in 14 days")).toBe(
    '2 of 3 services, environments and hosts match "ETL"',
  );
  expect(firstLine(all, matching(all, "no s"), "no s", "in 14 days")).toMatch(/^1 of 3 .* matches "no s"$/);
  const two = { ...all, service: [place("etl", 30), place("web", 10), place(null, 2)] };
  expect(firstLine(two, two, "", "in 14 days")).toMatch(/; 42 runs in 14 days, 71 % of their time in etl$/);
  const nothing = { service: [], environment: [], host: [], owner: [] };
  expect(firstLine(nothing, nothing, "", "in 1 day")).toBe("Nothing ran in 1 day");
});

test("a version is named with its engines", () => {
  expect(versionName("2.1.0", ["polars"])).toBe("polars 2.1.0");
  expect(versionName("2.0.0", ["duckdb", "polars"])).toBe("duckdb or polars 2.0.0");
  expect(versionName("2.0.0", [null, "polars"])).toBe("another or polars 2.0.0");
  expect([versionName("2.0.0", [null]), versionName("2.0.0"), versionName("none", [])]).toEqual([
    "2.0.0",
    "2.0.0",
    "none",
  ]);
});

test("places are ordered by a figure, or by name with the nameless last", () => {
  const names = (sort: Parameters<typeof sortedPlaces>[1]): unknown =>
    sortedPlaces(all.service, sort).map(({ value }) => value);
  expect(names("time")).toEqual([null, "etl"]);
  expect(names("runs")).toEqual(["etl", null]);
  expect(names("failed")).toEqual([null, "etl"]);
  expect(names("rate")).toEqual([null, "etl"]);
  expect(names("name")).toEqual(["etl", null]);
  const turned = (sort: "name" | "runs"): unknown => sortedPlaces(all.service, sort, true).map(({ value }) => value);
  expect([turned("name"), turned("runs")]).toEqual([
    [null, "etl"],
    [null, "etl"],
  ]);
  const known = [place("a", 1), place("b", 1, { total_cpu_ms: 0 }), place("c", 1, { total_cpu_ms: 5 })];
  expect(sortedPlaces(known, "cpu").map(({ value }) => value)).toEqual(["c", "b", "a"]);
  const read = [place("a", 1), place("b", 1, { total_bytes_read: 0 }), place("c", 1, { total_bytes_read: 5 })];
  expect(sortedPlaces(read, "read").map(({ value }) => value)).toEqual(["c", "b", "a"]);
});

test("of which runs the CPU time is known is said where it is not all that ended", () => {
  const shares = [
    place("etl", 12, { running: 1, unfinished: 1, cpu_runs: 8 }),
    place("etl", 12, { running: 1, unfinished: 1, cpu_runs: 10 }),
    place("etl", 2, { running: 1, unfinished: 1 }),
    place("etl", 2),
  ].map(cpuShare);
  expect(shares).toEqual(["80 %", "", "", "0 %"]);
});

test("a place is held against the range before", () => {
  const before = [place("etl", 20), place(null, 0)];
  const now = [place("etl", 50), place("etl", 399), place("etl", 400), place(null, 5), place("new", 5)];
  expect(now.map((one) => againstBefore(one, before))).toEqual([2.5, 19.95, undefined, undefined, undefined]);
});

test("what got worse is counted by place", () => {
  const changes = [
    { kind: "slower", service: "etl", environment: "prod" },
    { kind: "failing", service: null, environment: "prod", host: "etl-1" },
    { kind: "faster", service: "etl", environment: "prod" },
  ] as unknown as Parameters<typeof worseOf>[2];
  expect([
    worseOf("service", "etl", changes),
    worseOf("service", null, changes),
    worseOf("environment", "prod", changes),
    worseOf("environment", null, changes),
    worseOf("host", "etl-1", changes),
  ]).toEqual([1, 1, 2, 0, 1]);
});

test("bytes are those of all runs where each that ended sent them", () => {
  const read = { running: 1, unfinished: 1 };
  expect([2, 1].map((bytes_read_runs) => isAllRead(place("etl", 4, { ...read, bytes_read_runs })))).toEqual([
    true,
    false,
  ]);
});

test("cost is CPU hours by the price", () => {
  const costs = [0, 10, 3_600_000, 360_000_000, 90_000_000_000, null].map((total_cpu_ms) =>
    formatCost(place("etl", 1, { total_cpu_ms }), 0.05),
  );
  expect(costs).toEqual(["0", "<0.01", "0.05", "5.00", "1.25 k", "–"]);
});

test("owners are searched with the places", () => {
  const owned = { ...all, owner: [place("team-etl", 1), place(null, 41)] };
  expect(matching(owned, "etl").owner.map(({ value }) => value)).toEqual(["team-etl"]);
});

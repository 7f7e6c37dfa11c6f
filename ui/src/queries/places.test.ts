import { expect, test } from "vitest";
import { firstLine, matching, sortedPlaces, type Place, type Places } from "./places";

const place = (value: string | null, runs: number, more: Partial<Place> = {}): Place => ({
  value,
  runs,
  running: 0,
  failed: 0,
  unfinished: 0,
  total_wall_ms: runs,
  ...more,
});
const all: Places = {
  service: [place("etl", 40, { total_wall_ms: 5 }), place(null, 2, { failed: 2, total_wall_ms: 9 })],
  environment: [],
  host: [place("etl-1", 42)],
};

test("the first line counts what is listed", () => {
  expect(firstLine(all, all, "", "in 14 days")).toBe("1 service, 0 environments and 1 host; 42 runs in 14 days");
  expect(firstLine(all, matching(all, "ETL"), "ETL", "in 14 days")).toBe(
    '2 of 3 services, environments and hosts match "ETL"',
  );
  expect(firstLine(all, matching(all, "none"), "none", "in 14 days")).toMatch(/^1 of 3 .* matches "none"$/);
  const nothing = { service: [], environment: [], host: [] };
  expect(firstLine(nothing, nothing, "", "in 1 day")).toBe("Nothing ran in 1 day");
});

test("places are ordered by a figure, or by name with the nameless last", () => {
  const names = (sort: Parameters<typeof sortedPlaces>[1]): unknown =>
    sortedPlaces(all.service, sort).map(({ value }) => value);
  expect(names("time")).toEqual([null, "etl"]);
  expect(names("runs")).toEqual(["etl", null]);
  expect(names("failed")).toEqual([null, "etl"]);
  expect(names("name")).toEqual(["etl", null]);
});

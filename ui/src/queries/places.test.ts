import { expect, test } from "vitest";
import type { Facets, LabelOverview } from "../api/client";
import { firstLine, matching, placesOf, timeByService } from "./places";

const facets = (service: [string | null, number][], host: [string, number][] = []): Facets => ({
  service: service.map(([value, runs]) => ({ value, runs })),
  engine_version: [],
  program_version: [],
  environment: [],
  host: host.map(([value, runs]) => ({ value, runs })),
  status: [],
});
const all = placesOf(
  facets(
    [
      ["etl", 40],
      [null, 2],
    ],
    [["etl-1", 42]],
  ),
  facets([["etl", 4]]),
  facets([[null, 1]]),
);

test("each place has its runs, and those of them that failed and run", () => {
  expect(all.service).toEqual([
    { value: "etl", runs: 40, failed: 4, running: 0 },
    { value: null, runs: 2, failed: 0, running: 1 },
  ]);
});

test("the first line counts what is listed", () => {
  expect(firstLine(all, all, "", 14)).toBe("1 service, 0 environments and 1 host; 42 runs in 14 days");
  expect(firstLine(all, matching(all, "ETL"), "ETL", 14)).toBe('2 of 3 services, environments and hosts match "ETL"');
  expect(firstLine(all, matching(all, "none"), "none", 14)).toMatch(/^1 of 3 .* matches "none"$/);
  const nothing = placesOf(facets([]), facets([]), facets([]));
  expect(firstLine(nothing, nothing, "", 1)).toBe("Nothing ran in 1 day");
});

test("a label in two services gives each its time", () => {
  const query = (service: string | null, total_wall_ms: number): LabelOverview =>
    ({ label: "a", service, total_wall_ms }) as LabelOverview;
  const times = timeByService([query("x", 5), query("y", 2), query("x", 1), query(null, 7)]);
  expect([...times]).toEqual([
    ["x", 6],
    ["y", 2],
    [null, 7],
  ]);
});

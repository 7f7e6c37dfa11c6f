import { expect, test } from "vitest";
import { fromField, toField } from "./time-field";

test.each(["utc", "local"] as const)("a moment comes back from its field in %s time", (zone) => {
  const ms = Date.UTC(2026, 10, 9, 14, 2, 7);
  expect(fromField(toField(ms, zone), zone)).toBe(ms);
});

test("a field holds what the clock shows", () => {
  expect(toField(Date.UTC(2026, 10, 9, 14, 2, 7), "utc")).toBe("2026-11-09T14:02:07");
  expect(fromField("", "utc")).toBeUndefined();
  expect(fromField("2026-13-40T00:00", "utc")).toBeUndefined();
  expect(fromField("2026-11-09T14:02", "utc")).toBe(Date.UTC(2026, 10, 9, 14, 2));
});

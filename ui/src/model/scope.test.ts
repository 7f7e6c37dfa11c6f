import { expect, test } from "vitest";
import { isInScope } from "./scope";

test("a run is one of a page's where all that the page names is its own", () => {
  const run = { service: "etl", environment: null, host: "etl-1" };
  expect(isInScope(run, {})).toBe(true);
  expect(isInScope(run, { service: "etl", environment: "", host: "etl-1" })).toBe(true);
  expect(isInScope(run, { environment: "prod" })).toBe(false);
  expect(isInScope(run, { service: "" })).toBe(false);
  expect(isInScope(run, { host: "etl-2" })).toBe(false);
});

import { expect, test } from "vitest";
import type { Facets } from "../api/client";
import { hiddenOf } from "./columns.svelte";
import { completions, mistakeOf, quoted } from "./words";

const facets: Facets = {
  service: [
    { value: "orders-etl", runs: 3 },
    { value: "my service", runs: 1 },
    { value: null, runs: 1 },
  ],
  environment: [{ value: "prod", runs: 3 }],
  host: [{ value: "worker-1", runs: 3 }],
  engine_version: [],
  program_version: [{ value: "2026.11.3", runs: 2 }],
  status: [
    { value: "finished", runs: 2 },
    { value: "failed", runs: 1 },
  ],
  cancelled: 0,
};

test("fields are completed, and values that are known", () => {
  expect(completions("wa", facets)).toEqual(["wall>", "warnings>"]);
  expect(completions("timeout -sta", facets)).toEqual(["timeout -status:"]);
  expect(completions("status:", facets)).toEqual(["status:finished", "status:failed"]);
  expect(completions("wall>10s status:FA", facets)).toEqual(["wall>10s status:failed"]);
  expect(completions("service:", facets)).toEqual(["service:orders-etl", 'service:"my service"', 'service:""']);
  expect(completions("env:prod", facets)).toEqual([]);
  expect(completions("wall>=1", facets)).toEqual(["wall>=1s", "wall>=10s", "wall>=1m", "wall>=10m"]);
  expect(completions("host:", undefined)).toEqual([]);
  expect(completions("color:", facets)).toEqual([]);
  expect(completions("", facets)).toHaveLength(12);
});

test("a value stands in quotes where it has to", () => {
  expect(quoted("a/b-1")).toBe("a/b-1");
  expect(quoted('a "b" \\')).toBe('"a \\"b\\" \\\\"');
});

test("a mistake has a place", () => {
  expect(mistakeOf('filter: at character 6: "10" is not a duration')).toEqual({
    reason: '"10" is not a duration',
    at: 5,
  });
  expect(mistakeOf("storing or reading failed, try again")).toBeUndefined();
});

test("columns that are kept are read, and odd texts are none", () => {
  const later = ["read", "spilled", "memory"];
  expect(hiddenOf('["cpu","other"]')).toEqual(["cpu", ...later]);
  expect(hiddenOf("[]")).toEqual(later);
  expect(hiddenOf('["cpu","+read","+memory"]')).toEqual(["cpu", "spilled"]);
  for (const text of [null, "", "{}", "x"]) expect(hiddenOf(text)).toEqual(["environment", "version", ...later]);
});

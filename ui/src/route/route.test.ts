import { expect, test } from "vitest";
import { href, queryHref, routeOf, runHref } from "./route";

test.each([
  ["/", { page: "home" }],
  ["/now", { page: "now" }],
  ["/queries/", { page: "queries" }],
  ["/queries/01a1", { page: "run", id: "01a1" }],
  ["/labels/orders/daily%20x", { page: "query", label: "orders/daily x" }],
  ["/labels/", { page: "missing" }],
  ["/queries/a/b", { page: "missing" }],
  ["/labels/%", { page: "missing" }],
  ["/else", { page: "missing" }],
])("%s", (path, route) => expect(routeOf(path)).toEqual(route));

test("what is in a link comes back from it", () => {
  const label = "a/b?c=d&e#f %";
  expect(routeOf(queryHref(label))).toEqual({ page: "query", label });
  expect(runHref("01a1", { node: "7", compare: undefined })).toBe("/queries/01a1?node=7");
  expect(href("/queries", { q: undefined, service: "" })).toBe("/queries?service=");
});

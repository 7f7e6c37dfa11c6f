import { expect, test } from "vitest";
import { href, issueHref, queryHref, queryKey, routeOf, runHref } from "./route";

test.each([
  ["/", { page: "home" }],
  ["/now", { page: "now" }],
  ["/queries/", { page: "queries" }],
  ["/queries/01a1", { page: "run", id: "01a1" }],
  ["/labels/orders/daily%20x", { page: "query", label: "orders/daily x" }],
  ["/labels/", { page: "missing" }],
  ["/labels", { page: "missing" }],
  ["/queries/a/b", { page: "missing" }],
  ["/issues", { page: "issues" }],
  ["/issues/issue-slower-01a1", { page: "issue", id: "issue-slower-01a1" }],
  ["/issues/a/b", { page: "missing" }],
  ["/labels/%", { page: "missing" }],
  ["/settings", { page: "settings" }],
  ["/settings/x", { page: "missing" }],
  ["/else", { page: "missing" }],
])("%s", (path, route) => expect(routeOf(path)).toEqual(route));

test.each(["a/b?c=d&e#f %", "orders/daily", ".", "..", "...", "../..", "a/../b", "", "   ", "%2e%2e", "\\", "\u202e"])(
  "the label %j comes back from its link as a browser reads it",
  (label) => {
    for (const link of [queryHref(label), queryHref({ label, service: "s" })]) {
      const { pathname, searchParams } = new URL(link, "http://localhost/queries");
      expect(routeOf(pathname, searchParams.get("label") ?? undefined)).toEqual({ page: "query", label });
    }
  },
);

test("a query is a label within a service, and one without a service asks for those without", () => {
  expect(queryHref({ label: "a", service: "s t" })).toBe("/labels/a?service=s+t");
  expect(queryHref({ label: "a", service: null })).toBe("/labels/a?service=");
  expect(queryHref("a")).toBe("/labels/a");
  expect(queryHref("..", { days: "7" })).toBe("/labels?label=..&days=7");
  expect(queryKey({ label: "a", service: "b" })).not.toBe(queryKey({ label: "a", service: null }));
  expect(queryKey({ label: "a" })).toBe(queryKey({ label: "a", service: null }));
});

test("parameters that are not given are left out", () => {
  expect(runHref("01a1", { node: "7", compare: undefined })).toBe("/queries/01a1?node=7");
  expect(href("/queries", { q: undefined, service: "" })).toBe("/queries?service=");
});

test("an issue has an address of its own", () => {
  const { pathname } = new URL(issueHref("issue-slower-01a1?x"), "http://localhost/");
  expect(routeOf(pathname)).toEqual({ page: "issue", id: "issue-slower-01a1?x" });
});

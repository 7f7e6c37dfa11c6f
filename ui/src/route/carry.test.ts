import { expect, test } from "vitest";
import { carried } from "./carry";

test.each([
  ["/labels/a%2Fb?service=s", "/labels/a%2Fb?service=s&days=7"],
  ["/queries/01a1", "/queries/01a1?days=7"],
  ["/", "/?days=7"],
  ["/queries?since=5&until=9", "/queries?since=5&until=9"],
  ["/queries?hours=1", "/queries?hours=1"],
  ["/open", "/open"],
  ["/now?q=x", "/now?q=x"],
])("%s from a page of 7 days is %s", (to, expected) => {
  expect(carried(to, "/now", "?days=7&q=y")).toBe(expected);
});

test("both ends go along, and nothing where the page has no range", () => {
  expect(carried("/", "/queries", "?since=5&until=9&view=runs")).toBe("/?since=5&until=9");
  expect(carried("/labels/x", "/", "")).toBe("/labels/x");
});

import { expect, test } from "vitest";
import { nodeWords, planDiff, planIn } from "./plan-diff";

interface Node {
  id: number;
  kind: string;
  inputs: number[];
  properties?: Record<string, unknown>;
}
const node = (kind: string, id = 0, ...inputs: number[]): Node => ({ id, kind, inputs });
const scan = (table: string, id = 0): Node => ({ id, kind: "Scan", inputs: [], properties: { rows: 5, table } });

test("a node that occurs twice has to be there twice", () => {
  const sort = node("Sort");
  expect(planDiff([scan("a"), sort], [scan("a"), scan("a"), scan("b")])).toEqual({
    added: ["Scan table a", "Scan table b"],
    dropped: ["Sort"],
    moved: [],
  });
  expect(planDiff([sort], [sort])).toEqual({ added: [], dropped: [], moved: [] });
});

test("a node that reads something else has moved", () =>
  expect(
    planDiff(
      [scan("a", 1), scan("b", 2), node("Filter", 3, 2), node("Join", 4, 1, 3)],
      [scan("a", 1), scan("b", 2), node("Join", 3, 1, 2), node("Filter", 4, 3)],
    ).moved,
  ).toEqual(["Join now reads Scan table b", "Filter now reads Join"]));

test("a node says its first property in words", () =>
  expect(nodeWords(scan("lake/orders"))).toBe("Scan table lake/orders"));

test("only a line with a profile has a plan", () => {
  expect(planIn('{"type": "query.finished", "profile": {"plan": {"physical": [{"kind": "Sort"}]}}}')).toEqual([
    { kind: "Sort" },
  ]);
  expect(planIn('{"type":"query.progress","nodes":{}}')).toBeUndefined();
  expect(planIn('{"type":"query.finished","profile":{}}')).toBeUndefined();
});

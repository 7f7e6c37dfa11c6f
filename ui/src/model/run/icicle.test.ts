import { expect, test } from "vitest";
import { toGraph } from "./graph";
import { toIcicle } from "./icicle";
import type { Moment, NodeMoment } from "./moment";
import type { PlanNode } from "./profile";

const node = (id: string, ...inputs: string[]): PlanNode => ({
  id,
  kind: `K${id}`,
  role: "unknown",
  inputs,
  properties: {},
  metrics: null,
});

function moment(shares: Record<string, number>): Moment {
  const nodes = Object.entries(shares).map(([id, share]) => [id, { share } as NodeMoment] as const);
  return { elapsedMs: 1, busyNs: 1, callsNs: 0, nodes: new Map(nodes) };
}

const graph = toGraph([node("1", "2", "3"), node("2"), node("3", "4"), node("4")]);

test("a bar is as wide as what worked in it and below it, and stands under its reader", () => {
  const bars = toIcicle(graph, moment({ "1": 0.2, "2": 0.3, "3": 0.1, "4": 0.4 }));
  const [root, left, right, leaf] = ["1", "2", "3", "4"].map((id) => bars.find((bar) => bar.id === id));
  expect(root).toMatchObject({ row: 0, from: 0, share: 0.2 });
  expect(root?.width).toBeCloseTo(1);
  expect(left).toMatchObject({ row: 1, from: 0 });
  expect(left?.width).toBeCloseTo(0.3);
  expect(right?.from).toBeCloseTo(0.3);
  expect(right?.width).toBeCloseTo(0.5);
  expect(leaf?.row).toBe(2);
  expect(leaf?.width).toBeCloseTo(0.4);
});

test("from a node down, its own time is the whole", () => {
  const bars = toIcicle(graph, moment({ "1": 0.2, "2": 0.3, "3": 0.1, "4": 0.4 }), "3");
  expect(bars.map(({ id }) => id)).toEqual(["3", "4"]);
  expect(bars[1]?.width).toBeCloseTo(0.8);
});

test("where nothing worked there is nothing to draw, and what is no pixel wide is left out", () => {
  expect(toIcicle(graph, moment({}))).toEqual([]);
  expect(toIcicle(graph, moment({ "2": 1, "4": 0.0001 })).map(({ id }) => id)).toEqual(["1", "2"]);
});

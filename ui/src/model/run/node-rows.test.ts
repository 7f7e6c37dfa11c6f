import { expect, test } from "vitest";
import type { Moment, NodeMoment } from "./moment";
import { sortNodes } from "./node-rows";

const moment: Moment = {
  elapsedMs: 1,
  busyNs: 1,
  callsNs: 0,
  nodes: new Map(
    [
      ["1", { busyNs: 5, rowsOut: 2n ** 60n }],
      ["2", { busyNs: null, rowsOut: 7 }],
      ["3", { busyNs: 9, rowsOut: null }],
      ["4", { busyNs: 5, rowsOut: 8 }],
    ].map(([id, one]) => [id as string, one as NodeMoment]),
  ),
};
const ids = ["1", "2", "3", "4", "5"];

test.each([
  ["share", "descending", ["3", "1", "4", "2", "5"]],
  ["cpu", "ascending", ["1", "4", "3", "2", "5"]],
  ["out", "descending", ["1", "4", "2", "3", "5"]],
  ["out", "ascending", ["2", "4", "1", "3", "5"]],
  ["bytes", "descending", ids],
] as const)("by %s, %s", (column, way, order) => expect(sortNodes(ids, moment, column, way)).toEqual(order));

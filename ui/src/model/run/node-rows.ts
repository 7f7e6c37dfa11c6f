// The nodes of a plan in the order of a column of the table.

import type { Exact } from "./json";
import type { Moment, NodeMoment } from "./moment";
import type { NodeId } from "./profile";

export const COLUMNS = ["share", "cpu", "in", "out", "bytes"] as const;
export type Column = (typeof COLUMNS)[number];

function value(of: NodeMoment | undefined, column: Column): Exact | null {
  switch (column) {
    case "share":
    case "cpu":
      return of?.busyNs ?? null;
    case "in":
      return of?.rowsIn ?? null;
    case "out":
      return of?.rowsOut ?? null;
    case "bytes":
      return of?.readBytes ?? null;
  }
}

/** The most first, or the least; what does not tell comes last, and equal ones stay as they are. */
export function sortNodes(
  ids: readonly NodeId[],
  moment: Moment,
  column: Column,
  way: "descending" | "ascending",
): NodeId[] {
  const keyed = ids.map((id) => ({ id, value: value(moment.nodes.get(id), column) }));
  const sign = way === "ascending" ? 1 : -1;
  keyed.sort((a, b) => {
    if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
    return a.value === b.value ? 0 : a.value < b.value ? -sign : sign;
  });
  return keyed.map(({ id }) => id);
}

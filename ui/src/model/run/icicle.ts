// The plan as an icicle by CPU: each node is as wide as all that is below it, and it itself, worked.

import type { Graph } from "./graph";
import type { Moment } from "./moment";
import type { NodeId } from "./profile";

export interface Bar {
  id: NodeId;
  /** 0 for the top row. */
  row: number;
  /** Left edge and width, 0 to 1 of the whole. */
  from: number;
  width: number;
  /** Of the node alone, 0 to 1 of the run's CPU time; null where it does not tell. */
  share: number | null;
}

/** Narrower bars, as a part of the whole, are left out: they would be no pixel wide. */
const NARROWEST = 0.0005;

/** Bars from the top down below `top`, or below all roots; none where no node worked. */
export function toIcicle(graph: Graph, moment: Moment, top?: NodeId): Bar[] {
  const shares = new Map<NodeId, number>();
  // Each node stands before its children in that order.
  for (const id of graph.order.toReversed()) {
    const below = (graph.children.get(id) ?? []).reduce((total, child) => total + (shares.get(child) ?? 0), 0);
    shares.set(id, below + (moment.nodes.get(id)?.share ?? 0));
  }
  const tops = top === undefined ? graph.roots : [top];
  const whole = tops.reduce((total, id) => total + (shares.get(id) ?? 0), 0);
  if (whole <= 0) return [];
  const bars: Bar[] = [];
  const waiting: { ids: readonly NodeId[]; row: number; from: number }[] = [{ ids: tops, row: 0, from: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    let { from } = next;
    for (const id of next.ids) {
      const width = (shares.get(id) ?? 0) / whole;
      if (width >= NARROWEST) {
        bars.push({ id, row: next.row, from, width, share: moment.nodes.get(id)?.share ?? null });
        waiting.push({ ids: graph.children.get(id) ?? [], row: next.row + 1, from });
      }
      from += width;
    }
  }
  return bars;
}

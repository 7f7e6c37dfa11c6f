import type { Graph } from "./graph";
import type { NodeId } from "./profile";

/** One row of the plan as a `treegrid`, with what ARIA asks of it. */
export interface Row {
  id: NodeId;
  /** 1 for a root. */
  level: number;
  position: number;
  siblings: number;
  /** Null where nothing is below it. */
  expanded: boolean | null;
}

/** The rows one sees, top down, without what is under `closed` nodes. */
export function toRows(graph: Graph, closed: ReadonlySet<NodeId>): Row[] {
  const rows: Row[] = [];
  const waiting: Row[] = [];
  const push = (ids: readonly NodeId[], level: number) => {
    ids.forEach((_, i) => {
      const at = ids.length - 1 - i;
      const id = ids[at] as NodeId;
      const expanded = (graph.children.get(id) ?? []).length === 0 ? null : !closed.has(id);
      waiting.push({ id, level, position: at + 1, siblings: ids.length, expanded });
    });
  };
  push(graph.roots, 1);
  for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
    rows.push(row);
    if (row.expanded === true) push(graph.children.get(row.id) ?? [], row.level + 1);
  }
  return rows;
}

/** The nodes above it, the nearest first. */
export function ancestors(graph: Graph, id: NodeId): NodeId[] {
  const found: NodeId[] = [];
  for (let up = graph.parent.get(id); up !== undefined; up = graph.parent.get(up)) found.push(up);
  return found;
}

/** Where an arrow leads in the picture: up to the reader, down to the first input, aside on the same level. */
export function neighbour(
  graph: Graph,
  id: NodeId,
  key: "ArrowUp" | "ArrowDown" | "ArrowLeft" | "ArrowRight",
): NodeId | null {
  const parent = graph.parent.get(id);
  switch (key) {
    case "ArrowUp":
      return parent ?? null;
    case "ArrowDown":
      return graph.children.get(id)?.[0] ?? null;
    case "ArrowLeft":
    case "ArrowRight": {
      const siblings = parent === undefined ? graph.roots : (graph.children.get(parent) ?? []);
      return siblings[siblings.indexOf(id) + (key === "ArrowLeft" ? -1 : 1)] ?? null;
    }
  }
}

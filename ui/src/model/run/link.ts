// Which logical node a physical one carries out. Some engines say it in a property, `logical_id`. For others both plans
// are compared: nodes above the same scans belong together, and among those, kinds of work in the same order.

import { asCount, asString } from "./json";
import { type Graph, subtree, toGraph } from "./graph";
import type { NodeId, Plan, PlanNode, Role } from "./profile";
import { property } from "./properties";
import { PROPERTIES } from "./vocabulary";

/** Physical node to logical node. Physical nodes the engine added have none. */
export type PlanLink = ReadonlyMap<NodeId, NodeId>;

type Work = "read" | "join" | "group" | "order" | "columns" | "rows" | "union" | "write" | "other";

function work(role: Role): Work {
  switch (role) {
    case "scan":
    case "dataframe":
      return "read";
    case "join":
    case "theta_join":
    case "cross_join":
    case "semi_anti_join":
      return "join";
    case "aggregation":
    case "distinct":
      return "group";
    case "sort":
    case "top_k":
      return "order";
    case "projection":
    case "map":
    case "rename":
      return "columns";
    case "selection":
    case "function":
      return "rows";
    case "union":
      return "union";
    case "sink":
      return "write";
    case "engine":
    case "unknown":
      return "other";
  }
}

export function linkPlans(plan: Plan): PlanLink {
  const physical = toGraph(plan.physical);
  const logical = toGraph(plan.logical);
  const told = plan.physical.flatMap(({ id, properties }): [NodeId, NodeId][] => {
    const twin = asCount(properties["logical_id"])?.toString();
    return twin !== undefined && logical.nodes.has(twin) ? [[id, twin]] : [];
  });
  if (told.length > 0) return new Map(told);
  const scans = matchScans(physical, logical);
  const link = new Map<NodeId, NodeId>(scans);
  const logicalChains = chains(logical, new Map([...logical.order].map((id) => [id, id])));
  for (const [key, chain] of chains(physical, scans)) align(chain, logicalChains.get(key) ?? [], link);
  return link;
}

/** Scans of the same source in the same order. */
function matchScans(physical: Graph, logical: Graph): Map<NodeId, NodeId> {
  const waiting = new Map<string, NodeId[]>();
  for (const id of logical.order) {
    const node = logical.nodes.get(id);
    if (node && work(node.role) === "read") push(waiting, sourceOf(node), id);
  }
  const matched = new Map<NodeId, NodeId>();
  for (const id of physical.order) {
    const node = physical.nodes.get(id);
    if (!node || work(node.role) !== "read") continue;
    const twin = waiting.get(sourceOf(node))?.shift();
    if (twin !== undefined) matched.set(id, twin);
  }
  return matched;
}

function sourceOf(node: PlanNode): string {
  return asString(property(node.properties, PROPERTIES.table)) ?? node.role;
}

/** Nodes from the top down, by the set of scans below them; `names` gives a scan its name in both plans. */
function chains(graph: Graph, names: ReadonlyMap<NodeId, NodeId>): Map<string, PlanNode[]> {
  const found = new Map<string, PlanNode[]>();
  for (const id of graph.order) {
    const node = graph.nodes.get(id);
    if (!node) continue;
    const scans = subtree(graph, id).filter((below) => work(graph.nodes.get(below)?.role ?? "unknown") === "read");
    if (scans.includes(id)) continue;
    const key = scans
      .map((scan) => names.get(scan) ?? "?")
      .sort()
      .join(" ");
    push(found, key, node);
  }
  return found;
}

/** The kinds of work both chains have in common, in order, from the scans up; renaming columns counts little. */
function align(physical: readonly PlanNode[], logical: readonly PlanNode[], link: Map<NodeId, NodeId>): void {
  const [ours, theirs] = [physical.toReversed(), logical.toReversed()];
  const gain = (i: number, j: number): number => {
    const [a, b] = [ours[i], theirs[j]];
    if (a === undefined || b === undefined || work(a.role) !== work(b.role)) return 0;
    return work(a.role) === "columns" ? 1 : 3;
  };
  // best[i][j]: the most that can be paired from i and j on.
  const best = Array.from({ length: ours.length + 1 }, () => new Array<number>(theirs.length + 1).fill(0));
  const at = (i: number, j: number): number => best[i]?.[j] ?? 0;
  const paired = (i: number, j: number): number => (gain(i, j) === 0 ? 0 : gain(i, j) + at(i + 1, j + 1));
  for (let i = ours.length - 1; i >= 0; i -= 1) {
    for (let j = theirs.length - 1; j >= 0; j -= 1) {
      (best[i] as number[])[j] = Math.max(at(i + 1, j), at(i, j + 1), paired(i, j));
    }
  }
  for (let i = 0, j = 0; i < ours.length && j < theirs.length;) {
    const [a, b] = [ours[i], theirs[j]];
    if (a && b && gain(i, j) > 0 && paired(i, j) === at(i, j)) {
      link.set(a.id, b.id);
      i += 1;
      j += 1;
    } else if (at(i + 1, j) === at(i, j)) i += 1;
    else j += 1;
  }
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

// Which logical node a physical one carries out. The format does not say, so both plans are compared: nodes above
// the same scans belong together, and among those, kinds of work in the same order.

import { asString } from "./json";
import { type Graph, subtree, toGraph } from "./graph";
import type { NodeId, Plan, PlanNode, Role } from "./profile";

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
  return asString(node.properties["first_source"]) ?? node.role;
}

/** Nodes from the top down, by the set of scans below them; `names` gives a scan its name in both plans. */
function chains(graph: Graph, names: ReadonlyMap<NodeId, NodeId>): Map<string, PlanNode[]> {
  const found = new Map<string, PlanNode[]>();
  for (const id of graph.order) {
    const node = graph.nodes.get(id);
    if (!node) continue;
    const scans = subtree(graph, id).filter((below) => work(graph.nodes.get(below)?.role ?? "unknown") === "read");
    if (scans.includes(id)) continue;
    const key = scans.map((scan) => names.get(scan) ?? "?").sort().join(" ");
    push(found, key, node);
  }
  return found;
}

/** Pairs both chains from the top: a physical node takes the next logical one that does the same kind of work. */
function align(physical: readonly PlanNode[], logical: readonly PlanNode[], link: Map<NodeId, NodeId>): void {
  let next = 0;
  for (const node of physical) {
    const at = logical.findIndex((twin, i) => i >= next && work(twin.role) === work(node.role));
    const twin = logical[at];
    if (twin === undefined) continue;
    // Never past more than it takes: a later node of the chain may be what those before it wait for.
    link.set(node.id, twin.id);
    next = at + 1;
  }
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

import type { Graph } from "./graph";
import type { NodeId, PlanNode } from "./profile";
import type { Ranked } from "./moment";

/** What the picture draws: a node, or a run of nodes that do not matter. */
export type Box = { id: string; parent: string | null; members: NodeId[]; node: PlanNode | null };

export interface BoxEdge {
  from: string;
  to: string;
  /** Not part of the tree: drawn as a curve. */
  extra: boolean;
  /** The edges of the plan it stands for, by the node they come from. */
  sources: NodeId[];
}

export interface Folded {
  boxes: ReadonlyMap<string, Box>;
  children: ReadonlyMap<string, string[]>;
  roots: string[];
  edges: BoxEdge[];
  boxOf: ReadonlyMap<NodeId, string>;
}

/** The hottest nodes that together make up `share` (0 to 1) of the time. */
export function nodesMaking(share: number, ranked: readonly Ranked[]): Set<NodeId> {
  const shown = new Set<NodeId>();
  let covered = 0;
  for (const { node, moment } of ranked) {
    // Sums of shares miss 1 by rounding.
    if (covered >= share - 1e-9 && share < 1) break;
    shown.add(node.id);
    covered += moment.share ?? 0;
  }
  return shown;
}

/** Keeps `shown` and the roots as they are. Folds nodes that hang together, and cheap branches beside each other. */
export function foldPlan(graph: Graph, shown: ReadonlySet<NodeId>): Folded {
  const kept = new Set([...shown, ...graph.roots]);
  const groups = connected(graph, kept);
  mergeBranches(graph, kept, groups);

  const boxes = new Map<string, Box>();
  const boxOf = new Map<NodeId, string>();
  for (const members of new Set(groups.values())) {
    const [top] = members;
    if (top === undefined) continue;
    const id = members.length === 1 ? top : `fold:${top}`;
    boxes.set(id, { id, parent: null, members, node: members.length === 1 ? (graph.nodes.get(top) ?? null) : null });
    for (const member of members) boxOf.set(member, id);
  }
  const children = new Map<string, string[]>([...boxes.keys()].map((id) => [id, []]));
  const edges = new Map<string, BoxEdge>();
  const connect = (from: NodeId, to: NodeId, extra: boolean) => {
    const [source, target] = [boxOf.get(from), boxOf.get(to)];
    if (source === undefined || target === undefined || source === target) return;
    const known = edges.get(`${source} ${target}`);
    if (known) known.sources.push(from);
    else edges.set(`${source} ${target}`, { from: source, to: target, extra, sources: [from] });
    const box = boxes.get(source);
    if (!extra && box && box.parent === null) {
      box.parent = target;
      children.get(target)?.push(source);
    }
  };
  for (const id of graph.order) {
    const parent = graph.parent.get(id);
    if (parent !== undefined) connect(id, parent, false);
  }
  for (const { from, to } of graph.extra) connect(from, to, true);
  const roots = graph.roots.map((root) => boxOf.get(root)).filter((box) => box !== undefined);
  return { boxes, children, roots, edges: [...edges.values()], boxOf };
}

/** Each node's group, its nodes from the top down: a kept node alone, others with what they hang together with. */
function connected(graph: Graph, kept: ReadonlySet<NodeId>): Map<NodeId, NodeId[]> {
  const groups = new Map<NodeId, NodeId[]>();
  for (const id of graph.order) {
    const parent = graph.parent.get(id);
    const above = parent === undefined || kept.has(parent) || kept.has(id) ? undefined : groups.get(parent);
    above?.push(id);
    groups.set(id, above ?? [id]);
  }
  return groups;
}

/** Makes one group of the folded branches under a node: "58 branches". */
function mergeBranches(graph: Graph, kept: ReadonlySet<NodeId>, groups: Map<NodeId, NodeId[]>): void {
  const leads = new Set<NodeId[]>();
  for (const id of graph.order) {
    const group = groups.get(id);
    const above = groups.get(graph.parent.get(id) ?? "");
    if (above !== undefined && above !== group) leads.add(above);
  }
  const first = new Map<NodeId, NodeId[]>();
  for (const group of new Set(groups.values())) {
    const [top] = group;
    const parent = top === undefined ? undefined : graph.parent.get(top);
    if (top === undefined || parent === undefined || kept.has(top) || leads.has(group)) continue;
    const branches = first.get(parent);
    if (branches === undefined) first.set(parent, group);
    else {
      branches.push(...group);
      for (const id of group) groups.set(id, branches);
    }
  }
}

import type { NodeId, PlanNode } from "./profile";

/** An edge from a node to one of those that read it. */
export interface Edge {
  from: NodeId;
  to: NodeId;
}

/** A plan as the tree it nearly is: each node hangs under the first that reads it, further readers are extra edges. */
export interface Graph {
  nodes: ReadonlyMap<NodeId, PlanNode>;
  /** Nodes that nothing reads; of nodes that only read each other, the first. */
  roots: NodeId[];
  children: ReadonlyMap<NodeId, NodeId[]>;
  parent: ReadonlyMap<NodeId, NodeId>;
  extra: Edge[];
  /** Each node before its children. */
  order: NodeId[];
}

export function toGraph(nodes: readonly PlanNode[]): Graph {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const read = new Set(nodes.flatMap((node) => node.inputs));
  const children = new Map<NodeId, NodeId[]>();
  const parent = new Map<NodeId, NodeId>();
  const roots: NodeId[] = [];
  const extra: Edge[] = [];
  const order: NodeId[] = [];

  // An own stack: plans of thousands of nodes are deeper than a script may recurse.
  const visit = (root: NodeId) => {
    roots.push(root);
    const waiting: { id: NodeId; under: NodeId | null }[] = [{ id: root, under: null }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { id, under } = next;
      if (children.has(id)) {
        if (under !== null) extra.push({ from: id, to: under });
        continue;
      }
      children.set(id, []);
      order.push(id);
      if (under !== null) {
        parent.set(id, under);
        children.get(under)?.push(id);
      }
      const inputs = [...new Set(byId.get(id)?.inputs ?? [])];
      for (const input of inputs.reverse()) waiting.push({ id: input, under: id });
    }
  };
  for (const node of nodes) if (!read.has(node.id)) visit(node.id);
  for (const node of nodes) if (!children.has(node.id)) visit(node.id);
  return { nodes: byId, roots, children, parent, extra, order };
}

/** The short number people say: slot maps put a generation into the upper 32 bits of an id. */
export function nodeNumber(id: NodeId): string {
  return id.length < 10 ? id : (BigInt(id) & 0xffffffffn).toString();
}

/** The node with all below it in the tree. */
export function subtree(graph: Graph, top: NodeId): NodeId[] {
  const found: NodeId[] = [];
  const waiting = [top];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    found.push(id);
    waiting.push(...(graph.children.get(id) ?? []));
  }
  return found;
}

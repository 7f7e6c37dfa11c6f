// What one plan has that another has not, node by node.

import { follow } from "../live/follow";

interface PlanNode {
  id: number;
  kind: string;
  inputs: number[];
  properties?: Record<string, unknown>;
}

export interface PlanDiff {
  added: string[];
  dropped: string[];
  /** Nodes of both that read something else now: "HashJoin on a now reads Scan table b". */
  moved: string[];
}

/** A node in its own words: "HashJoin on customer_id". */
export function nodeWords({ kind, properties = {} }: Pick<PlanNode, "kind" | "properties">): string {
  const property = Object.entries(properties).find(([, value]) => typeof value === "string" && value !== "");
  return property === undefined ? kind : `${kind} ${property[0]} ${String(property[1])}`;
}

/** Nodes are the same where kind and words are. */
export function planDiff(before: readonly PlanNode[], after: readonly PlanNode[]): PlanDiff {
  return { added: without(after, before), dropped: without(before, after), moved: moved(before, after) };
}

function moved(before: readonly PlanNode[], after: readonly PlanNode[]): string[] {
  const inputsIn = (plan: readonly PlanNode[]): Map<string, string[]> => {
    const words = new Map(plan.map((node) => [node.id, nodeWords(node)]));
    return new Map(plan.map((node) => [nodeWords(node), node.inputs.map((id) => words.get(id) ?? "")]));
  };
  const [old, now] = [inputsIn(before), inputsIn(after)];
  return [...now].flatMap(([words, inputs]) => {
    const known = old.get(words);
    if (known === undefined || known.toSorted().join("\n") === inputs.toSorted().join("\n")) return [];
    return [`${words} now reads ${inputs.filter((input) => !known.includes(input)).join(" and ") || "less"}`];
  });
}

function without(nodes: readonly PlanNode[], others: readonly PlanNode[]): string[] {
  const rest = others.map(nodeWords);
  return nodes.map(nodeWords).filter((words) => {
    const at = rest.indexOf(words);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
}

/** The physical plan of a query that has ended. Its events come over the stream, which says when it has told all. */
export async function physicalPlan(id: string, signal: AbortSignal): Promise<PlanNode[]> {
  const stop = new AbortController();
  let plan: PlanNode[] | undefined;
  let failure = "its events say nothing of its plan";
  const onMessage = ({ event, data }: { event: string; data: string }): void => {
    if (event === "finished") return stop.abort();
    for (const line of data.split("\n")) plan = planIn(line) ?? plan;
  };
  await follow(
    `/api/live/${encodeURIComponent(id)}`,
    {
      onMessage,
      onState: (state) => {
        if (state.is !== "lost") return;
        failure = state.reason;
        stop.abort();
      },
    },
    AbortSignal.any([signal, stop.signal]),
  );
  if (plan === undefined) throw new Error(failure);
  return plan;
}

/** The plan of a line that carries a profile. */
export function planIn(line: string): PlanNode[] | undefined {
  if (!/"type":\s*"query\.(started|finished)"/.test(line)) return undefined;
  const { profile } = JSON.parse(line) as { profile?: { plan?: { physical?: PlanNode[] } } };
  return profile?.plan?.physical;
}

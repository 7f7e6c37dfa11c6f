// What `/api/compare` says, as the page shows it.

import { type Milliseconds, formatCount, formatDuration, formatRatio, plural } from "../../units";
import type { Schemas } from "../../api/client";
import { shownStatus, type ShownStatus } from "../cancelled";
import { causeName } from "../change";
import { nodeNumber } from "./graph";

export type Comparison = Schemas["Comparison"];
export type NodePair = Schemas["NodePair"];
export interface Step {
  name: string;
  /** Where the bar begins and ends on the axis of wall time. */
  fromMs: Milliseconds;
  untilMs: Milliseconds;
  kind: "whole" | "slower" | "faster";
  text: string;
}

/** So many parts have a bar of their own; below a microsecond one is rounding. */
const PARTS_TOLD = 8;
const LEAST_NS = 1000;

/**
 * Whether both ran one plan; empty where {@link comparisonLine} says so. A fingerprint has the names of files, which a
 * comparison takes as one plan; where only the logical ones differ, the query is another one that the engine plans
 * alike.
 */
export function planLine(compared: Comparison): string {
  if (!compared.same_plan) return largest(compared)?.cause === "plan_change" ? "" : "The plan is another one.";
  const isOnePhysical = compared.base_physical_fingerprint === compared.run_physical_fingerprint;
  return isOnePhysical && compared.base.fingerprint !== compared.run.fingerprint
    ? "The logical plan is another one; its nodes are the same."
    : "Both ran the same plan, as far as the engine describes it.";
}

/** From the wall time of the base, part by part, to that of the run: each bar begins where the one before ended. */
export function toWaterfall({ account }: Comparison): Step[] {
  const ms = (ns: number | bigint): Milliseconds => Number(ns) / 1e6;
  const steps: Step[] = [
    {
      name: "Before",
      fromMs: 0,
      untilMs: ms(account.base_wall_ns),
      kind: "whole",
      text: formatDuration(ms(account.base_wall_ns)),
    },
  ];
  let at = account.base_wall_ns;
  const push = (name: string, ns: number | bigint): void => {
    const next = add(at, ns);
    if (Math.abs(Number(ns)) >= LEAST_NS) {
      const kind = Number(ns) < 0 ? "faster" : "slower";
      steps.push({ name, fromMs: ms(at), untilMs: ms(next), kind, text: signedDuration(ms(ns)) });
    }
    at = next;
  };
  const bySize = account.parts
    .filter(({ ns }) => Number(ns) !== 0)
    .sort((a, b) => Math.abs(Number(b.ns)) - Math.abs(Number(a.ns)));
  const names = bySize.map((part) => causeName(part, Number(part.ns) < 0) + (part.node ? `: ${part.node.kind}` : ""));
  for (const [at, { ns, node }] of bySize.slice(0, PARTS_TOLD).entries()) {
    const name = names[at] ?? "";
    // Of several nodes of one kind each has its number.
    const isOne = names.indexOf(name) === names.lastIndexOf(name);
    push(node && !isOne ? `${name} #${nodeNumber(String(node.id))}` : name, ns);
  }
  const smaller = bySize.slice(PARTS_TOLD);
  push(
    plural(smaller.length, "smaller part"),
    smaller.reduce((sum, { ns }) => add(sum, ns), 0),
  );
  steps.push({
    name: "This run",
    fromMs: 0,
    untilMs: ms(account.run_wall_ns),
    kind: "whole",
    text: formatDuration(ms(account.run_wall_ns)),
  });
  return steps;
}

function add(a: number | bigint, b: number | bigint): number {
  return Number(BigInt(a) + BigInt(b));
}

export function signedDuration(ms: Milliseconds | null): string {
  if (ms === null) return "–";
  const text = formatDuration(Math.abs(ms));
  if (text.startsWith("<")) return text;
  return ms > 0 ? `+${text}` : ms < 0 ? `−${text}` : "0";
}

const ENDS: Record<ShownStatus, (time: string) => string> = {
  running: (time) => `has run for ${time} so far`,
  finished: (time) => `took ${time}`,
  failed: (time) => `failed after ${time}`,
  cancelled: (time) => `was cancelled after ${time}`,
  unfinished: (time) => `lost contact after ${time}`,
};

/** A run that did not finish did part of the work: its time says nothing beside that of another. */
export function isComparable({ base, run }: Pick<Comparison, "base" | "run">): boolean {
  return base.status === "finished" && run.status === "finished";
}

/** The largest part that goes the way of the difference, where there is one to speak of. */
function largest(comparison: Comparison): Comparison["account"]["parts"][number] | undefined {
  const { base_wall_ns: before, difference_ns: ns, parts } = comparison.account;
  const difference = Number(ns);
  if (!isComparable(comparison) || Math.abs(difference) < Number(before) * 0.05) return undefined;
  return parts.find(({ ns }) => Number(ns) * difference > 0);
}

/**
 * "1.23 s instead of 610 ms (2.0x): +620 ms. Largest increase: more rows (+700 ms), all else −80 ms." What is told sums
 * to the difference.
 */
export function comparisonLine(comparison: Comparison): string {
  const { account, base, run } = comparison;
  const [before, now] = [Number(account.base_wall_ns) / 1e6, Number(account.run_wall_ns) / 1e6];
  if (!isComparable(comparison)) {
    const [first, other] = [
      ENDS[shownStatus(run)](formatDuration(now)),
      ENDS[shownStatus(base)](formatDuration(before)),
    ];
    return `This run ${first}, the other ${other}. Only times of runs that finished are comparable.`;
  }
  const ratio = before > 0 ? ` (${formatRatio(now / before)})` : "";
  const line = `${formatDuration(now)} instead of ${formatDuration(before)}${ratio}`;
  const most = largest(comparison);
  if (!most) return `${line}. That is about the same.`;
  const signed = (ns: number): string => signedDuration(ns / 1e6);
  const [ns, difference] = [Number(most.ns), Number(account.difference_ns)];
  const rest = difference - ns;
  const others = Math.abs(rest) < LEAST_NS ? "" : `, all else ${signed(rest)}`;
  const part = `${causeName(most, ns < 0).toLowerCase()} (${signed(ns)})${others}`;
  const said = most.sentence ? ` ${most.sentence}.` : "";
  return `${line}: ${signed(difference)}. Largest ${ns < 0 ? "decrease" : "increase"}: ${part}.${said}`;
}

/** By how much their time moved; of those as much, or where no time is known, what came, went or changed first. */
export function byInterest(pairs: readonly NodePair[]): NodePair[] {
  const moved = (pair: NodePair): number => Math.abs(addedBusyMs(pair) ?? 0);
  const isCause = ({ fate }: NodePair): number => (fate === "same" ? 0 : 1);
  return [...pairs].sort((a, b) => moved(b) - moved(a) || isCause(b) - isCause(a));
}

/** Of the nodes whose work changed the way the wall time went, the one that changed most. */
export function mostMoved({ account, nodes }: Comparison): NodePair | undefined {
  const way = Math.sign(Number(account.difference_ns));
  const moved = (pair: NodePair): number => way * (addedBusyMs(pair) ?? 0);
  return nodes.filter((pair) => moved(pair) > 0).sort((a, b) => moved(b) - moved(a))[0];
}

/** How much more a node worked, in milliseconds of CPU; null where a plan that has the node does not tell. */
export function addedBusyMs({ base, run, delta }: NodePair): Milliseconds | null {
  if (base && run) return delta?.busy_ns == null ? null : Number(delta.busy_ns) / 1e6;
  const ns = (run ?? base)?.busy_ns;
  return ns == null ? null : (run ? 1 : -1) * (Number(ns) / 1e6);
}

/** "4.14 M → 38.9 M", or one number where it is the same in both. A sink gives no rows on: "5 in" is what it took. */
export function rowsOut({ base, run }: NodePair): string {
  const isSink = (run ?? base)?.role === "sink";
  const [before, now] = [base, run].map((node) => (isSink ? node?.rows_in : node?.rows_out) ?? null);
  const known = now ?? before ?? null;
  if (known === null) return formatCount(null);
  const isMoved = before != null && now != null && Number(before) !== Number(now);
  return `${isMoved ? `${formatCount(before)} → ` : ""}${formatCount(known)}${isSink ? " in" : ""}`;
}

export function pairName({ run, base }: NodePair): string {
  const node = run ?? base;
  return node ? `${node.kind} #${nodeNumber(String(node.id))}` : "";
}

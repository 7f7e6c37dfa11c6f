import { busyNs, counter, type Counters, isDone, readBytes, rowsIn, rowsOut, rowsWritten } from "./counters";
import type { Milliseconds } from "../../units";
import { asCount, type Exact, growth, sum } from "./json";
import type { NodeId, PlanNode } from "./profile";
import { countUpTo, type Run } from "./run";
import { calledCode } from "./user-code";
import { QUERY_COUNTERS } from "./vocabulary";

/** What is known of a node at a moment. Null is unknown. */
export interface NodeMoment {
  counters: Counters | null;
  busyNs: Exact | null;
  /** Of the time all nodes were busy until then, with the calls of user code that the moment has, 0 to 1. */
  share: number | null;
  /** Rows it took; null for a node that reads from no other, too. */
  rowsIn: Exact | null;
  /** Rows it gave on, or wrote; null for a sink that tells of neither. */
  rowsOut: Exact | null;
  /** Of a join, how many times its larger input it puts out; null where that is not known. */
  growth: number | null;
  readBytes: Exact | null;
  done: boolean;
  /** Threads it kept busy between the last two samples; null at the end of the query. */
  threads: number | null;
}

export interface Moment {
  elapsedMs: number;
  nodes: ReadonlyMap<NodeId, NodeMoment>;
  /** Of all nodes. */
  busyNs: Exact;
  /** Calls of user code that are in a node's share, and in no counter of the node: 0 where there are none. */
  callsNs: number;
}

/** While a query runs, so much of its time must be counted before a counter that is missing means zero. */
const COUNTED_MIN = 0.1;

/** The plan's counters after `atMs`, or all that is known where it is null. */
export function momentAt(run: Run, atMs: number | null): Moment {
  const time = atMs ?? Number.POSITIVE_INFINITY;
  const ended = run.finished !== null && time >= run.finished.wallMs;
  const finals = new Map(ended ? run.finished?.plan.physical.map((node) => [node.id, node.metrics]) : []);
  const sampled = countUpTo(run.sampleMs, time);
  const at = run.sampleMs[sampled - 1];
  const before = run.sampleMs[sampled - 2] ?? 0;

  const found = new Map<NodeId, { now: Counters | null; threads: number | null }>();
  for (const { id } of run.plan.physical) {
    const track = run.tracks.get(id);
    const count = track ? countUpTo(track.elapsedMs, time) : 0;
    const now = finals.get(id) ?? track?.counters[count - 1] ?? null;
    let threads: number | null = null;
    if (!ended && at !== undefined && at > before) {
      const changed = track?.elapsedMs[count - 1] === at;
      const earlier = track?.counters[count - 2];
      const grown = changed && now ? growth(busyNs(now) ?? 0, earlier ? (busyNs(earlier) ?? 0) : 0) : 0;
      threads = Number(grown) / 1e6 / (at - before);
    }
    found.set(id, { now, threads });
  }

  const times = [...found.values()].map(({ now }) => (now ? (busyNs(now) ?? 0) : 0));
  const busy = sum(times);
  const calls = ended ? callsOf(run, found) : null;
  const callsNs = calls?.ns ?? 0;
  const whole = Number(busy) + callsNs;
  // Samples leave zeros out. Where nearly no time is counted, a missing counter may be of work that is counted later.
  const isUncounted = whole === 0 || (!ended && Number(busy) / 1e6 < COUNTED_MIN * (at ?? 0));
  const missing = isUncounted ? null : 0;
  const readers = new Map<NodeId, number>();
  for (const { inputs } of run.plan.physical) {
    for (const input of inputs) readers.set(input, (readers.get(input) ?? 0) + 1);
  }
  const nodes = new Map<NodeId, NodeMoment>();
  for (const node of run.plan.physical) {
    const { now, threads } = found.get(node.id) ?? { now: null, threads: null };
    const of = nodeMoment(node, now, threads, whole, missing, found, readers);
    if (calls?.id === node.id) of.share = (Number(of.busyNs ?? 0) + callsNs) / whole;
    nodes.set(node.id, of);
  }
  const elapsedMs = ended ? (run.finished?.wallMs ?? 0) : Math.min(time, run.elapsedMs);
  return { elapsedMs, nodes, busyNs: busy, callsNs };
}

/**
 * The one node that calls user code, and how much the calls took beyond what its counter holds: engines count little of
 * it. Null where nothing measured the calls, and where several nodes make them: which took how much nobody knows then.
 */
function callsOf(run: Run, all: ReadonlyMap<NodeId, { now: Counters | null }>): { id: NodeId; ns: number } | null {
  const measured = counter(run.finished?.counters ?? {}, QUERY_COUNTERS.user_code_ns);
  const [caller, other] = run.plan.physical.filter((node) => calledCode(node) !== null);
  if (measured === null || caller === undefined || other !== undefined) return null;
  const now = all.get(caller.id)?.now;
  const ns = Number(measured) - Number((now && busyNs(now)) ?? 0);
  return ns > 0 ? { id: caller.id, ns } : null;
}

function nodeMoment(
  node: PlanNode,
  now: Counters | null,
  threads: number | null,
  whole: number,
  missing: 0 | null,
  all: ReadonlyMap<NodeId, { now: Counters | null }>,
  readers: ReadonlyMap<NodeId, number>,
): NodeMoment {
  // The profile of the end has zeros, too: what is missing there is not known.
  const busy = now ? (busyNs(now) ?? (threads === null ? null : missing)) : missing;
  const inputs = node.inputs.map((input) => all.get(input)?.now ?? undefined);
  return {
    counters: now,
    busyNs: busy,
    share: busy === null || whole === 0 ? null : Number(busy) / whole,
    rowsIn: now ? rowsTaken(node, now, inputs) : null,
    rowsOut: now ? rowsGiven(node, now) : null,
    growth: now && /join/.test(node.role) ? growthOf(node, now, all, readers) : null,
    readBytes: now ? readBytes(now) : null,
    done: now ? isDone(now) : false,
    threads,
  };
}

/** A node that reads from no other took nothing, whatever its counter says. */
function rowsTaken(node: PlanNode, now: Counters, inputs: readonly (Counters | undefined)[]): Exact | null {
  const rows = rowsIn(now, inputs);
  return rows === 0 && node.inputs.length === 0 ? null : rows;
}

/** A sink gives nothing on: what counts is what it wrote, where it tells. */
function rowsGiven(node: PlanNode, now: Counters): Exact | null {
  const rows = rowsOut(now);
  return node.role === "sink" && (rows === null || rows === 0) ? rowsWritten(now) : rows;
}

/**
 * Output over the larger input: the ratio of the finding `exploding_join`. Rows that several nodes read are counted
 * together, so such an input has what the node took beside the others.
 */
function growthOf(
  node: PlanNode,
  now: Counters,
  all: ReadonlyMap<NodeId, { now: Counters | null }>,
  readers: ReadonlyMap<NodeId, number>,
): number | null {
  const inputRows = node.inputs.map((id) => {
    const given = readers.get(id) === 1 ? all.get(id)?.now : undefined;
    return given ? rowsOut(given) : null;
  });
  const rows = inputRows.map((given) => (given === null ? null : Number(given)));
  const shared = node.inputs.filter((_, i) => rows[i] === null);
  const taken = rowsIn(now, []);
  if (shared.length > 0) {
    if (taken === null || shared.some((id) => id !== shared[0])) return null;
    const known = rows.reduce<number>((total, one) => total + (one ?? 0), 0);
    rows.push(Math.max(0, Number(taken) - known) / shared.length);
  }
  const larger = Math.max(0, ...rows.map((one) => one ?? 0));
  const out = rowsOut(now);
  return out === null || larger === 0 ? null : Number(out) / larger;
}

/** Time of the tasks of a node, in which these also wait; 0 where its engine tells none. */
export function tasksMs(moment: NodeMoment | undefined): Milliseconds {
  return Number(asCount(moment?.counters?.["tasks_ns"]) ?? 0) / 1e6;
}

export interface Ranked {
  node: PlanNode;
  moment: NodeMoment;
}

/** Nodes with a share of the time, the hottest first; equal ones in the order of the plan. */
export function hottest(run: Run, moment: Moment): Ranked[] {
  return run.plan.physical
    .flatMap((node) => {
      const found = moment.nodes.get(node.id);
      return found && (found.share ?? 0) > 0 ? [{ node, moment: found }] : [];
    })
    .sort((a, b) => (b.moment.share ?? 0) - (a.moment.share ?? 0));
}

import { busyNs } from "./counters";
import { growth } from "./json";
import type { NodeId } from "./profile";
import { countUpTo, type Run } from "./run";
import type { Span } from "./usage";

/** Threads busy on average from the sample before until this one. */
export interface Busy {
  fromMs: number;
  untilMs: number;
  threads: number;
}

/** A span of a node; a spread one is a mean, as its engine told late of the work in it. */
export interface NodeSpan extends Span {
  isSpread?: true;
}

/** Engines may count a thread that waits for a core: so many times the cores at most. */
const MOST_OF_CORES = 2;

/** Threads that one node kept busy over time; gaps where nothing was told of it are none at work. */
export function nodeThreads(run: Run, id: NodeId): NodeSpan[] {
  const track = run.tracks.get(id);
  const most = MOST_OF_CORES * (run.profile?.cpuCount ?? Number.POSITIVE_INFINITY);
  const spans: NodeSpan[] = [];
  let before = { ms: 0, ns: 0 as number | bigint };
  const add = (ms: number, ns: number | bigint): void => {
    if (ms <= before.ms) return;
    let span: NodeSpan = {
      fromMs: before.ms,
      untilMs: ms,
      value: Number(growth(ns, before.ns)) / 1e6 / (ms - before.ms),
    };
    // More than all cores can do: part of it was done earlier, and told late.
    for (let earlier; span.value > most && (earlier = spans.pop()) !== undefined;) span = meanOf(earlier, span);
    spans.push(span);
    before = { ms, ns };
  };
  /** Samples tell only of what changed: until `quietMs` it did not work. */
  const addAfter = (quietMs: number, ms: number, ns: number | bigint): void => {
    if (quietMs > before.ms && quietMs < ms) add(quietMs, before.ns);
    add(ms, ns);
  };
  track?.elapsedMs.forEach((ms, at) => {
    const counters = track.counters[at];
    const ns = counters && busyNs(counters);
    if (ns == null) return;
    addAfter(run.sampleMs[countUpTo(run.sampleMs, ms - Number.EPSILON * ms) - 1] ?? 0, ms, ns);
  });
  const { finished } = run;
  const last = finished?.plan.physical.find((node) => node.id === id)?.metrics;
  const ns = last && busyNs(last);
  if (finished === null || ns == null) return spans;
  if (run.sampleMs.length === 0 || samplesTellBusyTime(run)) addAfter(run.sampleMs.at(-1) ?? 0, finished.wallMs, ns);
  else {
    add(finished.wallMs, ns);
    for (const span of spans) span.isSpread = true;
  }
  return spans;
}

function meanOf(a: Span, b: Span): NodeSpan {
  const work = a.value * (a.untilMs - a.fromMs) + b.value * (b.untilMs - b.fromMs);
  return { fromMs: a.fromMs, untilMs: b.untilMs, value: work / (b.untilMs - a.fromMs), isSpread: true };
}

function samplesTellBusyTime(run: Run): boolean {
  return [...run.tracks.values()].some(({ counters }) => counters.some((one) => busyNs(one) !== null));
}

/** Whether anything told how long it worked: some engines do not. */
export function tellsBusyTime(run: Run): boolean {
  const ofEnd = run.finished?.plan.physical ?? [];
  return samplesTellBusyTime(run) || ofEnd.some(({ metrics }) => metrics !== null && busyNs(metrics) !== null);
}

/** How many threads were busy, one entry a sample, and one up to the end: the sum of {@link nodeThreads}. */
export function busyThreads(run: Run): Busy[] {
  const untilMs = [...new Set(run.sampleMs)];
  const end = run.finished?.wallMs;
  if (end !== undefined && end > (untilMs.at(-1) ?? 0)) untilMs.push(end);
  const ends = untilMs.filter((until) => until > 0);
  const busy = ends.map((until, at) => ({ fromMs: ends[at - 1] ?? 0, untilMs: until, threads: 0 }));
  const nodes = new Set([...run.tracks.keys(), ...(run.finished?.plan.physical ?? []).map(({ id }) => id)]);
  for (const id of nodes) {
    for (const span of nodeThreads(run, id)) {
      if (span.value === 0) continue;
      const until = countUpTo(ends, span.untilMs);
      for (const part of busy.slice(countUpTo(ends, span.fromMs), until)) part.threads += span.value;
    }
  }
  return busy;
}

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

/** Threads that one node kept busy over time; gaps where nothing was told of it are none at work. */
export function nodeThreads(run: Run, id: NodeId): Span[] {
  const track = run.tracks.get(id);
  const spans: Span[] = [];
  let before = { ms: 0, ns: 0 as number | bigint };
  const add = (ms: number, ns: number | bigint): void => {
    if (ms <= before.ms) return;
    spans.push({ fromMs: before.ms, untilMs: ms, value: Number(growth(ns, before.ns)) / 1e6 / (ms - before.ms) });
    before = { ms, ns };
  };
  track?.elapsedMs.forEach((ms, at) => {
    const counters = track.counters[at];
    const ns = counters && busyNs(counters);
    if (ns == null) return;
    // Samples tell only of what changed: until the sample before, it did not work.
    const earlier = run.sampleMs[countUpTo(run.sampleMs, ms - Number.EPSILON * ms) - 1] ?? 0;
    if (earlier > before.ms && earlier < ms) add(earlier, before.ns);
    add(ms, ns);
  });
  const last = run.finished?.plan.physical.find((node) => node.id === id)?.metrics;
  const ns = last && busyNs(last);
  if (run.finished && ns != null) {
    const sampled = run.sampleMs.at(-1) ?? 0;
    if (sampled > before.ms && sampled < run.finished.wallMs) add(sampled, before.ns);
    add(run.finished.wallMs, ns);
  }
  return spans;
}

/** Whether anything told how long it worked: some engines do not. */
export function tellsBusyTime(run: Run): boolean {
  const ofTracks = [...run.tracks.values()].flatMap(({ counters }) => counters);
  const ofEnd = (run.finished?.plan.physical ?? []).map(({ metrics }) => metrics);
  return [...ofTracks, ...ofEnd].some((counters) => counters !== null && busyNs(counters) !== null);
}

/** How many threads were busy, one entry a sample, and one up to the end. */
export function busyThreads(run: Run): Busy[] {
  const untilMs = [...new Set(run.sampleMs)];
  const end = run.finished?.wallMs;
  const grown = new Map<number, number>();
  const add = (time: number, ns: number) => grown.set(time, (grown.get(time) ?? 0) + ns);
  for (const track of run.tracks.values()) {
    track.counters.forEach((counters, i) => {
      const earlier = track.counters[i - 1];
      add(track.elapsedMs[i] as number, Number(growth(busyNs(counters) ?? 0, earlier ? (busyNs(earlier) ?? 0) : 0)));
    });
  }
  if (end !== undefined && end > (untilMs.at(-1) ?? 0)) {
    untilMs.push(end);
    for (const { id, metrics } of run.finished?.plan.physical ?? []) {
      const last = run.tracks.get(id)?.counters.at(-1);
      if (metrics) add(end, Number(growth(busyNs(metrics) ?? 0, last ? (busyNs(last) ?? 0) : 0)));
    }
  }
  return untilMs
    .map((until, i) => ({ fromMs: untilMs[i - 1] ?? 0, untilMs: until }))
    .filter(({ fromMs, untilMs: until }) => until > fromMs)
    .map((span) => ({ ...span, threads: (grown.get(span.untilMs) ?? 0) / 1e6 / (span.untilMs - span.fromMs) }));
}

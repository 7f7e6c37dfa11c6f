// What the process and its host used over time, as lines of a chart.

import { type Exact, growth } from "./json";
import type { Run } from "./run";

/** A figure from one moment to another. */
export interface Span {
  fromMs: number;
  untilMs: number;
  value: number;
}

export interface UsageLines {
  /** Threads of the process at work, by its CPU time. */
  processThreads: Span[];
  /** Processors of the host at work. */
  hostThreads: Span[];
  processBytes: Span[];
  hostBytes: Span[];
  /** Memory of the host; null where it is not told. */
  hostTotalBytes: number | null;
}

/** Lines of what was sent; empty ones of what was not. */
export function usageOf(run: Run): UsageLines {
  const { sampleMs, usage } = run;
  const grown = (of: "processCpuNs" | "hostCpuNs"): Span[] => {
    let before: { ms: number; ns: Exact } = { ms: 0, ns: 0 };
    return usage.flatMap((sample, at) => {
      const [ns, ms] = [sample[of], sampleMs[at] ?? 0];
      if (ns === null || ms <= before.ms) return [];
      const span = { fromMs: before.ms, untilMs: ms, value: Number(growth(ns, before.ns)) / 1e6 / (ms - before.ms) };
      before = { ms, ns };
      return [span];
    });
  };
  const held = (of: "processBytes" | "hostBytes"): Span[] => {
    let fromMs = 0;
    return usage.flatMap((sample, at) => {
      const [bytes, untilMs] = [sample[of], sampleMs[at] ?? 0];
      if (bytes === null || untilMs <= fromMs) return [];
      const span = { fromMs, untilMs, value: Number(bytes) };
      fromMs = untilMs;
      return [span];
    });
  };
  const totals = usage.map(({ hostTotalBytes }) => Number(hostTotalBytes ?? 0));
  const total = totals.reduce((most, bytes) => Math.max(most, bytes), 0);
  return {
    processThreads: grown("processCpuNs"),
    hostThreads: grown("hostCpuNs"),
    processBytes: held("processBytes"),
    hostBytes: held("hostBytes"),
    hostTotalBytes: total === 0 ? null : total,
  };
}

/** The figure at a moment; null where none is known. */
export function valueAt(spans: readonly Span[], ms: number): number | null {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle] as Span).untilMs < ms) low = middle + 1;
    else high = middle;
  }
  const span = spans[low];
  return span !== undefined && span.fromMs <= ms ? span.value : null;
}

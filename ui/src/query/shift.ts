// When the time of a query moved: the split of its runs that sets the two sides apart most.

import type { Milliseconds, UnixNs } from "../units";

export interface Timed {
  startedNs: UnixNs;
  wallMs: Milliseconds;
}

export interface Shift {
  at: UnixNs;
  /** Medians before and after. */
  before: Milliseconds;
  after: Milliseconds;
  ratio: number;
  runsBefore: number;
  runsAfter: number;
}

const FEWEST = 3;
const SMALLEST_RATIO = 1.3;

/**
 * The largest shift, undefined where there is none of a factor of 1.3. `runs` are ordered by time. The split is the one
 * of the least squares over the logarithms of the times: a query that is twice as slow is as far away as one twice as fast.
 */
export function largestShift(runs: readonly Timed[]): Shift | undefined {
  const logs = runs.map(({ wallMs }) => Math.log(Math.max(wallMs, 1e-6)));
  const total = logs.reduce((sum, log) => sum + log, 0);
  let [best, split, sum] = [0, 0, 0];
  for (let at = 1; at <= logs.length - FEWEST; at += 1) {
    sum += logs[at - 1] ?? 0;
    if (at < FEWEST) continue;
    const difference = sum / at - (total - sum) / (logs.length - at);
    const gain = (difference * difference * at * (logs.length - at)) / logs.length;
    if (gain > best) [best, split] = [gain, at];
  }
  const first = runs[split];
  if (split === 0 || first === undefined) return undefined;
  const before = medianMs(runs.slice(0, split));
  const after = medianMs(runs.slice(split));
  const ratio = after / before;
  if (ratio < SMALLEST_RATIO && ratio > 1 / SMALLEST_RATIO) return undefined;
  return { at: first.startedNs, before, after, ratio, runsBefore: split, runsAfter: runs.length - split };
}

export function medianMs(runs: readonly Timed[]): Milliseconds {
  const ordered = runs.map(({ wallMs }) => wallMs).sort((a, b) => a - b);
  const middle = ordered.length / 2;
  return ((ordered[Math.ceil(middle) - 1] ?? Number.NaN) + (ordered[Math.floor(middle)] ?? Number.NaN)) / 2;
}

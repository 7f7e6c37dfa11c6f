// The axis of time of the charts of a query.

import type { QuerySummary } from "../api/client";
import { epochMs, type UnixNs } from "../units";

const YOUNGEST_MS = 180_000;

/**
 * Where the axis of time begins and ends: a label that is younger than half of the range needs only what it has run,
 * and one that stopped only half as long again. `moments` are to be on it as well.
 */
export function axisOf(
  runs: readonly Pick<QuerySummary, "started_unix_ns">[],
  moments: readonly UnixNs[],
  sinceMs: number,
  untilMs: number,
): [sinceMs: number, untilMs: number] {
  const starts = runs.map(({ started_unix_ns }) => epochMs(started_unix_ns));
  const first = Math.min(...starts);
  const last = Math.max(...starts, ...moments.map(epochMs));
  const until = Math.min(untilMs, last + Math.max(YOUNGEST_MS, last - first) / 2);
  const age = Math.max(YOUNGEST_MS, until - first);
  return [age < (untilMs - sinceMs) / 2 ? until - age * 1.05 : sinceMs, until];
}

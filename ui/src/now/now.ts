// What runs now, in one line.

import type { LabelOverview, QuerySummary } from "../api/client";
import type { Running } from "../live/hub";
import { epochMs, formatThreads } from "../units";
import { progressOf } from "./progress";

/**
 * "3 running, 11.2 threads busy; `orders/daily` is past its usual time". `late` says of queries, by id, whether they are
 * late by the earlier runs of their plan; of others their label says it.
 */
export function firstLine(
  running: readonly Running[],
  usualOf: ReadonlyMap<string, LabelOverview>,
  nowMs: number,
  late: ReadonlyMap<string, boolean> = new Map(),
): string {
  if (running.length === 0) return "Nothing is running";
  const threads = running.reduce((sum, { pulse }) => sum + (pulse?.threads.at(-1) ?? 0), 0);
  const past = running.flatMap(({ query, pulse }) => {
    const elapsed = Math.max(nowMs - epochMs(query.started_unix_ns), pulse?.elapsed_ms ?? 0);
    const isLate = late.get(query.query_id) ?? progressOf(elapsed, usualOf.get(query.label ?? ""))?.isLate ?? false;
    return query.label && isLate ? [query.label] : [];
  });
  const line = `${running.length} running, ${formatThreads(threads)} threads busy`;
  const [first] = past;
  if (first === undefined) return line;
  return past.length === 1 ? `${line}; ${first} is past its usual time` : `${line}; ${past.length} are past their usual time`;
}

/** For a sort: the query that started last first. */
export function newestFirst(a: QuerySummary, b: QuerySummary): number {
  return a.started_unix_ns === b.started_unix_ns ? 0 : a.started_unix_ns < b.started_unix_ns ? 1 : -1;
}

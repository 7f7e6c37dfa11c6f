// What runs now, in one line.

import type { QuerySummary } from "../api/client";
import type { Running } from "../live/hub";
import { nameInText } from "../parts/names";
import { formatThreads } from "../units";

/**
 * "3 running, 11.2 threads busy; orders/daily is past its usual time". `late` says by id which queries are late; of
 * those that are not in it, nothing is known.
 */
export function firstLine(running: readonly Running[], late: ReadonlyMap<string, boolean>): string {
  if (running.length === 0) return "Nothing is running";
  const threads = running.reduce((sum, { pulse }) => sum + (pulse?.threads.at(-1) ?? 0), 0);
  const line = `${running.length} running, ${formatThreads(threads)} threads busy`;
  const past = running.filter(({ query }) => late.get(query.query_id) === true);
  const [first] = past;
  if (first === undefined) return line;
  if (past.length > 1) return `${line}; ${past.length} are past their usual time`;
  const name = first.query.label == null ? "1" : nameInText(first.query.label);
  return `${line}; ${name} is past its usual time`;
}

/** That started first first: a query that starts takes the last place, and no other moves. */
export function oldestFirst(running: readonly Running[]): Running[] {
  return running.toSorted((a, b) => -newestFirst(a.query, b.query));
}

/** For a sort: the query that started last first. */
export function newestFirst(a: QuerySummary, b: QuerySummary): number {
  return a.started_unix_ns === b.started_unix_ns ? 0 : a.started_unix_ns < b.started_unix_ns ? 1 : -1;
}

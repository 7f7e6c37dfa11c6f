// What runs now, in one line.

import type { Pulse, QuerySummary } from "../api/client";
import type { Running } from "../live/hub";
import { nameInText } from "./names";
import { formatThreads, fromEpochMs } from "../units";

/** Threads busy at the last sample; undefined before the first, and where no node tells how long it works. */
export function busyThreads(pulse: Pulse | undefined): number | undefined {
  return pulse?.busy_known === true ? pulse.threads.at(-1) : undefined;
}

/**
 * "3 running, 11.2 threads busy; orders/daily is past its usual time". Work in the program's own code is in no counter:
 * then it is at least so many, and so it is where not all of them tell how long they work. `late` says by id which
 * queries are late; of those that are not in it, nothing is known.
 */
export function firstLine(running: readonly Running[], late: ReadonlyMap<string, boolean>): string {
  if (running.length === 0) return "Nothing is running";
  const told = running.map(({ pulse }) => busyThreads(pulse)).filter((threads) => threads !== undefined);
  const threads = told.reduce((sum, one) => sum + one, 0);
  const isLeast = running.some(({ pulse }) => pulse !== undefined && (pulse.user_code != null || !pulse.busy_known));
  const busy = told.length === 0 ? "" : `, ${isLeast ? "at least " : ""}${formatThreads(threads)} threads busy`;
  const line = `${running.length} running${busy}`;
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

/** For a sort: the query that ended last first; of one that fell silent, its start is known alone. */
export function lastEndedFirst(a: QuerySummary, b: QuerySummary): number {
  const endOf = (run: QuerySummary): bigint => run.started_unix_ns + fromEpochMs(run.wall_ms ?? 0);
  const [first, second] = [endOf(a), endOf(b)];
  return first === second ? newestFirst(a, b) : first < second ? 1 : -1;
}

/** For a sort: the query that started last first. */
function newestFirst(a: QuerySummary, b: QuerySummary): number {
  return a.started_unix_ns === b.started_unix_ns ? 0 : a.started_unix_ns < b.started_unix_ns ? 1 : -1;
}

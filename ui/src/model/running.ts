// What runs now: in one line, in an order that holds still, and when it ends.

import type { Pulse, QuerySummary, Schemas } from "../api/client";
import type { Running } from "../live/hub";
import { ambiguousLabels, nameInText, ofService } from "./names";
import { formatDuration, formatThreads, fromEpochMs, UNKNOWN, type UnixNs } from "../units";

/** As it is shown. */
const NO_THREADS = formatThreads(0);

/**
 * Threads busy at the last sample; undefined before the first, where no node tells how long it works, and where the
 * counters stand still and no sample kept has any: DuckDB counts the first milliseconds, and the rest at the end.
 */
export function busyThreads(pulse: Pulse | undefined): number | undefined {
  if (pulse?.busy_known !== true) return undefined;
  const isStill = pulse.quiet_ms > 0 && pulse.threads.every((threads) => formatThreads(threads) === NO_THREADS);
  return isStill ? undefined : pulse.threads.at(-1);
}

/** The same in words. Of work in the program's own code none is counted: none busy is then not known to be so. */
export function busyWords(pulse: Pulse | undefined): string {
  if (pulse === undefined) return formatThreads(undefined);
  const busy = busyThreads(pulse);
  const threads = formatThreads(busy);
  const isLeast = pulse.user_code != null;
  if (busy === undefined || (isLeast && threads === NO_THREADS)) return "not counted";
  return isLeast ? `at least ${threads}` : threads;
}

/** "2 of 7" nodes have ended; unknown while none has told that it ended: of some engines none ever does. */
export function doneWords(pulse: Pulse | undefined): string {
  return pulse !== undefined && pulse.done > 0 ? `${pulse.done} of ${pulse.nodes}` : UNKNOWN;
}

/** Counters that stand still for longer are worth a word. */
const QUIET_MS = 5000;

/** "no counter has changed for 8 s"; empty where counters move, and where none counts what works. */
export function quietWords(pulse: Pulse | undefined): string {
  const ms = pulse?.quiet_ms ?? 0;
  const isCounted = pulse?.user_code == null && (busyThreads(pulse) !== undefined || pulse?.rows_read);
  return ms > QUIET_MS && isCounted ? `no counter has changed for ${formatDuration(ms)}` : "";
}

/** What the service said of a running query, and when. */
export interface Asked {
  progress: Schemas["Progress"];
  atMs: number;
}
/** By the id of the query; of those that are not in it, nothing is known. */
export type AskedById = ReadonlyMap<string, Asked>;

/** When half of the runs that took longer than it had ended, counted from now; undefined where there is no basis. */
export function remainingMs(asked: Asked | undefined, nowMs: number): number | undefined {
  const p50 = asked?.progress.remaining_ms?.p50;
  return asked === undefined || p50 === undefined ? undefined : Math.max(0, p50 - (nowMs - asked.atMs));
}

/**
 * "3 running, 11.2 threads busy; orders/daily should end in about 15 s; 2 late". Work in the program's own code
 * is in no counter: then it is at least so many, and so it is where not all of them tell how long they work.
 */
export function firstLine(running: readonly Running[], asked: AskedById, nowMs: number): string {
  if (running.length === 0) return "Nothing is running";
  const told = running.map(({ pulse }) => busyThreads(pulse)).filter((threads) => threads !== undefined);
  const threads = told.reduce((sum, one) => sum + one, 0);
  const isLeast = running.some(
    ({ pulse }) => pulse !== undefined && (pulse.user_code != null || busyThreads(pulse) === undefined),
  );
  const text = formatThreads(threads);
  const isSaid = told.length > 0 && !(isLeast && text === NO_THREADS);
  const busy = isSaid ? `, ${isLeast ? "at least " : ""}${text} threads busy` : "";
  return [`${running.length} running${busy}`, nextLine(running, asked, nowMs), lateLine(running, asked)]
    .filter((text) => text !== "")
    .join("; ");
}

const isLate = (asked: AskedById, { query }: Running): boolean => asked.get(query.query_id)?.progress.is_late === true;

/** The name of one of those that run. */
function nameOf({ query }: Running, running: readonly Running[]): string {
  if (query.label == null) return "a query without a label";
  const isAmbiguous = ambiguousLabels(running.map(({ query }) => query)).has(query.label);
  return `${nameInText(query.label)}${isAmbiguous ? ofService(query.service) : ""}`;
}

function nextLine(running: readonly Running[], asked: AskedById, nowMs: number): string {
  let next: { one: Running; ms: number } | undefined;
  for (const one of running) {
    const ms = isLate(asked, one) ? undefined : remainingMs(asked.get(one.query.query_id), nowMs);
    if (ms !== undefined && (next === undefined || ms < next.ms)) next = { one, ms };
  }
  if (next === undefined) return "";
  const whole = Math.round(next.ms / 1000) * 1000;
  const when = whole <= 1000 ? "any moment" : `in about ${formatDuration(whole)}`;
  return `${nameOf(next.one, running)} should end ${when}`;
}

function lateLine(running: readonly Running[], asked: AskedById): string {
  const past = running.filter((one) => isLate(asked, one));
  const [first] = past;
  if (first === undefined) return "";
  if (past.length > 1) return `${past.length} late`;
  return `${nameOf(first, running)} is past its usual time`;
}

/** That started first first: a query that starts takes the last place, and no other moves. */
export function oldestFirst(running: readonly Running[]): Running[] {
  return running.toSorted((a, b) => -newestFirst(a.query, b.query));
}

/** When a run ended; of one that fell silent, its start is known alone. */
export function endOf(run: QuerySummary): UnixNs {
  return run.started_unix_ns + fromEpochMs(run.wall_ms ?? 0);
}

/** For a sort: the query that ended last first. */
export function lastEndedFirst(a: QuerySummary, b: QuerySummary): number {
  const [first, second] = [endOf(a), endOf(b)];
  return first === second ? newestFirst(a, b) : first < second ? 1 : -1;
}

/** For a sort: the query that started last first. */
function newestFirst(a: QuerySummary, b: QuerySummary): number {
  return a.started_unix_ns === b.started_unix_ns ? 0 : a.started_unix_ns < b.started_unix_ns ? 1 : -1;
}

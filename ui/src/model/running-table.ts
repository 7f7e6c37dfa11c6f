// The table of what runs: its order, its groups, and rows that keep their place while somebody reaches for one.

import type { Running } from "../live/hub";
import { busyThreads, oldestFirst, remainingMs, type AskedById } from "./running";

export const SORTS = ["late", "elapsed", "remaining", "busy", "label"] as const;
export type Sort = (typeof SORTS)[number];
export const GROUPS = ["none", "service", "host"] as const;
export type GroupBy = (typeof GROUPS)[number];

/** A row: a running query, or one that ended while its place was kept. */
export interface Shown {
  running: Running;
  hasEnded: boolean;
}

/**
 * In order: what is late first and then what has run longest, or by a figure, the largest first; remaining time and
 * names from the least. What is unknown comes last.
 */
export function inOrder(running: readonly Running[], sort: Sort, asked: AskedById, nowMs: number): Running[] {
  const old = oldestFirst(running);
  const lateFirst = ({ query }: Running): number => (asked.get(query.query_id)?.progress.is_late === true ? 0 : 1);
  const figure: Record<Exclude<Sort, "label" | "elapsed">, (one: Running) => number | undefined> = {
    late: lateFirst,
    remaining: ({ query }) => remainingMs(asked.get(query.query_id), nowMs),
    busy: ({ pulse }) => {
      const busy = busyThreads(pulse);
      return busy === undefined ? undefined : -busy;
    },
  };
  if (sort === "elapsed") return old;
  if (sort === "label") {
    return old.sort((a, b) => (a.query.label ?? "\uffff").localeCompare(b.query.label ?? "\uffff"));
  }
  return old.sort((a, b) => (figure[sort](a) ?? Infinity) - (figure[sort](b) ?? Infinity) || 0);
}

/** Groups of rows by a name, the largest group first; one group without a name where they are not grouped. */
export function groupsOf(rows: readonly Shown[], by: GroupBy): { name: string | null; rows: Shown[] }[] {
  if (by === "none") return [{ name: null, rows: [...rows] }];
  const groups = new Map<string | null, Shown[]>();
  for (const row of rows) {
    const name = row.running.query[by] ?? null;
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return [...groups]
    .map(([name, rows]) => ({ name, rows }))
    .sort((a, b) => b.rows.length - a.rows.length || (a.name ?? "\uffff").localeCompare(b.name ?? "\uffff"));
}

/** The rows as they are to be, or, while they are held, those that are shown with what is new of each. */
export function kept(shown: readonly Shown[], wanted: readonly Running[], isHeld: boolean): Shown[] {
  if (!isHeld) return wanted.map((running) => ({ running, hasEnded: false }));
  const now = new Map(wanted.map((one) => [one.query.query_id, one]));
  return shown.map(({ running }) => {
    const still = now.get(running.query.query_id);
    return { running: still ?? running, hasEnded: still === undefined };
  });
}

/** Between two orders the places stay: what ended goes, and what started stands last. */
export function appended(shown: readonly Shown[], wanted: readonly Running[]): Shown[] {
  const still = kept(shown, wanted, true).filter(({ hasEnded }) => !hasEnded);
  const here = new Set(still.map(({ running }) => running.query.query_id));
  const fresh = wanted.filter(({ query }) => !here.has(query.query_id));
  return [...still, ...fresh.map((running) => ({ running, hasEnded: false }))];
}

/** "2 started and 1 ended meanwhile", or nothing. */
export function meanwhile(shown: readonly Shown[], wanted: readonly Running[]): string {
  const here = new Set(shown.map(({ running }) => running.query.query_id));
  const started = wanted.filter(({ query }) => !here.has(query.query_id)).length;
  const ended = shown.filter(({ hasEnded }) => hasEnded).length;
  const words = [started > 0 ? `${started} started` : "", ended > 0 ? `${ended} ended` : ""];
  const told = words.filter((text) => text !== "").join(" and ");
  return told === "" ? "" : `${told} meanwhile`;
}

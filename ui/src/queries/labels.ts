// The table by label: which query should I look at?

import type { LabelOverview, Overview } from "../api/client";
import type { UnixNs } from "../units";
import { onlyFailed } from "../model/cancelled";
import { nameInText, shownName } from "../model/names";
import { formatCount, formatShare, plural } from "../units";
import { isWorse, type Change, type TimeText } from "../model/change";
import { emptyLine } from "../model/change-groups";
import { queryKey } from "../route/route";

export const SORTS = ["share", "label", "usual", "lately", "change", "runs", "failed"] as const;
export type Sort = (typeof SORTS)[number];

const NUMBERS: Record<
  Exclude<Sort, "label" | "change" | "usual" | "lately">,
  (label: LabelOverview) => number | null | undefined
> = { share: ({ total_wall_ms }) => total_wall_ms, runs: ({ runs }) => runs, failed: onlyFailed };

export interface Usual {
  ms: number | null | undefined;
  /** Half of the usual runs lie in it; before a change it is the interval of the median. */
  band: readonly number[] | null | undefined;
  /** Since when its times changed: then these are of the runs before. */
  since: UnixNs | undefined;
  /** The median lately; since a change it is that of the runs after. */
  latelyMs: number | null | undefined;
}

/** Whether a change is one of the runs of any environment that a page shows; it may have one of several. */
export function isOfShown({ environment = null }: Change, shown: string | undefined): boolean {
  return environment === null || environment === shown;
}

/**
 * The usual time of a query: before an open change of its times on all hosts, else that of the 14 days before. A change
 * that began when the range had ended is none of it.
 */
export function usualOf(label: LabelOverview, change: Change | undefined, until?: UnixNs): Usual {
  const { kind, before, after, host = null, since_unix_ns: since } = change ?? {};
  const { median_wall_ms: ms = null, low_ms: low = null, high_ms: high = null } = before ?? {};
  const isWithin = since !== undefined && (until === undefined || since < until);
  if ((kind === "slower" || kind === "faster") && host === null && ms !== null && isWithin) {
    const latelyMs = until === undefined ? after?.median_wall_ms : label.recent_wall_ms;
    return { ms, band: low === null || high === null ? null : [low, high], since, latelyMs };
  }
  return { ms: label.usual_wall_ms, band: label.usual_band_ms, since: undefined, latelyMs: label.recent_wall_ms };
}

/**
 * When a change began, behind "before" or "since": "18 Nov 02:05", ", prod" where it is of one environment of several.
 * The day alone would not do: runs of that day came before the change, too.
 */
export function changeTime(since: UnixNs, environment: string | undefined, timeText: TimeText): string {
  return `${timeText(since)}${environment === undefined ? "" : `, ${shownName(environment)}`}`;
}

/** Whether all runs lately failed. Cancelled ones are among the failed: with one in the range that is not known. */
export function haveAllFailed({ recent_runs: runs, recent_failed: failed, cancelled }: LabelOverview): boolean {
  return runs > 0 && failed === runs && cancelled === 0;
}

/** Open changes by query: of several, that for the worse, and then the one that costs most. */
export function byQuery(changes: readonly Change[]): Map<string, Change> {
  const found = new Map<string, Change>();
  for (const change of changes) {
    const key = queryKey(change);
    const known = found.get(key);
    if (known === undefined || (!isWorse(known) && isWorse(change))) found.set(key, change);
  }
  return found;
}

/**
 * Sorted: numbers the largest first, names from A; `reverse` the other way. What is unknown comes last. By change: the
 * one with the most time a day at stake first.
 */
export function sorted(
  labels: readonly LabelOverview[],
  sort: Sort,
  reverse: boolean,
  changes: ReadonlyMap<string, Change> = new Map(),
  until?: UnixNs,
): LabelOverview[] {
  const way = reverse ? -1 : 1;
  if (sort === "label") return labels.toSorted((a, b) => way * a.label.localeCompare(b.label));
  const changeOf = (label: LabelOverview): Change | undefined => changes.get(queryKey(label));
  const atStake = (label: LabelOverview): number | undefined => changeOf(label)?.cost.wall_ms_a_day;
  const usual = (label: LabelOverview): Usual => usualOf(label, changeOf(label), until);
  const number = {
    ...NUMBERS,
    change: atStake,
    usual: (label: LabelOverview) => usual(label).ms,
    lately: (label: LabelOverview) => usual(label).latelyMs,
  }[sort];
  return labels.toSorted((a, b) => {
    const [first, second] = [number(a) ?? null, number(b) ?? null];
    if (first === null || second === null) return Number(first === null) - Number(second === null);
    return way * (second - first);
  });
}

/** Those whose name or service has the text in it; with `changed`, those of them that have an open change. */
export function matching(
  labels: readonly LabelOverview[],
  find: string,
  changed: ReadonlyMap<string, Change> | undefined,
): LabelOverview[] {
  const text = find.toLowerCase();
  return labels.filter(
    (label) =>
      (label.label.toLowerCase().includes(text) || label.service?.toLowerCase().includes(text) === true) &&
      (changed === undefined || changed.has(queryKey(label))),
  );
}

export interface Listed {
  /** The queries in the list. */
  rows: readonly LabelOverview[];
  totals: Overview["totals"];
  /** The range, behind a verb: "in 14 days". */
  during: string;
  /** The search, empty where there is none. */
  find: string;
  onlyChanged: boolean;
  /** Whether the service, host or the like is restricted. */
  isFiltered: boolean;
  /** How many queries were read, where others were left out. */
  read: number | undefined;
}

/**
 * What the list holds: "34 queries, 4.09 k runs in 14 days; orders/daily took 28 % of their time", or
 * `0 of 34 queries match "zzzz"`.
 */
export function firstLine({ rows, totals, during, find, onlyChanged, isFiltered, read }: Listed): string {
  if (totals.labels === 0) return emptyLine(during, isFiltered);
  const isPart = find !== "" || onlyChanged;
  const all = { runs: totals.runs, ms: totals.total_wall_ms, queries: totals.labels };
  const part = {
    runs: rows.reduce((sum, { runs }) => sum + runs, 0),
    ms: rows.reduce((sum, { total_wall_ms }) => sum + total_wall_ms, 0),
    queries: rows.length,
  };
  const { runs, ms, queries } = isPart ? part : all;
  const subject = isPart
    ? `${formatCount(queries)} of ${among(totals.labels, read)} ${does(queries, find, onlyChanged)}`
    : plural(queries, "query", "queries");
  if (queries === 0) return subject;
  const line = `${subject}, ${plural(runs, "run")} ${during}`;
  const [top] = sorted(rows, "share", false);
  if (top === undefined || queries === 1 || ms === 0) return line;
  const isTwo = rows.some((row) => row !== top && row.label === top.label);
  const name = `${nameInText(top.label)}${isTwo && top.service != null ? ` (${nameInText(top.service)})` : ""}`;
  return `${line}; ${name} took ${formatShare(top.total_wall_ms / ms)} of their time`;
}

function among(queries: number, read: number | undefined): string {
  if (read === undefined) return plural(queries, "query", "queries");
  return `the ${plural(read, "query", "queries")} that took the most time`;
}

function does(queries: number, find: string, onlyChanged: boolean): string {
  const matches = find === "" ? "" : `${queries === 1 ? "matches" : "match"} "${nameInText(find)}"`;
  return [matches, onlyChanged ? "changed" : ""].filter((text) => text !== "").join(" and ");
}

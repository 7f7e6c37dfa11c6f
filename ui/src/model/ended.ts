// What ended last: many short runs of one query take one row.

import type { QuerySummary } from "../api/client";
import { endOf, lastEndedFirst } from "./running";
import type { UnixNs } from "../units";

/** Runs as they were read, those that started last first, and since when they are all there are. */
export interface Read {
  runs: readonly QuerySummary[];
  since: UnixNs;
}

/** What a page of the list holds: where it is full, runs that started before its last one are missing. */
export function readPage(runs: readonly QuerySummary[], limit: number, since: UnixNs = 0n): Read {
  return { runs, since: runs.length < limit ? since : (runs.at(-1)?.started_unix_ns ?? since) };
}

/**
 * Runs that ended, the last first, of those that started last in each state and of those of any state. Where a state
 * may miss runs, none that ended before is told: others may have ended between.
 */
export function endedLast(states: readonly Read[], any: Read): QuerySummary[] {
  const sinces = states.map(({ since }) => (since < any.since ? since : any.since));
  const since = sinces.reduce((latest, one) => (one > latest ? one : latest), 0n);
  const runs = [...states, any].flatMap(({ runs }) => runs).filter(({ status }) => status !== "running");
  const byId = new Map(runs.map((run) => [run.query_id, run]));
  return [...byId.values()].filter((run) => endOf(run) >= since).sort(lastEndedFirst);
}

/** So many are told as one at least. */
const SERIES_MIN = 3;

/** The run that ended last, and those of its kind before it. */
export interface Series {
  run: QuerySummary;
  earlier: readonly QuerySummary[];
}

/** Finished runs that follow each other and differ in their times alone, as one series; each other run is alone. */
export function inSeries(runs: readonly QuerySummary[]): Series[] {
  const series: QuerySummary[][] = [];
  let last = "";
  for (const run of runs) {
    const { query_id, label, service, environment, host, status, rules } = run;
    const key = status === "finished" ? JSON.stringify([label, service, environment, host, rules]) : query_id;
    if (key === last) series.at(-1)?.push(run);
    else series.push([run]);
    last = key;
  }
  return series
    .flatMap((runs) => (runs.length < SERIES_MIN ? runs.map((run) => [run]) : [runs]))
    .flatMap(([run, ...earlier]) => (run ? [{ run, earlier }] : []));
}

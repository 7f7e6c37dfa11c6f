// Swimlanes: what ran when, in one lane for each service or host.

import type { QuerySummary } from "../api/client";
import { epochMs } from "../units";
import { shownStatus, type ShownStatus } from "./cancelled";

export interface Bar {
  run: QuerySummary;
  fromMs: number;
  toMs: number;
  status: ShownStatus;
  /** The row within its lane, from the top. */
  row: number;
}

export interface Lane {
  /** Undefined for all that the other lanes do not hold. */
  name: string | null | undefined;
  bars: Bar[];
  /** At least 1. */
  rows: number;
}

/** When a run ended, in milliseconds since 1970; undefined of one that runs, or that fell silent. */
export function endMs(run: QuerySummary): number | undefined {
  return run.status === "running" || run.wall_ms == null ? undefined : epochMs(run.started_unix_ns) + run.wall_ms;
}

/** Whether a run of these lanes started in a span of time. */
export function hasStart(lanes: readonly Lane[], sinceMs: number, untilMs: number): boolean {
  return lanes.some(({ bars }) => bars.some(({ fromMs }) => fromMs >= sinceMs && fromMs <= untilMs));
}

/**
 * Lanes of the runs that overlap the time from `sinceMs` to `nowMs`, those with the most time, by name. The least ones
 * share the last lane where there are more than `most`. A run takes the first row that is free when it starts.
 */
export function lanesOf(
  runs: readonly QuerySummary[],
  by: "service" | "host",
  sinceMs: number,
  nowMs: number,
  most: number,
): Lane[] {
  const lanes = new Map<string | null, Bar[]>();
  const seen = new Set<string>();
  for (const run of runs) {
    const fromMs = epochMs(run.started_unix_ns);
    const toMs = endMs(run) ?? (run.status === "running" ? nowMs : fromMs);
    if (seen.has(run.query_id) || toMs < sinceMs || fromMs > nowMs) continue;
    seen.add(run.query_id);
    const name = run[by] ?? null;
    const bars = lanes.get(name) ?? [];
    bars.push({ run, fromMs, toMs: Math.min(toMs, nowMs), status: shownStatus(run), row: 0 });
    lanes.set(name, bars);
  }
  const spent = (bars: readonly Bar[]): number =>
    bars.reduce((sum, { fromMs, toMs }) => sum + toMs - Math.max(sinceMs, fromMs), 0);
  const sorted = [...lanes]
    .map(([name, bars]) => ({ name, bars, ms: spent(bars) }))
    .sort((a, b) => b.ms - a.ms || (a.name ?? "\uffff").localeCompare(b.name ?? "\uffff"));
  const own = sorted.length > most ? sorted.slice(0, most - 1) : sorted;
  const rest = sorted.slice(own.length).flatMap(({ bars }) => bars);
  // By name, so that a lane keeps its place while runs come and go.
  own.sort((a, b) => (a.name ?? "\uffff").localeCompare(b.name ?? "\uffff"));
  return [...own.map(({ name, bars }) => laid(name, bars)), ...(rest.length > 0 ? [laid(undefined, rest)] : [])];
}

function laid(name: Lane["name"], bars: Bar[]): Lane {
  bars.sort((a, b) => a.fromMs - b.fromMs);
  const ends: number[] = [];
  for (const bar of bars) {
    const free = ends.findIndex((end) => end <= bar.fromMs);
    bar.row = free < 0 ? ends.length : free;
    ends[bar.row] = bar.toMs;
  }
  return { name, bars, rows: Math.max(1, ends.length) };
}

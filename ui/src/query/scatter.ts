// The scatter of all runs: time across, wall time upwards on a log scale.

import type { QuerySummary } from "../api/client";
import { epochMs, formatDuration, type UnixNs } from "../units";

export interface Point {
  x: number;
  y: number;
  query: QuerySummary;
  fails: boolean;
}

export interface Scatter {
  width: number;
  height: number;
  plot: { left: number; right: number; top: number; bottom: number };
  /** Ordered by time. */
  points: Point[];
  wallTicks: { y: number; text: string }[];
  dayTicks: { x: number; ms: number }[];
  xOf(time: UnixNs): number;
  yOf(wallMs: number): number;
}

const MARGIN = { left: 58, right: 14, top: 14, bottom: 26 };
const DAY_MS = 86_400_000;
const TICK_PX = 76;

/** Lays out the runs that have a wall time. `dayStartMs` is the start of some local day. */
export function scatter(queries: readonly QuerySummary[], sinceMs: number, untilMs: number, dayStartMs: number, width: number, height: number): Scatter {
  const plot = { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: height - MARGIN.bottom };
  const timed = queries.filter((query) => (query.wall_ms ?? 0) > 0);
  const walls = timed.map(({ wall_ms }) => wall_ms ?? 0);
  const low = Math.min(...walls) / 1.3;
  const high = Math.max(...walls) * 1.3;
  const [from, to] = walls.length === 0 ? [1, 1000] : [low, high];
  const xOf = (time: UnixNs): number => plot.left + ((epochMs(time) - sinceMs) / (untilMs - sinceMs)) * (plot.right - plot.left);
  const yOf = (wall: number): number => plot.bottom - ((Math.log(wall) - Math.log(from)) / (Math.log(to) - Math.log(from))) * (plot.bottom - plot.top);
  const points = timed
    .map((query) => ({ x: xOf(query.started_unix_ns), y: yOf(query.wall_ms ?? 0), query, fails: query.status === "failed" }))
    .filter(({ x }) => x >= plot.left - 1 && x <= plot.right + 1)
    .sort((a, b) => a.x - b.x);
  return {
    width, height, plot, points, xOf, yOf,
    wallTicks: wallTicks(from, to).map((wall) => ({ y: yOf(wall), text: formatDuration(wall) })),
    dayTicks: dayTicks(sinceMs, untilMs, dayStartMs, (plot.right - plot.left) / TICK_PX).map((ms) => ({
      ms,
      x: plot.left + ((ms - sinceMs) / (untilMs - sinceMs)) * (plot.right - plot.left),
    })),
  };
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const ROUND_MS = [
  ...[0.001, 0.01, 0.1, 1, 10, 100].flatMap((decade) => [1, 2, 5].map((step) => step * decade)),
  ...[1, 2, 5, 10, 20, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 20, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 5, 10, 24, 48].map((hours) => hours * HOUR),
];
const MOST_TICKS = 8;

/** Round times between the two; where there are many, every other. */
export function wallTicks(from: number, to: number): number[] {
  let ticks = ROUND_MS.filter((ms) => ms >= from && ms <= to);
  while (ticks.length > MOST_TICKS) ticks = ticks.filter((_, at) => at % 2 === 0);
  return ticks;
}

/** Midnights, at most `most` of them. */
export function dayTicks(sinceMs: number, untilMs: number, dayStartMs: number, most: number): number[] {
  const days = (untilMs - sinceMs) / DAY_MS;
  const every = Math.max(1, Math.ceil(days / Math.max(1, most)));
  const first = dayStartMs + Math.ceil((sinceMs - dayStartMs) / DAY_MS) * DAY_MS;
  const ticks: number[] = [];
  for (let ms = first; ms <= untilMs; ms += every * DAY_MS) ticks.push(ms);
  return ticks;
}

/** The point closest to a place, within `reach` pixels. */
export function nearest(points: readonly Point[], x: number, y: number, reach: number): number | undefined {
  let [best, found] = [reach * reach, -1];
  for (const [at, point] of points.entries()) {
    const distance = (point.x - x) ** 2 + (point.y - y) ** 2;
    if (distance < best) [best, found] = [distance, at];
  }
  return found < 0 ? undefined : found;
}

/** One path of many dots: a line of no length with round ends. Thousands of them cost one element. */
export function dots(points: readonly Point[]): string {
  return points.map(({ x, y }) => `M${x.toFixed(1)} ${y.toFixed(1)}h0`).join("");
}

/** One path of many crosses. */
export function crosses(points: readonly Point[], size: number): string {
  return points.map(({ x, y }) => `M${(x - size).toFixed(1)} ${(y - size).toFixed(1)}l${2 * size} ${2 * size}m${-2 * size} 0l${2 * size} ${-2 * size}`).join("");
}

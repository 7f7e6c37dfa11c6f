// The scatter of all runs: time across, wall time upwards on a log scale.

import type { QuerySummary } from "../api/client";
import { shownStatus, type ShownStatus } from "../model/cancelled";
import { timeTicks, wallTicks } from "../model/ticks";
import { epochMs, formatDuration, type UnixNs } from "../units";

export interface Point {
  x: number;
  y: number;
  query: QuerySummary;
  status: ShownStatus;
}

export interface Scatter {
  width: number;
  height: number;
  plot: { left: number; right: number; top: number; bottom: number };
  /** Ordered by time. */
  points: Point[];
  wallTicks: { y: number; text: string }[];
  timeTicks: { x: number; ms: number }[];
  xOf(time: UnixNs): number;
  yOf(wallMs: number): number;
}

const MARGIN = { left: 58, right: 14, top: 14, bottom: 26 };
const TICK_PX = 76;
/** So much of the axis at least, as a factor: the runs of a steady label are not spread over all of it. */
const SPAN_LEAST = 4;

/** Lays out the runs that have a wall time. `dayStartMs` is the start of some local day. */
export function scatter(
  queries: readonly QuerySummary[],
  sinceMs: number,
  untilMs: number,
  dayStartMs: number,
  width: number,
  height: number,
): Scatter {
  // A chart that is not laid out yet has no width.
  const right = Math.max(MARGIN.left, width - MARGIN.right);
  const plot = { left: MARGIN.left, right, top: MARGIN.top, bottom: height - MARGIN.bottom };
  const timed = queries.filter((query) => (query.wall_ms ?? 0) > 0);
  const walls = timed.map(({ wall_ms }) => wall_ms ?? 0);
  const [from, to] = walls.length === 0 ? [1, 1000] : wallRange(Math.min(...walls), Math.max(...walls));
  const xOf = (time: UnixNs): number =>
    plot.left + ((epochMs(time) - sinceMs) / (untilMs - sinceMs)) * (plot.right - plot.left);
  const yOf = (wall: number): number =>
    plot.bottom - ((Math.log(wall) - Math.log(from)) / (Math.log(to) - Math.log(from))) * (plot.bottom - plot.top);
  const points = timed
    .map((query) => ({ x: xOf(query.started_unix_ns), y: yOf(query.wall_ms ?? 0), query, status: shownStatus(query) }))
    .filter(({ x }) => x >= plot.left - 1 && x <= plot.right + 1)
    .sort((a, b) => a.x - b.x);
  return {
    width,
    height,
    plot,
    points,
    xOf,
    yOf,
    wallTicks: wallTicks(from, to).map((wall) => ({ y: yOf(wall), text: formatDuration(wall) })),
    timeTicks: timeTicks(sinceMs, untilMs, dayStartMs, (plot.right - plot.left) / TICK_PX).map((ms) => ({
      ms,
      x: plot.left + ((ms - sinceMs) / (untilMs - sinceMs)) * (plot.right - plot.left),
    })),
  };
}

function wallRange(least: number, most: number): [number, number] {
  const room = Math.max(1.3, Math.sqrt(SPAN_LEAST / (most / least)));
  return [least / room, most * room];
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
  const cross = `l${2 * size} ${2 * size}m${-2 * size} 0l${2 * size} ${-2 * size}`;
  return points.map(({ x, y }) => `M${(x - size).toFixed(1)} ${(y - size).toFixed(1)}${cross}`).join("");
}

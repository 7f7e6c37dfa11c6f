// How the times of a query's runs developed, as the service tells it, drawn: two lines on a log scale, and bars of
// counts.

import type { Schemas } from "../api/client";
import { formatCount, formatDuration } from "../units";
import { failureWords, onlyFailed } from "./cancelled";

export type SeriesGroup = Schemas["SeriesGroup"];
export type SeriesSlice = Schemas["SeriesSlice"];

export const DIMENSIONS = [
  "none",
  "fingerprint",
  "host",
  "program_version",
  "engine_version",
  "environment",
  "service",
] as const;
export type Dimension = (typeof DIMENSIONS)[number];
export const DIMENSION_NAMES: Record<Dimension, string> = {
  none: "all together",
  fingerprint: "plan",
  host: "host",
  program_version: "version of the program",
  engine_version: "version of the engine",
  environment: "environment",
  service: "service",
};

/** The least and the largest time of some groups, with room about them; undefined where there is none. */
export function timesOf(groups: readonly SeriesGroup[]): [low: number, high: number] | undefined {
  let [low, high] = [Infinity, 0];
  for (const { slices } of groups) {
    for (const { p50_ms: p50 = null, p95_ms: p95 = null } of slices) {
      if (p50 !== null && p50 > 0) [low, high] = [Math.min(low, p50), Math.max(high, p50)];
      if (p95 !== null && p95 > 0) high = Math.max(high, p95);
    }
  }
  return high === 0 ? undefined : [low / 1.15, high * 1.15];
}

export interface Plot {
  left: number;
  right: number;
  /** Of the lines. */
  top: number;
  bottom: number;
  /** Where the first slice begins and the last one ends; what lies beyond `left` and `right` is not shown. */
  first: number;
  last: number;
  /** Of the bars: they stand on their foot and are as high as `barsTop` for the largest count. */
  barsTop: number;
  foot: number;
}

export interface Drawn {
  p50: string;
  p95: string;
  runs: string;
  failed: string;
  mostRuns: number;
}

/** The part of a slice that is shown; its end is no further than its start where none is. */
function shownPart(at: number, slices: number, { left, right, first, last }: Plot): [from: number, to: number] {
  const step = (last - first) / slices;
  return [Math.max(left, first + at * step), Math.min(right, first + (at + 1) * step)];
}

/** Where the middle of a slice stands. */
export function middleOf(at: number, slices: number, plot: Plot): number {
  const [from, to] = shownPart(at, slices, plot);
  return (from + to) / 2;
}

export function yOf(ms: number, [low, high]: [number, number], plot: Plot): number {
  return plot.bottom - ((Math.log(ms) - Math.log(low)) / (Math.log(high) - Math.log(low))) * (plot.bottom - plot.top);
}

/** Of slices that are wider, in pixels, the figures are drawn over their whole width, and not at their middle alone. */
const WIDE_PX = 48;

/** A dot about where the path is: strokes that are shorter than a dash. */
const DOT = "m-1.2 1.2h2.4m0-1.2h-2.4m0-1.2h2.4";

/** The paths of a group. A slice in which nothing finished is a gap; one alone is a dot. Without times, bars alone. */
export function drawn(group: SeriesGroup, times: [number, number] | undefined, plot: Plot, mostRuns: number): Drawn {
  const { slices } = group;
  const isWide = plot.last - plot.first > WIDE_PX * slices.length;
  const parts = slices.map((_, at) => shownPart(at, slices.length, plot));
  const line = (value: (slice: SeriesSlice) => number | null | undefined): string => {
    if (times === undefined) return "";
    let path = "";
    let isOn = false;
    for (const [at, slice] of slices.entries()) {
      const ms = value(slice) ?? null;
      const [from, to] = parts[at] ?? [0, 0];
      if (ms === null || ms <= 0 || to <= from) {
        isOn = false;
        continue;
      }
      const y = yOf(ms, times, plot).toFixed(1);
      const x = (isWide ? from : (from + to) / 2).toFixed(1);
      path += `${isOn ? "L" : "M"}${x} ${y}${isWide ? `H${to.toFixed(1)}` : isOn ? "" : "h0"}`;
      isOn = true;
    }
    return path.replaceAll(/h0(?!L)/g, DOT);
  };
  const bars = (count: (slice: SeriesSlice) => number): string =>
    slices
      .map((slice, at) => {
        const height = (count(slice) / Math.max(1, mostRuns)) * (plot.foot - plot.barsTop);
        const [from, to] = parts[at] ?? [0, 0];
        const step = to - from;
        if (height === 0 || step <= 0) return "";
        const x = from + Math.min(1, step / 6);
        const width = Math.max(1, step - Math.min(2, step / 3));
        const up = (-Math.max(1, height)).toFixed(1);
        return `M${x.toFixed(1)} ${plot.foot}h${width.toFixed(1)}v${up}h${(-width).toFixed(1)}z`;
      })
      .join("");
  return {
    p50: line(({ p50_ms }) => p50_ms),
    p95: line(({ p95_ms }) => p95_ms),
    runs: bars(({ runs }) => runs),
    failed: bars(onlyFailed),
    mostRuns: Math.max(0, ...slices.map(({ runs }) => runs)),
  };
}

/** "median 41 s, 95th percentile 52 s, 37 runs, 2 failed" */
export function sliceWords(slice: SeriesSlice): string {
  const { runs, p50_ms, p95_ms } = slice;
  const parts = [
    p50_ms == null ? "nothing finished" : `median ${formatDuration(p50_ms)}`,
    p95_ms == null ? "" : `95th percentile ${formatDuration(p95_ms)}`,
    `${formatCount(runs)} ${runs === 1 ? "run" : "runs"}`,
    failureWords(slice),
  ];
  return parts.filter((text) => text !== "").join(", ");
}

// Figures over time as steps in a box, and the marks of its axes.

import type { Span } from "./usage";

export interface Steps {
  /** The area under the steps, as an SVG path. */
  area: string;
  line: string;
}

/** Spans as steps in a box of `width` x `height` whose top edge is `most`. */
export function toSteps(spans: readonly Span[], untilMs: number, most: number, width: number, height: number): Steps {
  const x = (ms: number): number => (untilMs === 0 ? 0 : Math.round((ms / untilMs) * width * 10) / 10);
  const y = (value: number): number => Math.round((1 - Math.min(1, most === 0 ? 0 : value / most)) * height * 10) / 10;
  const steps = merged(spans, untilMs / Math.max(1, width));
  const line = steps
    .map(({ fromMs, untilMs: until, value }, i) => `${i === 0 ? "M" : "L"}${x(fromMs)} ${y(value)}H${x(until)}`)
    .join("");
  const [first, last] = [steps[0], steps.at(-1)];
  const area = first && last ? `${line}V${height}H${x(first.fromMs)}Z` : "";
  return { area, line };
}

/** Joins spans that are no pixel wide to their mean over time: a run of a day has more samples than a screen pixels. */
function merged(spans: readonly Span[], leastMs: number): Span[] {
  const joined: Span[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    if (last === undefined || last.untilMs - last.fromMs >= leastMs || last.untilMs !== span.fromMs) {
      joined.push({ ...span });
      continue;
    }
    const [before, here] = [last.untilMs - last.fromMs, span.untilMs - span.fromMs];
    last.value = before + here === 0 ? span.value : (last.value * before + span.value * here) / (before + here);
    last.untilMs = span.untilMs;
  }
  return joined;
}

export function mostOf(spans: readonly Span[]): number {
  return spans.reduce((top, { value }) => Math.max(top, value), 0);
}

/** Whether it has one value all the time: a mean, and no peak. */
export function isEven(spans: readonly Span[]): boolean {
  return spans.every(({ value }) => value === spans[0]?.value);
}

/** The next of 1, 2, 4, 8, 16, … : whole threads. */
export function wholeThreads(most: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, most - 0.05)));
}

/** The next power of two times a mebibyte. */
export function wholeBytes(most: number): number {
  return 2 ** 20 * 2 ** Math.max(0, Math.ceil(Math.log2(Math.max(1, most) / 2 ** 20)));
}

const UNITS_MS = [1, 1000, 60_000, 3_600_000, 86_400_000];
const STEPS = [1, 2, 5, 10, 15, 20, 30, 60, 100, 120, 200, 300, 500];

/** Moments that are marked on the axis of time: about `count` of them, at round times. */
export function timeMarks(untilMs: number, count: number): number[] {
  if (untilMs <= 0 || count < 1) return [];
  const least = untilMs / count;
  const sizes = UNITS_MS.flatMap((unit) => STEPS.map((step) => unit * step)).sort((a, b) => a - b);
  const size = least < 1 ? 10 ** Math.ceil(Math.log10(least)) : (sizes.find((one) => one >= least) ?? least);
  const marks: number[] = [];
  for (let at = 0; at * size <= untilMs; at += 1) marks.push(at * size);
  return marks;
}

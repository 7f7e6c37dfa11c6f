import type { Busy } from "./threads";

export interface Steps {
  /** The area under the steps, as an SVG path. */
  area: string;
  line: string;
  /** Threads at the top edge. */
  most: number;
}

/** Busy threads over time as steps in a box of `width` x `height`. */
export function toSteps(threads: readonly Busy[], untilMs: number, width: number, height: number): Steps {
  const most = niceTop(threads.reduce((top, busy) => Math.max(top, busy.threads), 1));
  const x = (ms: number): number => (untilMs === 0 ? 0 : Math.round((ms / untilMs) * width * 10) / 10);
  const y = (busy: number): number => Math.round((1 - busy / most) * height * 10) / 10;
  const line = threads
    .map((busy, i) => `${i === 0 ? "M" : "L"}${x(busy.fromMs)} ${y(busy.threads)}H${x(busy.untilMs)}`)
    .join("");
  const [first, last] = [threads[0], threads.at(-1)];
  const area = first && last ? `${line}V${height}H${x(first.fromMs)}Z` : "";
  return { area, line, most };
}

/** The next of 1, 2, 4, 8, 16, … : whole threads. */
function niceTop(most: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, most - 0.05)));
}

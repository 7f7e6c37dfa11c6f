// How far a running query is, against what is usual.

import type { LabelOverview } from "../api/client";
import { formatDuration, formatRatio, type Milliseconds } from "../units";

export interface Progress {
  /** Of the usual time; more than one where it is past it. */
  share: number;
  words: string;
  isLate: boolean;
}

/** Against the usual time of its label. Undefined where that is not known. */
export function progressOf(elapsed: Milliseconds, usual: LabelOverview | undefined): Progress | undefined {
  const usualMs = usual?.usual_wall_ms ?? null;
  if (usualMs === null || usualMs <= 0) return undefined;
  const share = elapsed / usualMs;
  const isLate = elapsed > Math.max(usual?.usual_band_ms?.[1] ?? usualMs, usualMs);
  const words = isLate
    ? `${formatRatio(share)} its usual time (${formatDuration(usualMs)})`
    : `usually ${formatDuration(usualMs)}`;
  return { share, words, isLate };
}

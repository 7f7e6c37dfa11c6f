// How much is left of a running query, by the earlier runs of its plan: an interval with its basis, or nothing.

import type { Schemas } from "../api/client";
import { formatDuration, plural } from "../units";

export interface Remaining {
  words: string;
  /** Shares of the way, the lower and the upper end of what is likely; undefined where it is past its earlier runs. */
  done: { low: number; high: number } | undefined;
  isLate: boolean;
}

/** The share of earlier runs from which on a query counts as late. */
const LATE = 0.9;

/** Undefined where there is no basis. */
export function remainingOf(progress: Schemas["Progress"] | undefined): Remaining | undefined {
  if (progress === undefined) return undefined;
  const { runs, longer_than: longer = null, remaining_ms: remaining = null, done = null } = progress;
  const isLate = longer !== null && runs > 0 && longer / runs >= LATE;
  if (remaining !== null) {
    const words = `${formatDuration(remaining.p50)} to ${formatDuration(remaining.p90)} more, by ${plural(runs, "run")} of its plan`;
    return { words: isLate ? `longer than ${longer} of ${runs} runs of its plan; ${words}` : words, done: done ?? undefined, isLate };
  }
  if (longer === null || longer === 0) return undefined;
  return { words: `already longer than ${longer} of ${plural(runs, "run")} of its plan`, done: undefined, isLate };
}

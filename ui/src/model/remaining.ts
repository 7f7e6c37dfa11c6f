// How much is left of a running query, as the service tells it: an interval with its basis, or nothing.

import type { Schemas } from "../api/client";
import { formatDuration, formatRatio, plural } from "../units";

type Progress = Schemas["Progress"];

export interface Remaining {
  /** "8.3 s to 31 s more (40 earlier runs of its plan)": one set of runs, whether it is late or not. */
  words: string;
  /** Shares of the way, the lower and the upper end of what is likely; undefined where it is past its earlier runs. */
  done: { low: number; high: number } | undefined;
  /** What a bar shows where `done` is not known: all of it past all earlier runs, else nothing. */
  bar: { low: number; high: number };
  isLate: boolean;
}

/** Undefined where there is no basis. */
export function remainingOf(progress: Progress | undefined | null): Remaining | undefined {
  if (progress == null) return undefined;
  const { runs, is_late: isLate, longer_than: longer = null, remaining_ms: remaining = null, done = null } = progress;
  const { basis = null, rows_read_factor: rows = null, change = null } = progress;
  const isPastAll = longer === runs;
  const bar = isPastAll ? { low: 1, high: 1 } : { low: 0, high: 0 };
  if (remaining !== null) {
    const interval = `${formatDuration(remaining.p10)} to ${formatDuration(remaining.p90)} more`;
    const words = basis === null ? interval : `${interval} (${basis})`;
    return { words: isLate ? `late: ${words}` : words, done: done ?? undefined, bar: done ?? bar, isLate };
  }
  if (longer === null || longer === 0) return undefined;
  const size = rows !== null && rows > 1 ? `; so far it has read ${formatRatio(rows)} the rows of its last runs` : "";
  const earlier = change === null ? plural(runs, "earlier run") : `${plural(runs, "run")} before its change`;
  const past = `${isPastAll ? "already " : ""}longer than ${longer} of ${earlier}`;
  return { words: `${past}${size}`, done: undefined, bar, isLate };
}

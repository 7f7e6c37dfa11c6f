// How much is left of a running query, as the service tells it: an interval with its basis, or nothing.

import type { Schemas } from "../api/client";
import { formatDuration, formatRatio } from "../units";

type Progress = Schemas["Progress"];

export interface Remaining {
  /** "8.3 s to 31 s more (the last 40 runs of its plan)": one set of runs, whether it is late or not. */
  words: string;
  isLate: boolean;
  /** Whether the shares are those of earlier runs. */
  isKnown: boolean;
  /**
   * Shares of the way, 0 to 1: the lower and the upper end of what is likely. Where they are not known, all of it past
   * all earlier runs, else nothing.
   */
  low: number;
  high: number;
}

/** What was answered at a moment, as it is so much later: undefined where there is no basis. */
export function remainingOf(progress: Progress | undefined | null, laterMs: number): Remaining | undefined {
  if (progress == null) return undefined;
  const { runs, is_late: isLate, longer_than: longer = null, remaining_ms: remaining = null, done = null } = progress;
  const { basis = null, rows_read_factor: rows = null } = progress;
  const isPastAll = longer === runs;
  const past = isPastAll ? 1 : 0;
  if (remaining !== null) {
    const [low, high] = [remaining.p10 - laterMs, remaining.p90 - laterMs];
    const from = low > 0 ? `${formatDuration(low)} to` : "up to";
    const interval = high > 0 ? `${from} ${formatDuration(high)} more` : "any moment";
    const words = basis === null ? interval : `${interval} (${basis})`;
    const shares = done ?? { low: past, high: past };
    return { words: isLate ? `late: ${words}` : words, isKnown: done !== null, isLate, ...shares };
  }
  if (longer === null || longer === 0 || basis === null) return undefined;
  const size = rows !== null && rows > 1 ? `; so far it has read ${formatRatio(rows)} the rows of its last runs` : "";
  const words = `${isPastAll ? "already " : ""}longer than ${longer} of ${basis}${size}`;
  return { words, isKnown: false, isLate, low: past, high: past };
}

// The runs of a query lately: whether they took their usual time, and how that is said.

import type { LabelOverview } from "../api/client";
import { formatDuration } from "../units";

/** Where fewer runs than these are of the last 24 hours, lately are the last three. */
export const LAST_RUNS = 3;

/** Whether none failed lately, and the median lies within the usual band, from as many runs as the service compares. */
export function isAsUsual({ judged, usual_band_ms, recent_wall_ms: ms, recent_failed }: LabelOverview): boolean {
  const [low, high] = usual_band_ms ?? [];
  return judged && recent_failed === 0 && ms != null && ms >= (low ?? Infinity) && ms <= (high ?? 0);
}

/** Whether a change may not show yet: it takes up to `least` runs to find one. */
export function isFew(label: LabelOverview, least: number): boolean {
  return label.judged ? label.recent_runs < least && !isAsUsual(label) : label.runs < least;
}

/** "1.54 s lately, usually 1.6 s", "1.6 s in its last 3 runs", "2 ms to 45 s lately"; empty where neither is known. */
export function latelyWords(
  { recent_wall_ms: ms, recent_spread_ms: spread, recent_runs: runs, usual_wall_ms: usual }: LabelOverview,
  last = "its last ",
): string {
  const when = runs > LAST_RUNS ? "lately" : `in ${last}${runs > 1 ? `${runs} runs` : "run"}`;
  const lately = ms == null ? "" : `${(spread ?? [ms]).map(formatDuration).join(" to ")} ${when}`;
  return [lately, usual == null ? "" : `usually ${formatDuration(usual)}`].filter((text) => text !== "").join(", ");
}

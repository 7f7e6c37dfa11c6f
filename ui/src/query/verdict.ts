// The first line of a query's page: when did it change, and why?

import type { LabelOverview } from "../api/client";
import { howMuch, isFailing } from "../home/verdicts";
import { formatDuration, plural, type UnixNs } from "../units";
import type { Shift } from "./shift";

export interface Known {
  label: LabelOverview;
  shift: Shift | undefined;
  failingSince: UnixNs | undefined;
}

const USUAL_RUNS = 5;

/** `said` says a point in time. */
export function verdict({ label, shift, failingSince }: Known, said: (time: UnixNs) => string): string {
  const usual = label.usual_wall_ms ?? null;
  const n = label.recent_runs - label.recent_failed;
  const changedAt = label.plan_changed_unix_ns ?? null;
  if (isFailing(label)) {
    const since = failingSince === undefined ? "" : ` since ${said(failingSince)}`;
    return `Fails${since}: ${label.recent_failed} of its last ${label.recent_runs} runs${usual === null ? "" : ` (usually it takes ${formatDuration(usual)})`}`;
  }
  if (usual === null) return `Too few runs (${label.runs}) to say what is usual; it takes ${USUAL_RUNS} before the last ones`;
  if (label.verdict) {
    const at = sinceWhen(shift, label.verdict, changedAt);
    const since = at === undefined ? "" : ` since ${said(at)}`;
    const cause = changedAt === null ? ". Its plan is the same" : ": the plan changed";
    return `${howMuch(label.ratio, label.verdict)} than usual${since} (${formatDuration(label.recent_wall_ms)} in ${plural(n, "run")}, usually ${formatDuration(usual)})${cause}`;
  }
  const ratio = label.ratio ?? null;
  const lately = ratio === null ? "" : ` (${formatDuration(label.recent_wall_ms)} in ${plural(n, "run")}, usually ${formatDuration(usual)})`;
  return changedAt === null ? `Runs as usual${lately}` : `Runs as usual${lately}, with a new plan since ${said(changedAt)}`;
}

/** The time moved when the plan changed, where it did; else where the runs themselves show it. */
function sinceWhen(shift: Shift | undefined, way: "slower" | "faster", changedAt: UnixNs | null): UnixNs | undefined {
  if (changedAt !== null) return changedAt;
  return shift !== undefined && shift.ratio > 1 === (way === "slower") ? shift.at : undefined;
}

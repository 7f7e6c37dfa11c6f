// Two runs that show what changed: one as it usually was before, and one as it usually is since.

import type { QuerySummary } from "../api/client";
import type { Plan } from "./plans";
import type { Shift } from "./shift";

export interface Pair {
  base: QuerySummary;
  run: QuerySummary;
  /** Whether another plan ran. */
  isNewPlan: boolean;
}

/**
 * The finished run nearest the median of what runs now and that of what ran before: by plan where the plan is what
 * changed, else by the time of the shift. Undefined where either is missing.
 */
export function typicalPair(runs: readonly QuerySummary[], current: Plan | undefined, hasNewPlan: boolean, shift: Shift | undefined): Pair | undefined {
  const finished = runs.filter(({ status, wall_ms }) => status === "finished" && (wall_ms ?? null) !== null);
  const before = current?.before;
  if (hasNewPlan) {
    if (current === undefined || before === undefined) return undefined;
    const of = (plan: Plan): QuerySummary | undefined => typical(finished.filter(({ fingerprint }) => fingerprint === plan.version.fingerprint));
    return pair(of(before), of(current), true);
  }
  if (shift === undefined) return undefined;
  const isNew = ({ started_unix_ns }: QuerySummary): boolean => started_unix_ns >= shift.at;
  return pair(typical(finished.filter((run) => !isNew(run))), typical(finished.filter(isNew)), false);
}

function pair(base: QuerySummary | undefined, run: QuerySummary | undefined, isNewPlan: boolean): Pair | undefined {
  return base === undefined || run === undefined ? undefined : { base, run, isNewPlan };
}

function typical(runs: readonly QuerySummary[]): QuerySummary | undefined {
  return runs.toSorted((a, b) => (a.wall_ms ?? 0) - (b.wall_ms ?? 0))[Math.floor((runs.length - 1) / 2)];
}

// The plans of a label, told apart by a letter: A ran first.

import type { QuerySummary, Version } from "../api/client";
import type { Milliseconds } from "../units";
import { DAY_NS } from "./range";

export interface Plan {
  letter: string;
  /** Its colour: 0 to 5, or "other" for those beyond. */
  colour: number | "other";
  version: Version;
  /** Median time of its runs: of those from before an open change, where it has some. */
  usualMs: Milliseconds;
  /** Whether it ran since that change, too. */
  isBefore: boolean;
  /** Against the plan that ran before it. */
  ratio: number | undefined;
  before: Plan | undefined;
}

const COLOURS = 6;
/** So many runs from before a change say what was usual for a plan. */
const RUNS_MIN = 5;

/** A to Z, then AA to AZ and so on. */
export function letterOf(at: number): string {
  const last = String.fromCharCode(65 + (at % 26));
  return at < 26 ? last : letterOf(Math.floor(at / 26) - 1) + last;
}

/** In the order in which they first ran; `earlier` has what their runs from before an open change say. */
export function plansOf(versions: readonly Version[], earlier: readonly Version[] = []): Plan[] {
  const ordered = versions.toSorted((a, b) => (a.first_started_unix_ns < b.first_started_unix_ns ? -1 : 1));
  const plans: Plan[] = [];
  for (const [at, version] of ordered.entries()) {
    const before = plans.at(-1);
    const isEnough = ({ fingerprint, runs }: Version): boolean =>
      fingerprint === version.fingerprint && runs >= RUNS_MIN;
    const then = earlier.find(isEnough) ?? version;
    const usualMs = then.usual_wall_ms;
    const ratio = before === undefined ? undefined : usualMs / before.usualMs;
    const colour = at < COLOURS ? at : "other";
    plans.push({ letter: letterOf(at), colour, version, usualMs, isBefore: then.runs < version.runs, before, ratio });
  }
  return plans;
}

/** Whether the plan that ran before it ran since, too, and within a day of its last run: it took nobody's place. */
export function isBeside({ before, version }: Plan): boolean {
  const last = before?.version.last_started_unix_ns ?? 0n;
  return last > version.first_started_unix_ns && last > version.last_started_unix_ns - DAY_NS;
}

/**
 * What is said of the listed plan that ran last, given the newest run. Plans that never finished are not listed: a
 * newer run that failed may have had one of those, or no plan at all.
 */
export function lastWords(
  { fingerprint, last_started_unix_ns: last }: Version,
  newest: Pick<QuerySummary, "fingerprint" | "started_unix_ns"> | undefined,
): string {
  const isNewest = newest === undefined || newest.fingerprint === fingerprint || newest.started_unix_ns <= last;
  return isNewest ? "ran last" : "ran last of these";
}

// The plans of a label, told apart by a letter: A ran first.

import type { Version } from "../api/client";

export interface Plan {
  letter: string;
  /** Its colour: 0 to 5, or "other" for those beyond. */
  colour: number | "other";
  version: Version;
  /** Against the plan that ran before it. */
  ratio: number | undefined;
  before: Plan | undefined;
}

const COLOURS = 6;

/** A to Z, then AA to AZ and so on. */
export function letterOf(at: number): string {
  const last = String.fromCharCode(65 + (at % 26));
  return at < 26 ? last : letterOf(Math.floor(at / 26) - 1) + last;
}

/** In the order in which they first ran. */
export function plansOf(versions: readonly Version[]): Plan[] {
  const ordered = versions.toSorted((a, b) => (a.first_started_unix_ns < b.first_started_unix_ns ? -1 : 1));
  const plans: Plan[] = [];
  for (const [at, version] of ordered.entries()) {
    const before = plans.at(-1);
    const ratio = before === undefined ? undefined : version.usual_wall_ms / before.version.usual_wall_ms;
    plans.push({ letter: letterOf(at), colour: at < COLOURS ? at : "other", version, before, ratio });
  }
  return plans;
}

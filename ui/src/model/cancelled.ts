// Runs that a person or the program stopped. The service keeps them as failed; their error text tells them apart.

import type { Status } from "../api/client";
import { formatCount } from "../units";
import { CANCELLED } from "./run/vocabulary";

/** The states of a run as pages name them. */
export type ShownStatus = Status | "cancelled";

export function isCancelled(error: string | null | undefined): boolean {
  if (error === null || error === undefined) return false;
  const text = error
    .trim()
    .replace(/[.: ]+$/, "")
    .toLowerCase();
  return CANCELLED.whole.some((whole) => text === whole) || CANCELLED.parts.some((part) => text.includes(part));
}

export function shownStatus(run: { status: Status; failed?: string | null }): ShownStatus {
  return run.status === "failed" && isCancelled(run.failed) ? "cancelled" : run.status;
}

/** Counts of the service: the failed ones have the cancelled ones among them. */
export interface Failures {
  failed: number;
  cancelled: number;
  unfinished?: number;
}

/** Runs that failed and were not cancelled. */
export function onlyFailed({ failed, cancelled }: Failures): number {
  return failed - cancelled;
}

/** Those that ended otherwise, with how many there are, where there are any. */
export function otherEnds({ cancelled, unfinished = 0 }: Failures): [name: string, runs: number][] {
  return Object.entries({ cancelled, lost: unfinished }).filter(([, runs]) => runs > 0);
}

/** "2 failed, 1 cancelled"; nothing where none did. */
export function failureWords(counts: Failures): string {
  const parts = { failed: onlyFailed(counts), cancelled: counts.cancelled };
  return Object.entries(parts)
    .flatMap(([name, runs]) => (runs > 0 ? [`${formatCount(runs)} ${name}`] : []))
    .join(", ");
}

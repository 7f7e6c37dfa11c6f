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

type Ends = [name: string, runs: number][];

function some(runs: Record<string, number>): Ends {
  return Object.entries(runs).filter(([, count]) => count > 0);
}

/** Those that ended otherwise, with how many there are, where there are any. */
export function otherEnds({ cancelled, unfinished = 0 }: Failures): Ends {
  return some({ cancelled, unfinished });
}

/** "2 failed, 1 cancelled, 1 unfinished"; nothing where all finished or run. */
export function failureWords(counts: Failures): string {
  const ends = [...some({ failed: onlyFailed(counts) }), ...otherEnds(counts)];
  return ends.map(([name, runs]) => `${formatCount(runs)} ${name}`).join(", ");
}

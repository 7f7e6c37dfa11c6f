// What a run is compared with, as the address keeps it.

import { fromEpochMs } from "../../units";

/** Parameters of the address, each of which chooses a base; with `base`, the others say nothing. */
export const BASE_NAMES = ["base", "base_plan", "base_version", "base_host", "base_from", "base_to"] as const;
export type BaseName = (typeof BASE_NAMES)[number];

/** No base is chosen: the service takes the usual one. */
export const USUAL: Readonly<Record<BaseName, undefined>> = {
  base: undefined,
  base_plan: undefined,
  base_version: undefined,
  base_host: undefined,
  base_from: undefined,
  base_to: undefined,
};

/** What `/api/compare` is asked for. A day counts whole, in the reader's zone. */
export function baseAsked(get: (name: BaseName) => string | undefined) {
  const base = get("base");
  if (base !== undefined) return { base };
  const since = dayMs(get("base_from"));
  const until = dayMs(get("base_to"));
  return {
    base_fingerprint: get("base_plan"),
    base_program_version: get("base_version"),
    base_host: get("base_host"),
    base_since: since === null ? undefined : fromEpochMs(since),
    base_until: until === null ? undefined : fromEpochMs(until + DAY_MS - 1),
  };
}

const DAY_MS = 86_400_000;

/** When a day such as 2026-11-18 began; null where it is none. */
function dayMs(day: string | undefined): number | null {
  if (day === undefined || !/^\d{4}-\d\d-\d\d$/.test(day)) return null;
  const ms = new Date(`${day}T00:00:00`).getTime();
  return Number.isNaN(ms) ? null : ms;
}

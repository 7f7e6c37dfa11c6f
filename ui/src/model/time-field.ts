// A moment as the field for date and time of a browser holds it, in the zone that the reader chose.

import { utcOffset, type Zone } from "../units";

const MINUTE_MS = 60_000;

/** "2026-11-09T14:02:07" */
export function toField(ms: number, zone: Zone): string {
  return new Date(ms + utcOffset(ms, zone) * MINUTE_MS).toISOString().slice(0, 19);
}

/** Milliseconds since 1970; undefined where nothing, or no moment, is written. */
export function fromField(text: string, zone: Zone): number | undefined {
  // Browsers read a time without an offset as local.
  const ms = text === "" ? Number.NaN : new Date(zone === "utc" ? `${text}Z` : text).getTime();
  return Number.isNaN(ms) ? undefined : ms;
}

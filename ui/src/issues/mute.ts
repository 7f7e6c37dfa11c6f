// Until when an issue is muted, as a form asks for it.

import type { Zone } from "../units";
import { fromEpochMs } from "../units";
import type { Mute } from "../parts/issue-acts.svelte";

const HOUR_MS = 3_600_000;

export const SPANS = [
  { name: "for an hour", ms: HOUR_MS },
  { name: "for 8 hours", ms: 8 * HOUR_MS },
  { name: "for a day", ms: 24 * HOUR_MS },
  { name: "for a week", ms: 7 * 24 * HOUR_MS },
  { name: "until", ms: undefined },
] as const;

export type MuteForm =
  { until: "time"; span: number; at: string } | { until: "worse"; times: number } | { until: "engine" | "program" };

/** What the form asks for; undefined where a field of it is empty or no time. */
export function muteOf(form: MuteForm, nowMs: number, zone: Zone): Mute | undefined {
  switch (form.until) {
    case "time": {
      const ms = SPANS[form.span]?.ms;
      const until = ms === undefined ? readTime(form.at, zone) : nowMs + ms;
      return Number.isFinite(until) ? { until_unix_ns: fromEpochMs(until) } : undefined;
    }
    case "worse":
      return Number.isFinite(form.times) ? { times_worse: form.times } : undefined;
    case "engine":
    case "program":
      return { until_other: form.until };
  }
}

/** The value of a field for a date and time, in the zone that the pages show. */
function readTime(value: string, zone: Zone): number {
  if (value === "") return Number.NaN;
  return new Date(zone === "utc" ? `${value}Z` : value).getTime();
}

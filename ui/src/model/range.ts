// The stretch of time that pages show: the last hours or days, or from one moment to another. It is in the address.

import { epochMs, formatDuration, fromEpochMs, plural, type UnixNs } from "../units";

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const DAY_NS = 86_400_000_000_000n;

export interface Preset {
  /** Its parameter of the address, and the value of it. */
  name: "days" | "hours";
  count: number;
}

/** What the picker offers. */
export const PRESETS: readonly Preset[] = [
  { name: "hours", count: 1 },
  { name: "hours", count: 6 },
  { name: "days", count: 1 },
  { name: "days", count: 7 },
  { name: "days", count: 14 },
  { name: "days", count: 30 },
  { name: "days", count: 90 },
];
const DEFAULT: Preset = { name: "days", count: 14 };
/** The service covers so much at once. */
export const MOST_MS = 90 * DAY_MS;

export interface Between {
  since: UnixNs;
  /** Now where it is undefined. */
  until: UnixNs | undefined;
}
export type Range = Preset | Between;

export const isBetween = (range: Range): range is Between => "since" in range;

/** The parameters of an address that say which range it is of. */
export const PARAMETERS = ["days", "hours", "since", "until"] as const;
export type RangeParameters = Record<(typeof PARAMETERS)[number], string | undefined>;

function moment(text: string | undefined): UnixNs | undefined {
  return text !== undefined && /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined;
}

/** The range that an address is of: 14 days where it says none. */
export function rangeOf(get: (name: string) => string | undefined): Range {
  const [since, until] = [moment(get("since")), moment(get("until"))];
  if (since !== undefined && (until === undefined || since < until)) return { since, until };
  if (until !== undefined) return { since: until - fromEpochMs(lengthMs(DEFAULT, 0)), until };
  return PRESETS.find(({ name, count }) => get(name) === String(count)) ?? DEFAULT;
}

/** The parameters that stand for a range: those of another one are undefined. */
export function parametersOf(range: Range): RangeParameters {
  const none = { days: undefined, hours: undefined, since: undefined, until: undefined };
  if (isBetween(range)) return { ...none, since: String(range.since), until: range.until && String(range.until) };
  const isDefault = range.name === DEFAULT.name && range.count === DEFAULT.count;
  return isDefault ? none : { ...none, [range.name]: String(range.count) };
}

export function lengthMs(range: Range, nowMs: number): number {
  if (isBetween(range)) return (range.until === undefined ? nowMs : epochMs(range.until)) - epochMs(range.since);
  return range.count * (range.name === "days" ? DAY_MS : HOUR_MS);
}

/** Both ends, in milliseconds since 1970. */
export function endsMs(range: Range, nowMs: number): [sinceMs: number, untilMs: number] {
  const untilMs = isBetween(range) && range.until !== undefined ? epochMs(range.until) : nowMs;
  return [isBetween(range) ? epochMs(range.since) : nowMs - lengthMs(range, nowMs), untilMs];
}

/** From one moment to another; one that would end later than now ends now. */
export function between(sinceMs: number, untilMs: number, nowMs: number): Between {
  const since = fromEpochMs(Math.floor(sinceMs));
  return { since, until: untilMs >= nowMs ? undefined : fromEpochMs(Math.ceil(untilMs)) };
}

/** Twice as long about the same middle, not later than now, and not longer than the service covers. */
export function zoomedOut(range: Range, nowMs: number): Range {
  const [sinceMs, untilMs] = endsMs(range, nowMs);
  const length = Math.min(MOST_MS, 2 * (untilMs - sinceMs));
  const end = Math.min(nowMs, (sinceMs + untilMs) / 2 + length / 2);
  const preset = PRESETS.find((one) => lengthMs(one, nowMs) === length);
  return preset !== undefined && end >= nowMs ? preset : between(end - length, end, nowMs);
}

/** The same length before it, or behind it; the last of it ends now. */
export function moved(range: Range, by: -1 | 1, nowMs: number): Range {
  const [sinceMs, untilMs] = endsMs(range, nowMs);
  const length = untilMs - sinceMs;
  const end = Math.min(nowMs, untilMs + by * length);
  return between(end - length, end, nowMs);
}

/** What an overview takes. Slices of a number of days have six hours: of one day it takes the begin. */
export type Covered = { days?: number; since?: UnixNs; until?: UnixNs };

export function coveredBy(range: Range, nowMs: number): Covered {
  if (!isBetween(range)) {
    return lengthMs(range, nowMs) > DAY_MS
      ? { days: range.count }
      : { since: fromEpochMs(nowMs - lengthMs(range, nowMs)) };
  }
  return range.until === undefined ? { since: range.since } : { since: range.since, until: range.until };
}

/** What a list of runs takes. */
export function startedIn(range: Range, nowMs: number): { since: UnixNs; until: UnixNs | undefined } {
  if (isBetween(range)) return range;
  return { since: fromEpochMs(nowMs - lengthMs(range, nowMs)), until: undefined };
}

/** "14 days", "1 hour", "3 h 20 min". */
export function lengthText(range: Range, nowMs: number): string {
  if (isBetween(range)) return formatDuration(Math.round(lengthMs(range, nowMs) / 1000) * 1000);
  return range.name === "days" ? plural(range.count, "day") : plural(range.count, "hour");
}

/** Behind a verb: "in 14 days", "from 18 Nov 02:00 to 19 Nov 03:00", "since 18 Nov 02:00". */
export function rangeText(range: Range, timeText: (time: UnixNs) => string): string {
  if (!isBetween(range)) return `in ${lengthText(range, 0)}`;
  const from = timeText(range.since);
  return range.until === undefined ? `since ${from}` : `from ${from} to ${timeText(range.until)}`;
}

/** On the picker: "Last 14 days", "18 Nov 02:00 – 19 Nov 03:00". */
export function rangeName(range: Range, timeText: (time: UnixNs) => string): string {
  if (!isBetween(range))
    return range.name === "days" && range.count === 1 ? "Last 24 hours" : `Last ${lengthText(range, 0)}`;
  return `${timeText(range.since)} – ${range.until === undefined ? "now" : timeText(range.until)}`;
}

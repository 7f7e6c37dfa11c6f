import { formatDay, formatTime, fromEpochMs, type UnixNs } from "../units";
import { clock } from "./clock.svelte";
import { preferences } from "./preferences.svelte";

/** A point in time as this page shows it now, in the zone that the reader chose. */
export function timeText(time: UnixNs, seconds = false): string {
  return formatTime(time, preferences.zone, clock.nowMs, seconds);
}

const MINUTE_NS = 60_000_000_000;

/** When a slice begins: several of less than a minute begin in one. */
export function sliceTime(begin: UnixNs, sliceNs: bigint | number): string {
  return timeText(begin, sliceNs < MINUTE_NS);
}

/** On the axis of a chart, in milliseconds since 1970: a midnight by its day, others by their time. */
export function tickText(ms: number): string {
  const time = fromEpochMs(ms);
  const text = formatTime(time, preferences.zone, ms, ms % 60_000 !== 0);
  return text === "00:00" ? formatDay(time, preferences.zone) : text;
}

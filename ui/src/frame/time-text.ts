import { formatTime, type UnixNs } from "../units";
import { clock } from "./clock.svelte";
import { preferences } from "./preferences.svelte";

/** A point in time as this page shows it now, in the zone that the reader chose. */
export function timeText(time: UnixNs, seconds = false): string {
  return formatTime(time, preferences.zone, clock.nowMs, seconds);
}

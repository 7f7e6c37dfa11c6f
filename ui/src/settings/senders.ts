// Senders as the settings list them.

import type { Schemas } from "../api/client";
import { formatDuration } from "../units";

type Sender = Schemas["Sender"];

/** Processes of one service, host and sending library as one, with how many they are; the last heard first. */
export function together(senders: readonly Sender[]): (Sender & { count: number })[] {
  const all = new Map<string, Sender & { count: number }>();
  for (const sender of senders) {
    const { service, host, agent, dropped } = sender;
    const key = JSON.stringify([service, host, agent, dropped == null]);
    const row = all.get(key);
    if (row === undefined) {
      all.set(key, { ...sender, count: 1 });
      continue;
    }
    row.count += 1;
    row.events += sender.events;
    row.refused += sender.refused;
    row.last_refusal ??= sender.last_refusal ?? null;
    if (dropped != null) row.dropped = dropped + (row.dropped ?? 0);
    if (Math.abs(sender.clock_behind_ms ?? 0) > Math.abs(row.clock_behind_ms ?? 0))
      row.clock_behind_ms = sender.clock_behind_ms ?? null;
  }
  return [...all.values()];
}

/** From here on a clock that is behind is less likely than events that waited, such as a history that is sent later. */
const OLD_MS = 3_600_000;

/** How far a clock is off, where that is a second or more: a batch that waited looks like a clock that is behind. */
export function clockWords({ clock_behind_ms: ms }: { clock_behind_ms?: number | null | undefined }): string {
  const size = Math.abs(ms ?? 0);
  if (size < 1000) return "";
  if (ms !== size) return `${formatDuration(size)} ahead at least`;
  return size < OLD_MS ? `${formatDuration(size)} behind at most` : `its events are ${formatDuration(size)} old`;
}

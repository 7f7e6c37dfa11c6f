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
    row.clock_behind_ms = mostOff(row.clock_behind_ms ?? 0, sender.clock_behind_ms ?? 0);
  }
  return [...all.values()];
}

/** Less is the time that a batch takes. */
const OFF_MS = 1000;

/** The clock that is most ahead, which is known to be off; else what was received latest after its time. */
function mostOff(a: number, b: number): number {
  return Math.min(a, b) <= -OFF_MS ? Math.min(a, b) : Math.max(a, b);
}

/** How the times of events differ from those of receipt: a clock that is behind looks like events that waited. */
export function clockWords({ clock_behind_ms: ms }: { clock_behind_ms?: number | null | undefined }): string {
  const size = Math.abs(ms ?? 0);
  if (size < OFF_MS) return "";
  const time = formatDuration(size);
  return ms === size ? `newest start or end dated ${time} before receipt` : `clock ahead by at least ${time}`;
}

/** "queryscope-client 0.1.0" of the User-Agent "queryscope-client/0.1.0". */
export function libraryName(agent: string | null | undefined): string {
  return agent?.replace(/\/(?=\d)/g, " ") ?? "–";
}

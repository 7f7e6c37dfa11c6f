// The heat map: each label, day by day, against its usual time.

import type { LabelOverview } from "../api/client";
import { failureWords, onlyFailed } from "../model/cancelled";
import type { Change } from "../model/change";
import { exactDuration, formatRatio, plural, type UnixNs } from "../units";
import { usualOf } from "./labels";

export interface DayCell {
  /**
   * 0 to 4: as usual to more than four times as slow; -1 where it was faster, undefined where nothing finished, "few"
   * where too few runs came before to say what is usual.
   */
  heat: -1 | 0 | 1 | 2 | 3 | 4 | "few" | undefined;
  /** What stands in the cell: a colour alone says nothing. */
  text: string;
  /** Without those that were cancelled. */
  failed: number;
  cancelled: number;
  runs: number;
  title: string;
}

export const DAY_NS = 86_400_000_000_000n;
const FASTER = 1 / 1.5;

function heat(ratio: number): Exclude<DayCell["heat"], "few"> {
  if (ratio <= FASTER) return -1;
  if (ratio < 1.25) return 0;
  return ratio < 1.5 ? 1 : ratio < 2 ? 2 : ratio < 4 ? 3 : 4;
}

/** The place of the day in which something was, by the begins of the days; -1 where it was in none of them. */
export function dayOf(time: UnixNs, days: readonly UnixNs[]): number {
  return days.findIndex((day, at) => time >= day && time < (days[at + 1] ?? day + DAY_NS));
}

/** One cell a day, against the usual time of the table. */
export function dayCells(label: LabelOverview, change?: Change): DayCell[] {
  const { ms: usual = null, since } = usualOf(label, change);
  const against = since === undefined ? "the usual time" : "the median before its change";
  return label.days.map(({ runs, failed, cancelled, median_wall_ms }) => {
    const ratio = usual === null || median_wall_ms == null ? undefined : median_wall_ms / usual;
    const level = ratio === undefined ? undefined : heat(ratio);
    const words = [plural(runs, "run")];
    if (failed > 0) words.push(failureWords({ failed, cancelled }));
    if (median_wall_ms != null) {
      const held = ratio === undefined ? "too few earlier runs to judge it" : `${formatRatio(ratio)} ${against}`;
      words.push(`median ${exactDuration(median_wall_ms)}`, held);
    }
    return {
      heat: level ?? (median_wall_ms == null ? undefined : "few"),
      text: ratio === undefined || level === 0 ? "" : level === -1 ? `${formatRatio(1 / ratio)} ↓` : formatRatio(ratio),
      failed: onlyFailed({ failed, cancelled }),
      cancelled,
      runs,
      title: runs === 0 ? "no runs" : words.join(", "),
    };
  });
}

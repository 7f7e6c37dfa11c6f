// The heat map: each label, day by day, against its usual time.

import type { LabelOverview } from "../api/client";
import { failureWords, onlyFailed } from "../model/cancelled";
import type { Change } from "../model/change";
import { exactDuration, formatRatio, plural } from "../units";
import { usualOf } from "./labels";

export interface DayCell {
  /** 0 to 4: as usual to more than four times as slow; -1 where it was faster, undefined where nothing finished. */
  heat: -1 | 0 | 1 | 2 | 3 | 4 | undefined;
  /** What stands in the cell: a colour alone says nothing. */
  text: string;
  /** Without those that were cancelled. */
  failed: number;
  cancelled: number;
  runs: number;
  title: string;
}

const FASTER = 1 / 1.5;

function heat(ratio: number): DayCell["heat"] {
  if (ratio <= FASTER) return -1;
  if (ratio < 1.25) return 0;
  return ratio < 1.5 ? 1 : ratio < 2 ? 2 : ratio < 4 ? 3 : 4;
}

/** One cell a day, against the usual time of the table. Where none is known, the time lately takes its place. */
export function dayCells(label: LabelOverview, change?: Change): DayCell[] {
  const { ms, since } = usualOf(label, change);
  const usual = ms ?? label.recent_wall_ms ?? undefined;
  const against =
    ms == null ? "the time lately" : since === undefined ? "the usual time" : "the median before its change";
  return label.days.map(({ runs, failed, cancelled, median_wall_ms }) => {
    const ratio = usual === undefined || (median_wall_ms ?? null) === null ? undefined : (median_wall_ms ?? 0) / usual;
    const level = ratio === undefined ? undefined : heat(ratio);
    const words = [plural(runs, "run")];
    if (failed > 0) words.push(failureWords({ failed, cancelled }));
    if (ratio !== undefined) {
      words.push(`median ${exactDuration(median_wall_ms)}`, `${formatRatio(ratio)} ${against}`);
    }
    return {
      heat: level,
      text: ratio === undefined || level === 0 ? "" : level === -1 ? `${formatRatio(1 / ratio)} ↓` : formatRatio(ratio),
      failed: onlyFailed({ failed, cancelled }),
      cancelled,
      runs,
      title: runs === 0 ? "no runs" : words.join(", "),
    };
  });
}

// The heat map: each label, day by day, against its usual time. A range of less than two days is shown by slices.

import type { LabelOverview, Overview } from "../api/client";
import { failureWords, onlyFailed, otherEnds } from "../model/cancelled";
import type { Change } from "../model/change";
import { DAY_NS } from "../model/range";
import { formatDuration, formatRatio, plural, type UnixNs } from "../units";
import { usualOf } from "./labels";

/** 0 to 4: as usual to more than four times as slow; -1 where it was faster. */
export type Level = -1 | 0 | 1 | 2 | 3 | 4;

export interface DayCell {
  /** Undefined where nothing finished, or most failed; "few" where too few runs came before to say what is usual. */
  heat: Level | "few" | undefined;
  /** What stands in the cell: a colour alone says nothing. */
  text: string;
  failed: number;
  /** Runs that were cancelled or unfinished; they are not among the failed. */
  others: number;
  isEmpty: boolean;
  title: string;
}

/** What the columns stand for: local days, or slices, of which the medians alone are known. */
export interface Columns {
  begins: readonly UnixNs[];
  /** Of each. */
  ns: bigint;
  isOfSlices: boolean;
}

const FASTER = 1 / 1.5;

function levelOf(ratio: number): Level {
  if (ratio <= FASTER) return -1;
  if (ratio < 1.25) return 0;
  return ratio < 1.5 ? 1 : ratio < 2 ? 2 : ratio < 4 ? 3 : 4;
}

type Range = Pick<Overview, "days" | "since_unix_ns" | "now_unix_ns" | "slice_ns">;

/** Days, and of a range of less than two days its slices. */
export function columnsOf({ days, since_unix_ns: since, now_unix_ns: until, slice_ns }: Range): Columns {
  if (until - since >= 2n * DAY_NS) return { begins: days, ns: DAY_NS, isOfSlices: false };
  const ns = BigInt(slice_ns);
  const begins = Array.from({ length: Number((until - since - 1n) / ns) + 1 }, (_, at) => since + BigInt(at) * ns);
  return { begins, ns, isOfSlices: true };
}

/** The place of the column in which something was; -1 where it was in none of them. */
export function columnOf(time: UnixNs, { begins, ns }: Columns): number {
  return begins.findIndex((begin) => time >= begin && time < begin + ns);
}

/** What part of a day had passed at a time: 0 before it, 1 behind it. */
export function partOfDay(time: UnixNs, day: UnixNs): number {
  return Math.min(1, Math.max(0, Number(time - day) / Number(DAY_NS)));
}

/**
 * One cell a column, against the usual time of the table. The median of that in which a change began has runs of both
 * sides: it is as the change is.
 */
export function dayCells(label: LabelOverview, change?: Change, isOfSlices = false, beganAt = -1): DayCell[] {
  const { ms: usual = null, since } = usualOf(label, change);
  const against = since === undefined ? "the usual time" : "the median before its change";
  const days = isOfSlices
    ? label.bins.map((median_wall_ms) => ({ runs: undefined, failed: 0, cancelled: 0, unfinished: 0, median_wall_ms }))
    : label.days;
  return days.map(({ runs, median_wall_ms, ...counts }, at) => {
    const began = at === beganAt;
    const own = usual === null || median_wall_ms == null ? undefined : median_wall_ms / usual;
    const ratio = (began && since !== undefined ? change?.factor : undefined) ?? own;
    const level = ratio === undefined ? undefined : levelOf(ratio);
    const isEmpty = runs === 0 || (isOfSlices && median_wall_ms == null);
    const failed = onlyFailed(counts);
    const words = runs === undefined ? [] : [plural(runs, "run")];
    const ends = failureWords(counts);
    if (ends) words.push(ends);
    if (median_wall_ms != null) {
      const held = ratio === undefined ? "too few earlier runs to judge it" : `${formatRatio(ratio)} ${against}`;
      words.push(`median ${formatDuration(median_wall_ms)}`, began ? "its change began" : held);
    }
    return {
      heat: 2 * failed > (runs ?? 0) ? undefined : (level ?? (median_wall_ms == null ? undefined : "few")),
      text: ratio === undefined || level === 0 ? "" : level === -1 ? `${formatRatio(1 / ratio)} ↓` : formatRatio(ratio),
      failed,
      others: otherEnds(counts).reduce((sum, [, runs]) => sum + runs, 0),
      isEmpty,
      title: isEmpty ? (isOfSlices ? "none finished" : "no runs") : words.join(", "),
    };
  });
}

// The table by label: which query should I look at?

import type { LabelOverview } from "../api/client";
import { formatCount, formatShare, plural } from "../units";
import { judge } from "../home/verdicts";

export const SORTS = ["share", "label", "usual", "lately", "ratio", "runs", "failed"] as const;
export type Sort = (typeof SORTS)[number];

const NUMBERS: Record<Exclude<Sort, "label">, (label: LabelOverview) => number | null | undefined> = {
  share: ({ total_wall_ms }) => total_wall_ms,
  usual: ({ usual_wall_ms }) => usual_wall_ms,
  lately: ({ recent_wall_ms }) => recent_wall_ms,
  ratio: ({ ratio }) => ratio,
  runs: ({ runs }) => runs,
  failed: ({ failed }) => failed,
};

/** Sorted: numbers the largest first, names from A; `reverse` the other way. What is unknown comes last. */
export function sorted(labels: readonly LabelOverview[], sort: Sort, reverse: boolean): LabelOverview[] {
  const way = reverse ? -1 : 1;
  if (sort === "label") return labels.toSorted((a, b) => way * a.label.localeCompare(b.label));
  const number = NUMBERS[sort];
  return labels.toSorted((a, b) => {
    const [first, second] = [number(a) ?? null, number(b) ?? null];
    if (first === null || second === null) return Number(first === null) - Number(second === null);
    return way * (second - first);
  });
}

/** Those whose name or service has the text in it. */
export function matching(labels: readonly LabelOverview[], find: string, onlyChanged: boolean): LabelOverview[] {
  const text = find.toLowerCase();
  return labels.filter(
    (label) =>
      (label.label.toLowerCase().includes(text) || label.service?.toLowerCase().includes(text) === true) &&
      (!onlyChanged || judge(label).changes.length > 0),
  );
}

/** "34 queries, 4.09 k runs in 14 days; orders/daily took 28 % of the time". */
export function firstLine(labels: readonly LabelOverview[], days: number): string {
  if (labels.length === 0) return `No query with a label ran in ${plural(days, "day")}`;
  const runs = labels.reduce((sum, { runs }) => sum + runs, 0);
  const total = labels.reduce((sum, { total_wall_ms }) => sum + total_wall_ms, 0);
  const [top] = sorted(labels, "share", false);
  const line = `${plural(labels.length, "query", "queries")}, ${formatCount(runs)} runs in ${plural(days, "day")}`;
  return top === undefined || total === 0 ? line : `${line}; ${top.label} took ${formatShare(top.total_wall_ms / total)} of the time`;
}

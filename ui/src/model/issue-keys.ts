// Keys of lists of issues.

/** Acknowledge, mute, resolve. */
export const ISSUE_KEYS = ["a", "m", "r"] as const;
export type IssueKey = (typeof ISSUE_KEYS)[number];

/** The row that `j` or `k` leads to: from none to the first or last; -1 where there is no row. */
export function nextRow(rows: number, at: number, key: "j" | "k"): number {
  if (at < 0) return key === "j" ? Math.min(0, rows - 1) : rows - 1;
  return Math.max(0, Math.min(rows - 1, at + (key === "j" ? 1 : -1)));
}

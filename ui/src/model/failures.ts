// Failures, grouped by their text.

import type { QuerySummary } from "../api/client";
import { cutText, plural, type UnixNs } from "../units";
import { isCancelled } from "./cancelled";
import { isOf, type Change } from "./change";

export interface FailureGroup {
  /** The first line of the last of them. */
  line: string;
  runs: number;
  /** The queries, by label and service. */
  labels: string[];
  firstAt: UnixNs;
  last: QuerySummary;
}

/** What failures of one cause have in common: their first line without what differs from run to run. */
export function likeness(text: string): string {
  return firstLineOf(text)
    .replace(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi, "#")
    .replace(/\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}\b/gi, "#")
    .replace(/\d+(?:[.,:_-]\d+)*/g, "#");
}

/** The first line, and where that only announces the next one, both. */
export function firstLineOf(text: string): string {
  const whole = text.trim();
  const [, first, next = ""] = /^(.*:)\s*\n\s*(.*)/.exec(whole) ?? [];
  return first === undefined ? (whole.split("\n", 1)[0] ?? "") : `${first} ${next.trimEnd()}`;
}

/** More of a line than so many characters is left to what is shown of the whole error. */
const REASON_MAX = 120;

/** Its first line as the end of a sentence. */
export function reasonOf(text: string): string {
  const line = cutText(firstLineOf(text), REASON_MAX);
  return /\w$/.test(line) ? `${line}.` : line;
}

/** An error of more lines or characters is cut: an engine may repeat one for each row. */
const LINES_MAX = 200;
const CHARACTERS_MAX = 20_000;

/** The first lines of an error, and what they leave out: "68.7 k lines"; empty where they are all. */
export function headOf(text: string): { head: string; left: string } {
  const whole = text.trim();
  const lines = whole.split("\n");
  const first = lines.slice(0, LINES_MAX).join("\n");
  const isCut = first.length > CHARACTERS_MAX;
  const head = isCut ? first.slice(0, CHARACTERS_MAX) : first;
  const more = lines.length - head.split("\n").length;
  const left = more > 0 ? plural(more, "line") : isCut ? plural(whole.length - CHARACTERS_MAX, "character") : "";
  return { head: isCut ? `${head}…` : head, left };
}

/** The newest run that failed since a change, and was not cancelled; of runs that are given newest first. */
export function failureSince(change: Change, runs: readonly QuerySummary[]): QuerySummary | undefined {
  return runs.find((run) => isOf(change, run) && run.failed != null && !isCancelled(run.failed));
}

/** Groups runs that failed, given newest first; a cancelled one did not. The group with the most runs comes first. */
export function groupFailures(queries: readonly QuerySummary[]): FailureGroup[] {
  const groups = new Map<string, FailureGroup>();
  for (const query of queries) {
    if (query.failed === null || query.failed === undefined || isCancelled(query.failed)) continue;
    const key = likeness(query.failed);
    const group = groups.get(key) ?? {
      line: firstLineOf(query.failed),
      runs: 0,
      labels: [],
      firstAt: query.started_unix_ns,
      last: query,
    };
    group.runs += 1;
    group.firstAt = query.started_unix_ns;
    const name = [query.label ?? "no label", query.service].filter((text) => text != null).join(" · ");
    if (!group.labels.includes(name)) group.labels.push(name);
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.runs - a.runs);
}

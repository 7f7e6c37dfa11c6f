// What changed, out of the overview.

import type { LabelOverview, Overview } from "../api/client";
import { elapsedMs, formatCount, formatDuration, formatRatio, plural } from "../units";

export type Change = "failing" | "slower" | "warning" | "plan" | "faster";

export interface Judged {
  label: LabelOverview;
  /** Worst first; empty where it runs as usual. */
  changes: Change[];
}

const ORDER: readonly Change[] = ["failing", "slower", "warning", "faster", "plan"];
const FEW_RUNS = 3;
const USUAL_RUNS = 5;

/** Whether it fails now: half of its lately runs, or three and three times as often as before. */
export function isFailing({ recent_failed, recent_runs, failed_before, runs }: LabelOverview): boolean {
  if (recent_failed === 0) return false;
  const share = recent_failed / recent_runs;
  const before = failed_before / Math.max(1, runs - recent_runs);
  return share >= 0.5 || (recent_failed >= 3 && share >= 3 * before);
}

/** How a label does. A label that ran as usual has no changes. */
export function judge(label: LabelOverview): Judged {
  const changes = ORDER.filter((change) => {
    switch (change) {
      case "failing":
        return isFailing(label);
      case "slower":
      case "faster":
        return label.verdict === change;
      case "warning":
        return label.new_rules.length > 0;
      case "plan":
        return (label.plan_changed_unix_ns ?? null) !== null;
    }
  });
  return { label, changes };
}

/** The time that a change costs, for the order within one kind. */
function cost({ label }: Judged): number {
  const extra = (label.recent_wall_ms ?? 0) - (label.usual_wall_ms ?? 0);
  return Math.abs(extra) * label.recent_runs;
}

/** Those that changed, worst first. */
export function changed(judged: readonly Judged[]): Judged[] {
  const rank = ({ changes: [worst] }: Judged): number => (worst === undefined ? ORDER.length : ORDER.indexOf(worst));
  return judged.filter(({ changes }) => changes.length > 0).sort((a, b) => rank(a) - rank(b) || cost(b) - cost(a));
}

/** Whether it has not run often enough to say what is usual. */
export function isYoung({ label, changes: [worst] }: Judged): boolean {
  return (label.usual_wall_ms ?? null) === null && worst !== "failing";
}

/** The first line of the home page: did anything get worse? `failingSince` is said where there is one time to say. */
export function firstLine(judged: readonly Judged[], failingSince: string | undefined): string {
  const count = (change: Change): number => judged.filter(({ changes }) => changes[0] === change).length;
  const [slower, failing, faster] = [count("slower"), count("failing"), count("faster")];
  const young = judged.filter(isYoung).length;
  const usual = judged.length - slower - failing - faster - young;
  const worse: string[] = [];
  const subject = (number: number): string => (worse.length === 0 ? plural(number, "query", "queries") : String(number));
  if (slower > 0) worse.push(`${subject(slower)} ${slower === 1 ? "is" : "are"} slower than usual`);
  if (failing > 0) {
    const since = failingSince === undefined ? "" : ` since ${failingSince}`;
    worse.push(`${subject(failing)} ${failing === 1 ? "fails" : "fail"}${since}`);
  }
  const fine = [faster > 0 ? `${faster} ${faster === 1 ? "is" : "are"} faster` : "", usual > 0 ? `${usual} ${usual === 1 ? "runs" : "run"} as usual` : ""];
  if (young > 0) fine.push(`${young} ${young === 1 ? "has" : "have"} too few runs to judge`);
  const rest = fine.filter((text) => text !== "").join(", ");
  if (worse.length === 0) return rest === "" ? "Nothing has run in this time" : `Nothing got worse: ${rest}`;
  return rest === "" ? worse.join(", ") : `${worse.join(", ")}; ${rest}`;
}

/** A verdict's basis: "85.3 s in 24 runs, usually 43 s (2.0x slower)". */
export function basis(label: LabelOverview): string {
  const { recent_wall_ms: recent = null, usual_wall_ms: usual = null, ratio = null } = label;
  const runs = label.recent_runs - label.recent_failed;
  if (recent === null) return usual === null ? `too few runs (${label.runs})` : `usually ${formatDuration(usual)}`;
  if (usual === null) return `${formatDuration(recent)}; too few runs to say what is usual (${runs}, it takes ${USUAL_RUNS} before them)`;
  const moved = howMuch(ratio, label.verdict);
  if (runs < FEW_RUNS) return `${formatDuration(recent)}, usually ${formatDuration(usual)} (${moved}, too few runs (${runs}))`;
  return `${formatDuration(recent)} in ${formatCount(runs)} runs, usually ${formatDuration(usual)} (${moved})`;
}

/** "2.0x slower", "1.8x faster", "1.1x". */
export function howMuch(ratio: number | null | undefined, verdict: LabelOverview["verdict"]): string {
  if (ratio === null || ratio === undefined) return "–";
  if (verdict === "faster") return `${formatRatio(1 / ratio)} faster`;
  return verdict === "slower" ? `${formatRatio(ratio)} slower` : formatRatio(ratio);
}

const DAY_MS = 86_400_000;
const MANY = 0.2;

/** The days on which many of its runs failed, as shares of the range: the middle of each. */
export function failedDays(label: LabelOverview, { days, since_unix_ns, now_unix_ns }: Overview): number[] {
  const range = elapsedMs(since_unix_ns, now_unix_ns);
  return label.days.flatMap(({ runs, failed }, at) => {
    const day = days[at];
    if (day === undefined || failed === 0 || failed / runs < MANY) return [];
    const start = elapsedMs(since_unix_ns, day);
    return [(Math.max(0, start) + Math.min(range, start + DAY_MS)) / 2 / range];
  });
}

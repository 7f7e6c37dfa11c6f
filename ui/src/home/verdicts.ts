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

/** Whether the service lists it among those with news; it may still have no changes that are worth a word. */
export function hasNews({ verdict, recent_failed, new_rules, plan_changed_unix_ns }: LabelOverview): boolean {
  return verdict != null || recent_failed > 0 || new_rules.length > 0 || plan_changed_unix_ns != null;
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

/** Whether it has run often enough to say what is usual. */
export function isJudged({ usual_wall_ms }: LabelOverview): boolean {
  return usual_wall_ms != null;
}

/** How many queries did what. */
export interface Counts {
  failing: number;
  slower: number;
  faster: number;
  /** Of those without the others, those with a new warning and those with a new plan. */
  warning: number;
  plan: number;
  /** Those without a change. */
  unchanged: number;
  /** Those of them with enough runs to say so, where all were read. */
  usual: number | undefined;
  /** Whether more changed than were read. */
  isCut: boolean;
}

/** Counts all queries of a range by those that changed and, where they are few, by all of them. */
export function count(
  changes: readonly Judged[],
  { totals, queries }: Pick<Overview, "totals" | "queries">,
  isCut: boolean,
): Counts {
  const worst = (change: Change): number => changes.filter(({ changes }) => changes[0] === change).length;
  const isUsual = (label: LabelOverview): boolean => isJudged(label) && judge(label).changes.length === 0;
  return {
    failing: worst("failing"),
    slower: worst("slower"),
    faster: worst("faster"),
    warning: worst("warning"),
    plan: worst("plan"),
    unchanged: Math.max(0, totals.labels - changes.length),
    usual: queries.length < totals.labels ? undefined : queries.filter(isUsual).length,
    isCut,
  };
}

/** The first line of the home page: did anything get worse? `failingSince` is said where there is one time to say. */
export function firstLine(counts: Counts, failingSince: string | undefined): string {
  const { failing, slower, faster, warning, plan, unchanged, usual, isCut } = counts;
  const worse: string[] = [];
  const subject = (number: number): string => {
    const least = isCut ? (worse.length === 0 ? "At least " : "at least ") : "";
    return `${least}${worse.length === 0 ? plural(number, "query", "queries") : formatCount(number)}`;
  };
  if (slower > 0) worse.push(`${subject(slower)} ${slower === 1 ? "is" : "are"} slower than usual`);
  if (failing > 0) {
    const since = failingSince === undefined ? "" : ` since ${failingSince}`;
    worse.push(`${subject(failing)} ${failing === 1 ? "fails" : "fail"}${since}`);
  }
  const says = (number: number, one: string, many: string): string[] =>
    number === 0 ? [] : [`${formatCount(number)} ${number === 1 ? one : many}`];
  const changed = [
    ...says(faster, "is faster", "are faster"),
    ...says(warning, "has a new warning", "have new warnings"),
    ...says(plan, "has a new plan", "have new plans"),
  ];
  const unjudged = usual === undefined ? 0 : unchanged - usual;
  const others = isCut ? []
    : usual === undefined ? says(unchanged, "shows no change", "show no change")
    : [
        ...says(usual, "runs as usual", "run as usual"),
        ...says(unjudged, "has too few runs to judge", "have too few runs to judge"),
      ];
  const rest = [...changed, ...others].join(", ");
  if (worse.length > 0) return rest === "" ? worse.join(", ") : `${worse.join(", ")}; ${rest}`;
  if (changed.length > 0 || usual !== 0) return `Nothing got worse: ${rest}`;
  const has = unjudged === 1 ? "has" : "have";
  return `Nothing can be judged yet: ${plural(unjudged, "query", "queries")} ${has} too few runs`;
}

/** The first line where no query with a label ran. */
export function emptyLine(days: number, isFiltered: boolean): string {
  return `No query with a label ${isFiltered ? "matches the filters" : "ran"} in ${plural(days, "day")}`;
}

/** A verdict's basis: "85.3 s in 24 runs, usually 43 s (2.0x slower)". */
export function basis(label: LabelOverview): string {
  const { recent_wall_ms: recent = null, usual_wall_ms: usual = null, ratio = null } = label;
  const runs = label.recent_runs - label.recent_failed;
  if (recent === null) return usual === null ? `too few runs (${label.runs})` : `usually ${formatDuration(usual)}`;
  if (usual === null) {
    return `${formatDuration(recent)}; too few runs to say what is usual (${runs}, it takes ${USUAL_RUNS} before them)`;
  }
  const moved = howMuch(ratio, label.verdict);
  const usually = `usually ${formatDuration(usual)}`;
  if (runs < FEW_RUNS) return `${formatDuration(recent)}, ${usually} (${moved}, too few runs (${runs}))`;
  return `${formatDuration(recent)} in ${formatCount(runs)} runs, ${usually} (${moved})`;
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

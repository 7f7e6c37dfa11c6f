// Changes of queries as the service tells them, and their words. The service judges; this page only formats.

import type { QuerySummary, Schemas } from "../api/client";
import { capital, formatCount, formatDuration, formatRatio, plural, type UnixNs } from "../units";
import { nameInText } from "./names";
import type { Usual } from "./run/firstline";

export type Change = Schemas["Change"];
export type Cause = Schemas["ChangeCause"];
export type CauseKind = Schemas["CauseKind"];
type Side = Schemas["ChangeSide"];

/** Formats a point in time. */
export type TimeText = (time: UnixNs) => string;

const CAUSE_NAMES: Record<CauseKind, string> = {
  more_rows: "More rows",
  plan_change: "Plan change",
  slower_per_row: "Slower per row",
  fewer_threads: "Fewer threads",
  starved_cpu: "All nodes slower",
  waiting: "Waiting",
  spilling: "Spilling",
  skew: "Skew",
  user_code: "User code",
  planning: "Planning",
  host: "One host",
  engine_version: "Engine version",
  program_version: "Program version",
  contention: "Busy host",
  failures: "Failures",
  unexplained: "Not explained",
};

/** What a cause is called where it made runs faster. */
const LESS_NAMES: Partial<typeof CAUSE_NAMES> = {
  more_rows: "Fewer rows",
  slower_per_row: "Faster per row",
  fewer_threads: "More threads",
  starved_cpu: "All nodes faster",
  waiting: "Less waiting",
  spilling: "Less spilling",
  contention: "Host less busy",
};

/** What a cause is called; its sentence says more. Where the threads are as before, fewer or more of them are busy. */
export function causeName({ cause, evidence }: Pick<Cause, "cause"> & Partial<Cause>, isLess: boolean): string {
  const name = (isLess ? LESS_NAMES[cause] : undefined) ?? CAUSE_NAMES[cause];
  return cause === "fewer_threads" && evidence?.[0]?.name === "threads_used" ? `${name} busy` : name;
}

export const TAGS: Record<Change["kind"], { name: string; kind: "fail" | "slow" | "fast" | "plain" }> = {
  slower: { name: "slower", kind: "slow" },
  failing: { name: "failing", kind: "fail" },
  faster: { name: "faster", kind: "fast" },
  data_grew: { name: "data grew", kind: "plain" },
};

/** Whether the query does worse, and its data does not explain it. */
export function isWorse({ kind }: Pick<Change, "kind">): boolean {
  return kind === "slower" || kind === "failing";
}

/** Runs of a side that its times come from. */
function finished({ runs, failed }: Side): number {
  return runs - failed;
}

/** So many runs tell what is usual since a query got faster. */
const FASTER_MIN = 5;

/**
 * What a run since an open change is held against: the runs before it, and where it made the query faster, those since.
 * Null where the change does not say it.
 */
export function usualBy({ kind, before, after }: Pick<Change, "kind" | "before" | "after">): Usual | null {
  const isSinceFaster = kind === "faster";
  const side = isSinceFaster ? after : before;
  const { median_wall_ms: wallMs = null } = side;
  const runs = finished(side);
  if (kind === "failing" || wallMs === null || (isSinceFaster && runs < FASTER_MIN)) return null;
  return { wallMs, runs, isSinceFaster };
}

/** "2.4x slower", "1.8x faster", "fails", "takes 1.5x as long: its data grew". */
export function howMuch({ kind, factor = null }: Pick<Change, "kind" | "factor">): string {
  switch (kind) {
    case "slower":
      return factor === null ? "slower" : `${formatRatio(factor)} slower`;
    case "faster":
      return factor === null || factor <= 0 ? "faster" : `${formatRatio(1 / factor)} faster`;
    case "failing":
      return "fails";
    case "data_grew":
      return factor === null ? "slower as its data grew" : `${formatRatio(factor)} slower as its data grew`;
  }
}

/** "93.5 s in 37 runs, before 39.7 s in 120", or of failures "9 of 10 runs, before 0 of 120". */
export function beforeAndAfter({ kind, before, after }: Pick<Change, "kind" | "before" | "after">): string {
  if (kind === "failing") {
    return `${after.failed} of ${plural(after.runs, "run")}, before ${before.failed} of ${formatCount(before.runs)}`;
  }
  const now = `${formatDuration(after.median_wall_ms)} in ${plural(finished(after), "run")}`;
  return `${now}, before ${formatDuration(before.median_wall_ms)} in ${formatCount(finished(before))}`;
}

/** Medians of wall time before and since: "39.7 s → 93.5 s". Empty of failures, and where one is not known. */
export function medians({ kind, before, after }: Pick<Change, "kind" | "before" | "after">): string {
  const sides = [before.median_wall_ms, after.median_wall_ms];
  return kind === "failing" || sides.some((median) => median == null) ? "" : sides.map(formatDuration).join(" → ");
}

/** "2.4x slower since 18 Nov 02:05 (93.5 s in 37 runs, before 39.7 s in 120)" */
export function changeLine(change: Change, timeText: TimeText): string {
  return capital(`${howMuch(change)} since ${timeText(change.since_unix_ns)} (${beforeAndAfter(change)})`);
}

/** Whose runs changed, where it is not all of them: "on host etl-3". Others may have changed by much less. */
export function place({ host, environment }: { [Part in "host" | "environment"]?: Change[Part] | undefined }): string {
  const parts = [
    host == null ? "" : `on host ${nameInText(host)}`,
    environment == null ? "" : `in ${nameInText(environment)}`,
  ];
  return parts.filter((part) => part !== "").join(", ");
}

/** The first cause in the service's words. */
export function firstCause({ causes, kind }: Pick<Change, "causes" | "kind">): string {
  const [first] = causes;
  if (first === undefined) return kind === "failing" ? "" : "The cause is not known.";
  return causeWords(first);
}

export function causeWords(of: Pick<Cause, "cause" | "sentence" | "wall_ms"> & Partial<Cause>): string {
  const { cause, sentence, wall_ms } = of;
  if (sentence !== "") return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
  return cause === "unexplained" ? "No counter explains it." : `${causeName(of, wall_ms < 0)}.`;
}

/**
 * What it costs: "12 min a day more than before, at its rate of runs; 1 h 03 min so far". The rate is that until its
 * last run. Empty where it costs no time, as failures do. What slow growth cost so far is not known. Of a change that
 * is over: "1 h 03 min more than before in all".
 */
export function costLine({ cost, kind, state }: Pick<Change, "cost" | "kind" | "state">): string {
  const { wall_ms_a_day: day, extra_wall_ms: all, runs } = cost;
  if (kind === "failing" || (day === 0 && all === 0)) return "";
  const way = all < 0 ? "less" : "more";
  if (state !== "open") return all === 0 ? "" : `${formatDuration(Math.abs(all))} ${way} than before in all`;
  const soFar = runs === 0 ? "" : `; ${formatDuration(Math.abs(all))} so far`;
  return `${formatDuration(Math.abs(day))} a day ${way} than before, at its rate of runs${soFar}`;
}

/** Two typical runs to compare; a run that failed stopped somewhere, and does not compare. */
export function pairOf({
  kind,
  examples,
}: Pick<Change, "kind" | "examples">): { base: string; run: string } | undefined {
  const { base = null, run = null } = examples;
  return kind === "failing" || base === null || run === null ? undefined : { base, run };
}

/** A smaller rest that no counter explains needs no word. */
const REST_LEAST = 0.01;

/** The causes to list, without those of no time that an earlier one tells; that of failures is their counts. */
export function listedCauses({ causes, kind }: Pick<Change, "causes" | "kind">): Cause[] {
  if (kind === "failing") return [];
  return causes.filter(
    ({ cause, share, sentence }, at) =>
      (cause !== "unexplained" || share >= REST_LEAST) &&
      (share > 0 || sentence === "" || !causes.slice(0, at).some((earlier) => earlier.sentence.endsWith(sentence))),
  );
}

/** "open", "recovered 19 Nov 08:00", "superseded". */
export function stateWords({ state, recovered_unix_ns: at = null }: Change, timeText: TimeText): string {
  return state === "recovered" && at !== null ? `recovered ${timeText(at)}` : state;
}

/** Whether it is a run since the change, of those that changed. */
export function isSince(change: Change, run: QuerySummary): boolean {
  return change.since_unix_ns <= run.started_unix_ns && (change.host == null || change.host === run.host);
}

/** Whether a run is one of the query of a change, and since it. */
export function isOf(change: Change, run: QuerySummary): boolean {
  const { project, label = null, service = null, environment = null } = change;
  return (
    isSince(change, run) &&
    (project ?? run.project) === run.project &&
    label === (run.label ?? null) &&
    service === (run.service ?? null) &&
    environment === (run.environment ?? null)
  );
}

/** The one of these open changes that a run is told with. */
export function changeOf(run: QuerySummary, changes: readonly Change[]): Change | undefined {
  const since = changes.filter((change) => isOf(change, run));
  return since.find(isWorse) ?? since[0];
}

/** What a run is held against: what its open change says, else its earlier runs, by its progress. */
export function usualOf(change: Change | undefined, progress: Schemas["Progress"] | undefined): Usual | null {
  const byChange = change && usualBy(change);
  if (byChange) return byChange;
  const { usual_wall_ms: wallMs = null, runs = 0 } = progress ?? {};
  return wallMs === null ? null : { wallMs, runs };
}

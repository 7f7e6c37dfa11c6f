// What two groups of runs differ in, as the service tells it, in words. The statistic is the service's.

import type { Schemas } from "../api/client";
import { formatBytes, formatCount, formatDuration, formatThreads, plural } from "../units";
import { nameInText } from "./names";

export type Differences = Schemas["Differences"];
export type Contrast = Schemas["Contrast"];

export const COMPARISONS = ["slow", "failed", "before", "version"] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** What the two groups are called. */
export const GROUP_NAMES: Record<Comparison, [first: string, second: string]> = {
  slow: ["slower runs", "faster runs"],
  failed: ["failed runs", "finished runs"],
  before: ["runs of this time", "runs before it"],
  version: ["runs of the one version", "runs of the other"],
};

const JUDGEMENTS: Record<Schemas["TimeJudgement"], string> = {
  slower: "Slower",
  faster: "Faster",
  alike: "No clear difference",
};

const NAMES: Record<Contrast["name"], string> = {
  host: "on host",
  environment: "in environment",
  engine_version: "with engine",
  program_version: "with program version",
  plan: "with plan",
  hour: "started in the hour from",
  rows_read: "rows read",
  rows_out: "rows of the result",
  bytes_read: "bytes read",
  spilled_bytes: "bytes spilled",
  peak_memory_bytes: "memory",
  waiting_ns: "waiting for reads and writes",
  planning_ns: "planning",
  threads_permille: "threads busy at a time",
};

function figure(name: Contrast["name"], value: number): string {
  switch (name) {
    case "bytes_read":
    case "spilled_bytes":
    case "peak_memory_bytes":
      return formatBytes(value);
    case "waiting_ns":
    case "planning_ns":
      return formatDuration(value / 1e6);
    case "threads_permille":
      return formatThreads(value / 1000);
    default:
      return formatCount(value);
  }
}

/** "on host worker-3", "4 M rows read instead of 1 M". */
export function contrastWords(contrast: Contrast, planName: (fingerprint: string) => string): string {
  const { name, value = null, delta, first_median: first = null, second_median: second = null } = contrast;
  if (value !== null) {
    const text = name === "plan" ? planName(value) : name === "hour" ? `${value}:00` : nameInText(value);
    return `${delta < 0 ? "less often " : ""}${name === "plan" ? "with" : NAMES[name]} ${text}`;
  }
  if (first === null || second === null) return NAMES[name];
  const [now, before] = [figure(name, first), figure(name, second)];
  return now === before
    ? `${delta > 0 ? "more" : "less"} ${NAMES[name]}: both about ${now}`
    : `${NAMES[name]}: ${now} instead of ${before}`;
}

/** Of the gap between both groups, so much of a time is told at least. */
const SHARE_TOLD = 0.01;

/** Whether a time is not far too short to tell: "planning: 689 µs instead of 538 µs" of a gap of 114 ms. */
export function isWorthTelling(
  { name, first_median: a, second_median: b }: Contrast,
  { first, second }: Differences,
): boolean {
  if (!/_ns$/.test(name) || a == null || b == null) return true;
  const gapMs = (first.median_ms ?? 0) - (second.median_ms ?? 0);
  return Math.abs(a - b) / 1e6 >= Math.abs(gapMs) * SHARE_TOLD;
}

/** "28 of 30 slower runs, 1 of 90 faster runs" */
export function contrastBasis(contrast: Contrast, told: Differences, comparison: Comparison): string {
  const [first, second] = GROUP_NAMES[comparison];
  if ((contrast.value ?? null) === null) {
    return `known of ${contrast.first_runs} ${first} and ${contrast.second_runs} ${second}`;
  }
  const { first_runs, second_runs } = contrast;
  return `${first_runs} of ${told.first.runs} ${first}, ${second_runs} of ${told.second.runs} ${second}`;
}

/** "Cliff's delta 0.92, p < 0.001" */
export function contrastStatistic({ delta, probability }: Pick<Contrast, "delta" | "probability">): string {
  const luck = probability < 0.001 ? "p < 0.001" : `p = ${probability.toFixed(3)}`;
  return `Cliff's delta ${delta.toFixed(2)}, ${luck}`;
}

/** The sentence above the list: what was compared, or why nothing is said. */
export function differencesLine(told: Differences, comparison: Comparison): string {
  const { first, second, known_runs: known, runs_min: least } = told;
  const [firstName, secondName] = GROUP_NAMES[comparison];
  if (first.runs < least || second.runs < least) {
    if (comparison === "slow") {
      const runs = plural(known, "run");
      if (known < 2 * least) return `${runs} of this time: ${2 * least} are needed to tell slower ones apart.`;
      const compared = first.runs + second.runs;
      return compared === 0
        ? `${runs} do not divide clearly into slower and faster ones of at least ${least} each.`
        : `None of the ${formatCount(compared)} runs is much slower than the others.`;
    }
    const counts = `${first.runs} ${firstName} and ${second.runs} ${secondName}`;
    return `${counts}${comparison === "failed" ? " were evaluated" : " finished"}: each needs ${least}.`;
  }
  if (comparison === "failed") {
    return `${formatCount(first.runs)} ${firstName} against ${formatCount(second.runs)} ${secondName}.`;
  }
  const said = (group: Differences["first"], name: string): string =>
    `${formatCount(group.runs)} ${name} (median ${formatDuration(group.median_ms)})`;
  const times = `${said(first, firstName)} against ${said(second, secondName)}`;
  if (comparison === "slow") return `${times}. Slower is from ${formatDuration(first.least_ms)} on.`;
  const { delta = null, probability = null, judgement = null } = told;
  if (delta === null || probability === null || judgement === null) return `${times}.`;
  return `${times}. ${JUDGEMENTS[judgement]}: ${contrastStatistic({ delta, probability })}.`;
}

import {
  type Milliseconds,
  formatBytes,
  formatCount,
  formatDuration,
  formatRatio,
  formatShare,
  plural,
} from "../../units";
import { isCancelled } from "../cancelled";
import { reasonOf } from "../failures";
import { nodeNumber } from "./graph";
import { hottest, type Moment, type Ranked } from "./moment";
import type { Finding, PlanNode } from "./profile";
import type { Run } from "./run";
import { type Times, timesOf } from "./times";
import { calledCode, sayCode } from "./user-code";

/** How the run stands, as its summary says; of a file, as its events do. */
export type Standing = "running" | "finished" | "failed" | "unfinished";

export interface Usual {
  wallMs: Milliseconds;
  /** Runs it comes from. */
  runs: number;
  /** Whether these are the runs since its query got faster. */
  isSinceFaster?: boolean;
}

export interface FirstLine {
  /** "Finished in 94 s, 2.3x its usual time (41 s, n = 37)." */
  state: string;
  /** "71 % of the CPU is in Join #7, which puts out 40x its larger input." Null where no times are known. */
  cause: string | null;
}

/** Joins that put out less are said nothing of. */
export const GROWTH_TOLD = 2;

export function firstLine(
  run: Run,
  moment: Moment,
  standing: Standing,
  usual: Usual | null,
  findings: readonly Finding[] = run.finished?.findings ?? [],
  elapsedMs: Milliseconds = run.elapsedMs,
): FirstLine {
  return { state: state(run, standing, usual, elapsedMs), cause: cause(run, moment, standing, findings) };
}

export function standingOf(run: Run): Standing {
  if (run.finished === null) return "unfinished";
  return run.finished.failed === null ? "finished" : "failed";
}

function state(run: Run, standing: Standing, usual: Usual | null, elapsedMs: Milliseconds): string {
  const time = formatDuration(elapsedMs);
  switch (standing) {
    case "running":
      return `Running for ${time}${compared(elapsedMs, usual, true)}.`;
    case "finished":
      return `Finished in ${time}${compared(elapsedMs, usual, false)}.`;
    case "failed": {
      const error = run.finished?.failed ?? "";
      if (isCancelled(error)) return `Cancelled after ${time}.`;
      const reason = reasonOf(error);
      return reason === "" ? `Failed after ${time}.` : `Failed after ${time}: ${reason}`;
    }
    case "unfinished":
      return `Unfinished: lost contact after ${time}.`;
  }
}

function compared(elapsedMs: number, usual: Usual | null, runs: boolean): string {
  if (usual === null || usual.wallMs <= 0) return "";
  const ratio = elapsedMs / usual.wallMs;
  const time = formatDuration(usual.wallMs);
  const since = usual.isSinceFaster ? " since it got faster" : "";
  return runs && ratio < 1
    ? `, usually ${time}${since}, n = ${usual.runs}`
    : `, ${formatRatio(ratio)} its usual time${since} (${time}, n = ${usual.runs})`;
}

function cause(run: Run, moment: Moment, standing: Standing, findings: readonly Finding[]): string | null {
  const ranked = hottest(run, moment);
  const [top] = ranked;
  // What matters of a failure is its error, not where the time went before it.
  const isFailure = standing === "failed" && !isCancelled(run.finished?.failed);
  if (top === undefined || isFailure) return standing === "running" ? null : withoutPlan(run.plan);
  const times = timesOf(run, moment);
  const soFar = standing === "running" ? " so far" : "";
  if (times.isMostlyUserCode) return inUserCode(times, usersOf(run, moment), soFar);
  if (times.isMostlyUncounted) return uncounted(times, usersOf(run, moment), soFar);
  if (times.isMostlyWaiting) {
    const part = `${formatDuration(times.waitedMs)} of ${formatDuration(times.wallMs)}${soFar}`;
    return `For ${part} it waited: reads or writes were under way, and nothing worked.`;
  }
  const verb = standing === "running" ? "so far is" : standing === "finished" ? "is" : "was";
  const share = top.moment.share ?? 0;
  const cpu = moment.callsNs > 0 ? "counted time" : times.nodesTime;
  if (share < 0.2 && ranked.length > 5) {
    const five = ranked.slice(0, 5).reduce((total, { moment: { share: part } }) => total + (part ?? 0), 0);
    const nodes = run.plan.physical.length;
    return `No node stands out: the five hottest of ${nodes} take ${formatShare(five)} of the ${cpu}.`;
  }
  return `${formatShare(share)} of the ${cpu} ${verb} in ${nodeName(top)}${why(
    top,
    findings.find(({ nodeId }) => nodeId === top.node.id),
  )}.`;
}

/** What is said of a run that has ended and whose executed plan was not sent; null where it was. */
export function withoutPlan({ physical, logical }: Run["plan"]): string | null {
  if (physical.length > 0) return null;
  return logical.length > 0 ? "Only its logical plan was sent." : "No plan of it was sent.";
}

/** Nodes that call code of the program, that with the most rows first. */
function usersOf(run: Run, moment: Moment): PlanNode[] {
  const rows = (node: PlanNode): number => Number(moment.nodes.get(node.id)?.rowsIn ?? 0);
  return run.plan.physical.filter((node) => calledCode(node) !== null).sort((a, b) => rows(b) - rows(a));
}

/** The time of all calls together; which node made them is known where one alone does. */
function inUserCode(times: Times, users: readonly PlanNode[], soFar: string): string {
  const line = `${formatDuration(times.userCodeMs ?? 0)} of ${formatDuration(times.wallMs)}${soFar} are in calls of`;
  const [first] = users;
  if (!first) return `${line} the program's own code.${process(times)}`;
  const from =
    users.length === 1 ? nodeName({ node: first }) : `${users.length} nodes, most rows in ${nodeName({ node: first })}`;
  return `${line} ${sayCode(calledCode(first) ?? "")}, made by ${from}.${process(times)}`;
}

/** Nothing says whether time in no counter was work or waiting: only where it may have gone. */
function uncounted(times: Times, users: readonly PlanNode[], soFar: string): string {
  const line = `${formatDuration(times.uncountedMs)} of ${formatDuration(times.wallMs)}${soFar} are in no counter`;
  const [likely] = users;
  // Calls that were measured are in a counter: what is left is elsewhere.
  if (!likely || times.userCodeMs !== null) return `${line}.${process(times)}`;
  const name = nodeName({ node: likely });
  const code = sayCode(calledCode(likely) ?? "");
  const place =
    users.length === 1
      ? `${name} runs ${code} and is the likely place`
      : `${name} is the likely place, the largest of ${users.length} nodes that run ${code}`;
  return `${line}; ${place}.${process(times)}`;
}

function process({ processCpuMs, processQueries }: Times): string {
  if (processCpuMs === null) return "";
  const others =
    processQueries === null
      ? ", its other work included"
      : processQueries === 1
        ? ", with no other sampled run"
        : `, up to ${processQueries} sampled runs at a time`;
  return ` The process used ${formatDuration(processCpuMs)} of CPU meanwhile${others}.`;
}

export function nodeName({ node }: Pick<Ranked, "node">): string {
  return `${node.kind} #${nodeNumber(node.id)}`;
}

function why({ node, moment }: Ranked, finding: Finding | undefined): string {
  const { rowsOut: rows, rowsIn: read, growth } = moment;
  if (growth !== null && growth >= GROWTH_TOLD) return `, which puts out ${formatRatio(growth)} its larger input`;
  if (finding) return `: ${finding.title.charAt(0).toLowerCase()}${finding.title.slice(1)}`;
  if (node.role === "scan" && moment.readBytes) return `, which read ${formatBytes(moment.readBytes)}`;
  if (read !== null && read !== 0) return `, which took in ${formatCount(read)} rows`;
  return rows !== null && rows !== 0 ? `, which gave out ${formatCount(rows)} rows` : "";
}

/**
 * What the service says that the fix of a finding saves at most: of the run, or of the time of its node. Null where it
 * says neither, and where the node calls code of the program: its counters hold little of its time.
 */
export function savesAtMost(
  { evidence }: Finding,
  node: PlanNode | undefined,
): { ms: Milliseconds; isOfRun: boolean } | null {
  if (node && calledCode(node) !== null) return null;
  const told = evidence.find(({ name }) => /^saves_(wall|cpu)_at_most$/.test(name));
  if (typeof told?.value !== "number" || told.value <= 0) return null;
  return { ms: told.value, isOfRun: told.name === "saves_wall_at_most" };
}

/** "4 nodes, 0.3 %" */
export function foldWords(count: number, share: number | null): string {
  return share === null ? plural(count, "node") : `${plural(count, "node")}, ${formatShare(share)}`;
}

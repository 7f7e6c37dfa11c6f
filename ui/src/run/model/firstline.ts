import { type Milliseconds, formatBytes, formatCount, formatDuration, formatRatio, formatShare, plural } from "../../units";
import { nodeNumber } from "./graph";
import { hottest, type Moment, type Ranked } from "./moment";
import type { Finding } from "./profile";
import type { Run } from "./run";

/** How the run stands, as its summary says; of a file, as its events do. */
export type Standing = "running" | "finished" | "failed" | "unfinished";

export interface Usual {
  wallMs: Milliseconds;
  /** Runs it comes from. */
  runs: number;
}

export interface FirstLine {
  /** "Finished in 94 s, 2.3x its usual time (41 s, n = 37)." */
  state: string;
  /** "71 % of the CPU is in Join #7, whose output is 40x its input." Null where no times are known. */
  cause: string | null;
}

/** A usual time of fewer runs says little. */
const USUAL_RUNS_MIN = 5;
/** Below this, a run took about its usual time. */
const SLOWER = 1.2;
const GROWTH_TOLD = 2;
/** So much of an error stands in a title. */
export const REASON_MAX = 100;
/** A longer query whose threads worked less than this share of the time mostly waited. */
const IDLE = 0.1;
const IDLE_FROM_MS = 1000;

export function firstLine(run: Run, moment: Moment, standing: Standing, usual: Usual | null, findings: readonly Finding[] = run.finished?.findings ?? []): FirstLine {
  return { state: state(run, standing, usual), cause: cause(run, moment, standing, findings) };
}

export function standingOf(run: Run): Standing {
  if (run.finished === null) return "unfinished";
  return run.finished.failed === null ? "finished" : "failed";
}

function state(run: Run, standing: Standing, usual: Usual | null): string {
  const time = formatDuration(run.elapsedMs);
  switch (standing) {
    case "running":
      return `Running for ${time}${compared(run.elapsedMs, usual, true)}.`;
    case "finished":
      return `Finished in ${time}${compared(run.elapsedMs, usual, false)}.`;
    case "failed": {
      const reason = firstSentence(run.finished?.failed ?? "", REASON_MAX);
      return reason === "cancelled" ? `Cancelled after ${time}.` : `Failed after ${time}${reason === "" ? "." : `: ${reason}${/[.!?…]$/.test(reason) ? "" : "."}`}`;
    }
    case "unfinished":
      return `Fell silent after ${time}: whether it finished is not known.`;
  }
}

function compared(elapsedMs: number, usual: Usual | null, runs: boolean): string {
  if (usual === null || usual.wallMs <= 0) return "";
  if (usual.runs < USUAL_RUNS_MIN) return `; too few runs to say what is usual (${usual.runs})`;
  const ratio = elapsedMs / usual.wallMs;
  const basis = `${formatDuration(usual.wallMs)}, n = ${usual.runs}`;
  if (runs && ratio < 1) return `, usually ${basis}`;
  if (ratio >= SLOWER || ratio <= 1 / SLOWER) return `, ${formatRatio(ratio)} its usual time (${basis})`;
  return `, as usual for its plan (${basis})`;
}

/** The first line of an error text, cut where it is longer than people read in a title. */
export function firstSentence(text: string, most: number): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length <= most ? line : `${line.slice(0, most - 1).trimEnd()}…`;
}

function cause(run: Run, moment: Moment, standing: Standing, findings: readonly Finding[]): string | null {
  const ranked = hottest(run, moment);
  const [top] = ranked;
  if (top === undefined) return run.plan.physical.length === 0 && standing !== "running" ? "It ended before it had a plan." : null;
  const busyMs = Number(moment.busyNs) / 1e6;
  if (run.elapsedMs >= IDLE_FROM_MS && busyMs < run.elapsedMs * IDLE) {
    return `It ${standing === "running" ? "waits" : "waited"} most of the time: ${formatDuration(busyMs)} of CPU${standing === "running" ? " so far" : ""}.`;
  }
  const verb = standing === "running" ? "so far is" : standing === "finished" ? "is" : "was";
  const share = top.moment.share ?? 0;
  if (share < 0.2 && ranked.length > 5) {
    const five = ranked.slice(0, 5).reduce((total, { moment: { share: part } }) => total + (part ?? 0), 0);
    return `No node stands out: the five hottest of ${run.plan.physical.length} take ${formatShare(five)} of the CPU.`;
  }
  return `${formatShare(share)} of the CPU ${verb} in ${nodeName(top)}${why(top, findings.find(({ nodeId }) => nodeId === top.node.id))}.`;
}

export function nodeName({ node }: Pick<Ranked, "node">): string {
  return `${node.kind} #${nodeNumber(node.id)}`;
}

function why({ node, moment }: Ranked, finding: Finding | undefined): string {
  const [rows, read] = [moment.rowsOut, moment.rowsIn];
  const ratio = rows !== null && read !== null && read !== 0 ? Number(rows) / Number(read) : null;
  if (ratio !== null && ratio >= GROWTH_TOLD && /join/.test(node.role)) return `, whose output is ${formatRatio(ratio)} its input`;
  if (finding) return `: ${finding.title.charAt(0).toLowerCase()}${finding.title.slice(1)}`;
  if (node.role === "scan" && moment.readBytes) return `, which read ${formatBytes(moment.readBytes)}`;
  if (read !== null && read !== 0) return `, which took in ${formatCount(read)} rows`;
  return rows !== null && rows !== 0 ? `, which gave out ${formatCount(rows)} rows` : "";
}

/** What the finding could save: at most the time in which nothing but its node ran. Null where that is not told. */
export function savesAtMost(finding: Finding, wallMs: Milliseconds): Milliseconds | null {
  const told = finding.evidence.find(({ name }) => name === "saves_wall_at_most")?.value;
  if (typeof told === "number") return told;
  const share = finding.blockedShare ?? finding.cpuShare;
  return share === null ? null : Math.min(1, Math.max(0, share)) * wallMs;
}

/** "4 nodes, 0.3 %" */
export function foldWords(count: number, share: number | null): string {
  return share === null ? plural(count, "node") : `${plural(count, "node")}, ${formatShare(share)}`;
}

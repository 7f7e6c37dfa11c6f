// Issues as the service tells them, and their words. The service judges and moves them; this page only formats.

import type { Schemas } from "../api/client";
import {
  capital,
  formatCount,
  formatDuration,
  formatRatio,
  formatShare,
  plural,
  type Milliseconds,
  type UnixNs,
} from "../units";
import { changeLine, firstCause, howMuch, isWorse, type Change, type TimeText } from "./change";
import { nameInText } from "./names";

export type Issue = Schemas["Issue"];
/** An issue as lists and its page have it, with the deploys it came after. */
export type ListedIssue = Schemas["ListedIssue"];
export type IssueKind = Schemas["IssueKind"];
export type IssueState = Schemas["IssueState"];
export type Transition = Schemas["IssueTransition"];
export type Note = Schemas["IssueNote"];

/** States that want somebody. */
export const OPEN = ["open", "regressed", "acknowledged"] as const satisfies readonly IssueState[];
export const STATES = [...OPEN, "muted", "resolved"] as const satisfies readonly IssueState[];

export function isOpen({ state }: Pick<Issue, "state">): boolean {
  return (OPEN as readonly IssueState[]).includes(state);
}

/** Whether its last transition made it want somebody, by itself. */
export function isNewlyOpen({ state, transitions }: Pick<Issue, "state" | "transitions">): boolean {
  return state === "regressed" || (state === "open" && transitions === 1);
}

export const KINDS: Record<IssueKind, { name: string; tag: "fail" | "slow" | "plain" }> = {
  slower: { name: "slower", tag: "slow" },
  failing: { name: "failing", tag: "fail" },
  data_grew: { name: "data grew", tag: "plain" },
  late: { name: "late", tag: "slow" },
  missing: { name: "missing", tag: "slow" },
  new_finding: { name: "new finding", tag: "slow" },
};

/** What a state means, for who points at it. */
export const STATE_WORDS: Record<IssueState, string> = {
  open: "nobody has acted on it",
  regressed: "it was resolved and came back",
  acknowledged: "somebody knows of it",
  muted: "nobody wants to hear of it until its mute ends",
  resolved: "it is closed",
};

/** What a late run's time is divided by. What is usual elsewhere is a median, and far less. */
const LATE_BY = "what nine tenths of its earlier runs took";

/** "is 2.4x slower", "fails in 90 % of its runs", "is 1.5x slower as its data grew", "warns of skew, tiny batches". */
export function issueWords({ kind, severity, findings = [] }: Pick<Issue, "kind" | "severity" | "findings">): string {
  switch (kind) {
    case "slower":
      return `is ${formatRatio(severity)} slower`;
    case "failing":
      return `fails in ${formatShare(severity)} of its runs`;
    case "data_grew":
      return `is ${formatRatio(severity)} slower as its data grew`;
    case "late":
      return `is late, at least ${formatRatio(severity)} ${LATE_BY}`;
    case "missing":
      return `is missing, at least ${formatRatio(severity)} its usual gap without a run`;
    case "new_finding":
      return `warns of ${nameInText(findings.join(", ").replaceAll("_", " "))}`;
  }
}

/** What is over is told as what was. */
const asPast = (words: string): string => words.replace(/^is/, "was").replace(/^(fail|warn)s/, "$1ed");

/** The same of one whose change is not open, in a few words: "is missing", "was 2.4x slower". */
export function shortWords(issue: Pick<Issue, "kind" | "severity" | "findings" | "change">): string {
  const { kind, change } = issue;
  if (change != null) return asPast(issueWords(issue));
  return kind === "late" || kind === "missing" ? `is ${kind}` : issueWords(issue);
}

/** The same where its change is known: a change of this very issue says it by its own figures. */
function nowWords(issue: Pick<Issue, "kind" | "severity" | "findings">, change: Change | null | undefined): string {
  return change == null || change.kind === "failing" || change.factor == null
    ? issueWords(issue)
    : `is ${howMuch(change)}`;
}

/** The same as a row begins: "2.4x slower", "Fails in 90 % of its runs"; of one that is over "Was 2.4x slower". */
export function rowWords(
  issue: Pick<Issue, "kind" | "severity" | "findings" | "state" | "change">,
  change?: Change,
): string {
  const words = nowWords(issue, change);
  const isOver = issue.state === "resolved" || (isOpen(issue) && issue.change != null && change?.state !== "open");
  return capital(isOver ? asPast(words) : words.replace(/^is /, ""));
}

/** When its runs changed; when it was opened first, where that is not known. */
export function issueSince({ since_unix_ns, opened_unix_ns }: Pick<Issue, "since_unix_ns" | "opened_unix_ns">): UnixNs {
  return since_unix_ns ?? opened_unix_ns;
}

/** What the severity of an issue is, and how much: "wall time", "2.4x". */
export function severityFigure({ kind, severity }: Pick<Issue, "kind" | "severity">): [name: string, text: string] {
  switch (kind) {
    case "failing":
      return ["runs that fail", formatShare(severity)];
    case "late":
      return [`of ${LATE_BY}`, `≥ ${formatRatio(severity)}`];
    case "missing":
      return ["of its usual gap", `≥ ${formatRatio(severity)}`];
    case "new_finding":
      return ["new findings", formatCount(severity)];
    case "slower":
    case "data_grew":
      return ["wall time", formatRatio(severity)];
  }
}

/** "orders/daily is 2.4x slower since 18 Nov 02:05, after deploy 1.4.2"; of one that is over, when it was resolved. */
export function issueLine(
  issue: Issue & Partial<Pick<ListedIssue, "after_deploys">>,
  change: Change | null | undefined,
  timeText: TimeText,
): string {
  const label = nameInText(issue.label);
  if (issue.state === "resolved")
    return `${label}: ${KINDS[issue.kind].name}, resolved ${timeText(issue.moved_unix_ns)}`;
  const words = nowWords(issue, change);
  // Since when a run is late is since it runs longer than others: its sentence says how long that is.
  if (issue.run != null) return `${label} ${words}`;
  const after = issue.after_deploys == null ? "" : `, ${nameInText(issue.after_deploys)}`;
  const since = timeText(change?.since_unix_ns ?? issueSince(issue));
  if (change != null && change.state !== "open")
    return `${label} ${asPast(words)} from ${since} on${after}; its change is over`;
  return `${label} ${words} since ${since}${after}`;
}

/** "the run started 94.0 s ago and has not ended", also as earlier versions wrote it. */
const LATE = /^the run (?:has run for|started) (.*?)(?: ago and has not ended)?(?=;|$)/;

/**
 * What the service says of an issue that no change tells of, as a sentence; empty where there is none. The service
 * wrote it while the run ran or was missing: once that is over, it is what was known last. The last start is said
 * instead of the time since then, which goes on. How a late run ended is the reason of the last move.
 */
export function detailLine(
  { detail = null, state, good_unix_ns: last }: Pick<Issue, "detail" | "state" | "good_unix_ns">,
  timeText: TimeText,
  moved = "",
): string {
  if (detail === null) return "";
  const ended = state === "resolved" && /^the late run [^;]+$/.exec(moved)?.[0].replace("late ", "");
  // A run that is told late may have started in that time.
  const said = ended
    ? detail.replace(LATE, ended)
    : state === "resolved"
      ? detail
          .replace(LATE, "the run had started $1 ago")
          .replace(
            /^no run has started for/,
            `${last == null ? "" : `after ${timeText(last)} `}no run was reported for at least`,
          )
          .replace("runs usually start ", "runs usually started ")
      : last == null
        ? detail
        : detail.replace(/^no run has started for [^;]+/, `no run has started since ${timeText(last)}`);
  return `${capital(said)}.`;
}

/** Whether all words are in what a list says of an issue, in whatever case: places, state, figures, cause and error. */
export function isFound(
  issue: Issue,
  change: Change | undefined,
  error: string | null | undefined,
  find: string,
  timeText: TimeText,
): boolean {
  const { label, service, environment, host, owner, state } = issue;
  const ofChange = change ? [changeLine(change, timeText), firstCause(change)] : [];
  const told = [rowWords(issue, change), ...ofChange, error, detailLine(issue, timeText)];
  const said = [label, service, environment, host, owner, state, ...told].join(" ").toLowerCase().replace(/\s/g, " ");
  return find
    .toLowerCase()
    .trim()
    .split(/\s+/)
    .every((word) => said.includes(word));
}

/** Wall time at stake a day: of changes alone, and of none that is muted or over. */
export function stakeMs({ state, change, wall_ms_a_day }: Pick<Issue, "state" | "change" | "wall_ms_a_day">): number {
  return isOpen({ state }) && change != null ? wall_ms_a_day : 0;
}

/** An issue of a list, with its change while that is open. */
export interface Row {
  issue: Issue;
  change?: Change | undefined;
}

/** The same of a row: a change that is over costs nothing, also before enough runs have resolved its issue. */
export function rowStakeMs({ issue, change }: Row): number {
  return change?.state === "open" ? stakeMs(issue) : 0;
}

/** What is told of it: a query that fails has no time at stake, but results that are missing. */
export function toldStakeMs(row: Row): number {
  return row.issue.kind === "failing" ? 0 : rowStakeMs(row);
}

/** "12 min a day at stake"; of failures, of the results that are missing. Empty where nothing is. */
export function stakeLine(dayMs: Milliseconds): string {
  return dayMs > 0 ? `${formatDuration(dayMs)} a day at stake` : "";
}

/** "until 19 Nov 08:00", "until it is 2.0x worse", "until another version of the engine than 55.0 runs". */
export function muteWords({ mute }: Pick<Issue, "mute">, timeText: TimeText): string {
  if (mute == null) return "";
  if (mute.until_unix_ns != null) return `until ${timeText(mute.until_unix_ns)}`;
  if (mute.times_worse != null) return `until it is ${formatRatio(mute.times_worse)} worse`;
  const version = mute.version == null ? "" : ` than ${nameInText(mute.version)}`;
  return `until another version of the ${mute.until_other ?? "engine"}${version} runs`;
}

/** Where it stands: "open", "muted until 19 Nov 08:00", "resolved: 2 of 5 runs as before". */
export function stateLine(issue: Issue, timeText: TimeText): string {
  const mute = issue.state === "muted" ? muteWords(issue, timeText) : "";
  return mute === "" ? issue.state : `${issue.state} ${mute}`;
}

/** What a transition was, in words: "opened", "muted by Ada", "came back". */
export function transitionWords({ from, to, actor, by }: Pick<Transition, "from" | "to" | "actor" | "by">): string {
  const what =
    from == null
      ? "opened"
      : to === "open"
        ? actor === "person"
          ? "reopened"
          : "open again"
        : to === "regressed"
          ? "came back"
          : from === "muted" && to === "muted"
            ? "muted anew"
            : to;
  if (actor === "person") return `${what} by ${by == null ? "somebody" : nameInText(by)}`;
  return from == null ? what : `${what} by itself`;
}

/** The reason of a transition, where its words do not say it already; it is about the change of this issue. */
export function reasonOf({ reason, to, change }: Pick<Transition, "reason" | "to" | "change">): string {
  if (reason === to || reason === "reopened") return "";
  return change == null ? reason : reason.replace(`the change ${change}`, "its change");
}

/** What happened to an issue, the last first. */
export type Event = { at: bigint; transition: Transition } | { at: bigint; note: Note };

export function historyOf(transitions: readonly Transition[], notes: readonly Note[]): Event[] {
  const moves = transitions.map((transition) => ({ at: transition.unix_ns, transition }));
  const written = notes.map((note) => ({ at: note.unix_ns, note }));
  // Of one moment, what was given last came last.
  return [...moves, ...written].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).reverse();
}

/** "3 issues, 2 h 05 min a day at stake"; without a figure where nothing is. */
export function issuesLine(rows: readonly Row[], isCut: boolean, which: string): string {
  const number = `${isCut ? "At least " : ""}${plural(rows.length, `${which}issue`)}`;
  const stake = stakeLine(rows.reduce((sum, row) => sum + toldStakeMs(row), 0));
  return stake === "" ? number : `${number}, ${stake}`;
}

/** What a notification says. */
export function issueNotice(issue: Issue): { title: string; body: string } {
  const again = issue.state === "regressed" ? "again " : "";
  const words = issueWords(issue).replace(/^(is|fails|warns) /, `$1 ${again}`);
  const place = [issue.service, issue.environment, issue.host].flatMap((name) =>
    name == null ? [] : nameInText(name),
  );
  const body = [stakeLine(stakeMs(issue)), place.join(" · ")].filter((text) => text !== "").join("\n");
  return { title: `${nameInText(issue.label)} ${words}`, body };
}

/** Whether it is of these runs, as the service filters changes: of a host where that host alone changed. */
export function isHere(
  { environment, host }: Pick<Issue, "environment" | "host">,
  scope: { environment?: string | undefined; host?: string | undefined },
): boolean {
  const is = (asked: string | undefined, found: string | null | undefined): boolean =>
    asked === undefined || asked === (found ?? "");
  return is(scope.environment, environment) && is(scope.host, host);
}

/** What the first page lists: what wants somebody, and what does not now. */
export interface Told {
  /** Open changes for the worse, without those that a person muted or resolved; failures at the cost of their issue. */
  worse: Change[];
  /** The other open changes, also without those. */
  quiet: Change[];
  /** Issues that want somebody, and whose change is not among those. */
  alone: Issue[];
  /** Muted issues. */
  muted: Issue[];
  /** Those of open changes, which a person resolved. */
  resolved: Issue[];
  /** The issue of a change, by the id of the change. */
  byChange: ReadonlyMap<string, Issue>;
}

/** Puts issues and changes together: what is told once is not told twice. */
export function told(changes: readonly Change[], issues: readonly Issue[]): Told {
  const open = new Map(changes.map((change) => [change.id, change]));
  const byChange = new Map<string, Issue>();
  for (const issue of issues) if (issue.change != null) byChange.set(issue.change, issue);
  const isQuiet = (state: IssueState | undefined): boolean => state === "muted" || state === "resolved";
  const isListed = ({ change = null }: Issue): boolean => change !== null && open.has(change);
  // A run that fails takes no more time: only the issue tells what its results are worth.
  const worth = (change: Change): Change => {
    const { wall_ms_a_day } = byChange.get(change.id) ?? change.cost;
    return change.kind === "failing" ? { ...change, cost: { ...change.cost, wall_ms_a_day } } : change;
  };
  const wanted = changes.filter(({ id }) => !isQuiet(byChange.get(id)?.state));
  return {
    worse: wanted.filter(isWorse).map(worth),
    // Growth of the data is information: its change is told with those that are no regressions.
    quiet: wanted.filter((change) => !isWorse(change)),
    alone: issues.filter((issue) => isOpen(issue) && !isListed(issue)),
    muted: issues.filter(({ state }) => state === "muted"),
    resolved: issues.filter((issue) => issue.state === "resolved" && isListed(issue)),
    byChange,
  };
}

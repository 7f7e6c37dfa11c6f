// Open changes as the first page lists them: one message where the cause is one.

import type { Change, TimeText } from "./change";
import { causeName, howMuch, isWorse, place } from "./change";
import { shortWords, type Issue } from "./issue";
import { nameInText, ofService } from "./names";
import { formatCount, formatDuration, plural, type UnixNs } from "../units";

/** Changes that began together, for the same first cause; one alone is a group of one. */
export interface Group {
  /** The one that costs most first. */
  changes: [Change, ...Change[]];
  /** Wall time a day at stake. */
  aDayMs: number;
}

const HOUR_NS = 3_600_000_000_000n;

/** What changes of one group have in common, beside the hour. One whose cause is not known has nothing in common. */
function groupKey(change: Change): string | Change {
  const { project, service, environment, kind, causes } = change;
  const [first] = causes;
  if (first === undefined || first.cause === "unexplained") return change;
  const { name = null, before = null, after = null } = first.dimension ?? {};
  return JSON.stringify([
    project,
    service,
    environment,
    kind,
    causeName(first, first.wall_ms < 0),
    name,
    before,
    after,
  ]);
}

/** Groups changes; those with the most time at stake come first. Ties keep the order of the service. */
export function grouped(changes: readonly Change[]): Group[] {
  const byKey = new Map<string | Change, { since: bigint; members: Change[] }[]>();
  const inTime = changes.toSorted((a, b) => (a.since_unix_ns < b.since_unix_ns ? -1 : 1));
  for (const change of inTime) {
    const groups = byKey.get(groupKey(change)) ?? [];
    const known = groups.find(({ since }) => change.since_unix_ns - since <= HOUR_NS);
    if (known) known.members.push(change);
    else groups.push({ since: change.since_unix_ns, members: [change] });
    byKey.set(groupKey(change), groups);
  }
  const placeOf = new Map(changes.map((change, at) => [change, at]));
  const order = (change: Change): number => placeOf.get(change) ?? 0;
  return [...byKey.values()]
    .flat()
    .map(({ members }) => ({
      changes: members.sort((a, b) => order(a) - order(b)) as Group["changes"],
      aDayMs: members.reduce((sum, { cost }) => sum + cost.wall_ms_a_day, 0),
    }))
    .sort((a, b) => b.aDayMs - a.aDayMs || order(a.changes[0]) - order(b.changes[0]));
}

/** When the first of a group changed. */
export function groupSince({ changes }: Pick<Group, "changes">): UnixNs {
  const times = changes.map(({ since_unix_ns }) => since_unix_ns);
  return times.reduce((first, time) => (time < first ? time : first));
}

const DIMENSIONS: Record<string, string> = {
  host: "the host",
  engine_version: "the engine",
  program_version: "the program",
  environment: "the environment",
};

/**
 * "22 queries of tpch are slower since 14:02", or "…, the first since 14:02"; with `where`, " in prod" behind the verb.
 * A query is counted once.
 */
export function groupLine({ changes }: Pick<Group, "changes">, timeText: TimeText, where = ""): string {
  const [{ kind, service, label }] = changes;
  const queries = count(changes, kind);
  const subject = queries === 1 ? nameInText(label ?? "a query") : plural(queries, "query", "queries");
  const [be, their, fail] = queries === 1 ? ["is", "its", "fails"] : ["are", "their", "fail"];
  const verb =
    kind === "failing" ? fail : kind === "data_grew" ? `${be} slower as ${their} data grew` : `${be} ${kind}`;
  const since = timeText(groupSince({ changes }));
  const isFirst = queries > 1 && changes.some(({ since_unix_ns }) => timeText(since_unix_ns) !== since);
  return `${subject}${ofService(service)} ${verb}${where}${isFirst ? ", the first" : ""} since ${since}`;
}

/**
 * The title of a group: "2 queries of tpch are slower since 14:02: plan change". Queries that are slower for another
 * cause are in other groups. That results are missing is no cause.
 */
export function groupTitle({ changes }: Pick<Group, "changes">, timeText: TimeText): string {
  const [{ kind, causes }] = changes;
  const line = groupLine({ changes }, timeText);
  const [first] = causes;
  if (first === undefined || first.cause === "failures" || count(changes, kind) === 1) return line;
  return `${line}: ${causeName(first, first.wall_ms < 0).toLowerCase()}`;
}

/**
 * The dimension that the first causes share: "All changed with the engine: 55.0, before 54.1." No host is before
 * the one whose runs alone changed.
 */
export function groupCause({ changes: [{ causes }] }: Group): string | undefined {
  const dimension = causes[0]?.dimension;
  if (dimension == null) return undefined;
  const { name, before = null, after = null } = dimension;
  if (name === "host" && before === null) return `All changed ${place({ host: after })}.`;
  const values = [after, before].map((value) => (value === null ? "none" : nameInText(value)));
  return `All changed with ${DIMENSIONS[name] ?? name}: ${values[0]}, before ${values[1]}.`;
}

/** "1 h 5 min a day more than before, at their rates of runs", all together; empty of failures, and of no time. */
export function groupCost({ aDayMs, changes }: Group): string {
  if (aDayMs <= 0 || changes[0].kind === "failing") return "";
  const rate = changes.length === 1 ? "its rate" : "their rates";
  return `${formatDuration(aDayMs)} a day more than before, at ${rate} of runs`;
}

export interface Found {
  /** Open changes. */
  changes: readonly Change[];
  /** Whether there are more than were read. */
  isCut: boolean;
  /** Issues that a person muted or resolved: their changes are not among these. */
  quiet?: number;
  /** Issues that want somebody and whose change is not among these. */
  alone?: readonly Issue[];
  /** Labels that queries of several services have. */
  ambiguous?: ReadonlySet<string>;
  /** Queries that ran in the range. */
  queries: number;
  /** The range of them, behind a verb: "in 14 days". */
  during: string;
}

/** Stands before what is told of the others: no text of a sender holds it. */
const OTHERS = "\u2063";

/** The part of a first line that names what got worse, and that of the others, which stands small. */
export function splitLine(line: string): [lead: string, others: string] {
  const [lead = "", others] = line.split(/(?=;\s*\u2063)/);
  return [lead, others?.replace(OTHERS, "") ?? ""];
}

/** The first line of the home page: did anything get worse? */
export function homeLine(
  { changes, isCut, quiet: hidden = 0, alone = [], ambiguous = new Set(), queries, during }: Found,
  timeText: TimeText,
): string {
  const groups = grouped(changes.filter(isWorse));
  const [first, second] = groups;
  const parts: string[] = [];
  if (first !== undefined) {
    const name = (group: Group, where?: Where): string => named(group, timeText, ambiguous, where);
    parts.push(...(second === undefined ? [name(first)] : namedBoth(first, second, timeText, name)));
    // The two that cost most have names; of the others there is a list. A query that is named is no other.
    const told = new Set([first, second].flatMap((group) => group?.changes ?? []).map(changeKey));
    const others = groups
      .slice(2)
      .flatMap((group) => group.changes)
      .filter((change) => !told.has(changeKey(change)));
    const [slower, failing] = [count(others, "slower"), count(others, "failing")];
    const least = isCut ? "at least " : "";
    const words: string[] = [];
    if (slower > 0) words.push(says(slower, "more is slower", "more are slower"));
    if (failing > 0) words.push(says(failing, slower > 0 ? "fails" : "more fails", slower > 0 ? "fail" : "more fail"));
    if (words.length > 0) parts.push(`${OTHERS}${least}${words.join(", ")}`);
  } else if (alone.length === 0) {
    const ran = `${plural(queries, "query", "queries")} ran ${during}`;
    const among = isCut ? ` among the ${changes.length} with the most time at stake` : "";
    const found = hidden === 0 ? "" : ` beside ${plural(hidden, "muted or resolved issue")}`;
    parts.push(`No change for the worse was found${among}${found}; ${ran}`);
  }
  if (alone.length > 0) parts.push(aloneWords(alone, first === undefined ? "" : "other ", ambiguous));
  const quiet = [
    says(count(changes, "faster"), "is faster", "are faster"),
    says(count(changes, "data_grew"), "is slower as its data grew", "are slower as their data grew"),
  ].filter((text) => text !== "");
  return [...parts, ...(isCut ? [] : quiet)].join("; ");
}

/** One issue is named: "orders/ingest is missing". */
function aloneWords(issues: readonly Issue[], other: string, ambiguous: ReadonlySet<string>): string {
  const [one] = issues;
  if (one === undefined || issues.length > 1) return `${formatCount(issues.length)} ${other}issues are open`;
  return `${nameInText(one.label)}${ambiguous.has(one.label) ? ofService(one.service) : ""} ${shortWords(one)}`;
}

type Where = (change: Change) => string;

/**
 * The clause of a group; with `where`, also the place. One query has its service behind its label with `where`, and
 * where the label is ambiguous.
 */
function named(group: Group, timeText: TimeText, ambiguous: ReadonlySet<string>, where?: Where): string {
  const [change] = group.changes;
  const at = where?.(change) ?? "";
  if (group.changes.length > 1) return groupLine(group, timeText, at);
  const of = where !== undefined || ambiguous.has(change.label ?? "") ? ofService(change.service) : "";
  const much = change.kind === "failing" ? "fails" : `is ${howMuch(change)}`;
  return `${nameInText(change.label ?? "a query")}${of} ${much}${at} since ${timeText(change.since_unix_ns)}`;
}

/** Two clauses that differ in more than their figures; one of both groups where only the causes differ. */
function namedBoth(
  first: Group,
  second: Group,
  timeText: TimeText,
  name: (group: Group, where?: Where) => string,
): string[] {
  const [a, b] = [first.changes[0], second.changes[0]];
  const isOne = (group: Group): boolean => group.changes.length === 1;
  const isAlike =
    a.kind === b.kind &&
    isOne(first) === isOne(second) &&
    (isOne(first) ? a.label === b.label : a.service === b.service);
  if (!isAlike) return [name(first), name(second)];
  const isSame = a.project === b.project && a.environment === b.environment;
  const [since, other] = [groupSince(first), groupSince(second)];
  const apart = since < other ? other - since : since - other;
  if (!isOne(first) && isSame && apart <= HOUR_NS)
    return [groupLine({ changes: [...first.changes, ...second.changes] }, timeText)];
  const where: Where = (change) => {
    const project = change.project == null || a.project === b.project ? "" : `in project ${nameInText(change.project)}`;
    const at = place({ environment: change.environment, host: isOne(first) ? change.host : undefined });
    return [project, at].map((text) => (text === "" ? "" : ` ${text}`)).join("");
  };
  return [name(first, where), name(second, where)];
}

function changeKey({ kind, project, service, label }: Change): string {
  return JSON.stringify([kind, project, service, label]);
}

/** Queries with a change of this kind: one may have changed in two environments. */
function count(changes: readonly Change[], kind: Change["kind"]): number {
  return new Set(changes.filter((change) => change.kind === kind).map(changeKey)).size;
}

function says(number: number, one: string, many: string): string {
  return number === 0 ? "" : `${formatCount(number)} ${number === 1 ? one : many}`;
}

/** The first line where no query with a label ran. */
export function emptyLine(during: string, isFiltered: boolean): string {
  return `No query with a label ${isFiltered ? "matches the filters" : "ran"} ${during}`;
}

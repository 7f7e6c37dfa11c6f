// Open changes as the first page lists them: one message where the cause is one.

import type { Change, TimeText } from "./change";
import { howMuch, isWorse } from "./change";
import { nameInText } from "./names";
import { formatCount, formatDuration, plural, type UnixNs } from "../units";

/** Changes that began together, for the same first cause; one alone is a group of one. */
export interface Group {
  /** The one that costs most first. */
  changes: [Change, ...Change[]];
  /** Wall time a day at stake. */
  aDayMs: number;
}

const HOUR_NS = 3_600_000_000_000n;

/** What changes of one group have in common, beside the hour. */
function groupKey({ project, service, environment, kind, causes: [first] }: Change): string {
  const { name = null, before = null, after = null } = first?.dimension ?? {};
  return JSON.stringify([project, service, environment, kind, first?.cause ?? null, name, before, after]);
}

/** Groups changes; those with the most time at stake come first. Ties keep the order of the service. */
export function grouped(changes: readonly Change[]): Group[] {
  const byKey = new Map<string, { since: bigint; members: Change[] }[]>();
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

/** "22 queries of tpch are slower since 14:02" */
export function groupLine({ changes }: Group, timeText: TimeText): string {
  const [{ kind, service }] = changes;
  const subject = `${plural(changes.length, "query", "queries")}${service == null ? "" : ` of ${nameInText(service)}`}`;
  const verb = kind === "failing" ? "fail" : kind === "data_grew" ? "are slower as their data grew" : `are ${kind}`;
  return `${subject} ${verb} since ${timeText(groupSince({ changes }))}`;
}

/** The dimension that the first causes share: "All changed with the engine: 55.0 instead of 54.1." */
export function groupCause({ changes: [{ causes }] }: Group): string | undefined {
  const dimension = causes[0]?.dimension;
  if (dimension == null) return undefined;
  const { name, before = null, after = null } = dimension;
  const values = [after, before].map((value) => (value === null ? "none" : nameInText(value)));
  return `All changed with ${DIMENSIONS[name] ?? name}: ${values[0]}, before ${values[1]}.`;
}

/** "1 h 5 min a day more than before", all of them together; empty where they cost no time. */
export function groupCost({ aDayMs, changes: [{ kind }] }: Group): string {
  return aDayMs > 0 ? `${formatDuration(aDayMs)} a day ${kind === "failing" ? "at stake" : "more than before"}` : "";
}

export interface Found {
  /** Open changes. */
  changes: readonly Change[];
  /** Whether there are more than were read. */
  isCut: boolean;
  /** Changes for the worse that a person muted or resolved, which are not among these. */
  quiet?: number;
  /** Issues that want somebody and whose change is not among these. */
  alone?: number;
  /** Queries that ran in the range. */
  queries: number;
  /** The range of them, behind a verb: "in 14 days". */
  during: string;
}

/** Stands before what is told of the others: no text of a sender holds it. */
const OTHERS = "\u2063";

/** The part of a first line that names what got worse, and that of the others, which stands small. */
export function splitLine(line: string): [lead: string, others: string] {
  const at = line.indexOf(OTHERS);
  return at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 1)];
}

/** The first line of the home page: did anything get worse? */
export function homeLine(
  { changes, isCut, quiet: hidden = 0, alone = 0, queries, during }: Found,
  timeText: TimeText,
): string {
  const groups = grouped(changes.filter(isWorse));
  const [first, second] = groups;
  const parts: string[] = [];
  if (first !== undefined) {
    parts.push([first, second].flatMap((group) => (group === undefined ? [] : [named(group, timeText)])).join("; "));
    // The two that cost most have names; of the others there is a list.
    const others = groups.slice(2).flatMap((group) => group.changes);
    const [slower, failing] = [count(others, "slower"), count(others, "failing")];
    const least = isCut ? "at least " : "";
    const words: string[] = [];
    if (slower > 0) words.push(says(slower, "more is slower", "more are slower"));
    if (failing > 0) words.push(says(failing, slower > 0 ? "fails" : "more fails", slower > 0 ? "fail" : "more fail"));
    if (words.length > 0) parts.push(`${OTHERS}${least}${words.join(", ")}`);
    if (alone > 0) parts.push(says(alone, "other issue is open", "other issues are open"));
  } else if (alone > 0) {
    parts.push(says(alone, "issue is open", "issues are open"));
  } else {
    const ran = `${plural(queries, "query", "queries")} ran ${during}`;
    const among = isCut ? ` among the ${changes.length} with the most time at stake` : "";
    const found = hidden === 0 ? "" : ` beside ${plural(hidden, "muted or resolved issue")}`;
    parts.push(`No change for the worse was found${among}${found}; ${ran}`);
  }
  const quiet = [
    says(count(changes, "faster"), "is faster", "are faster"),
    says(count(changes, "data_grew"), "is slower as its data grew", "are slower as their data grew"),
  ].filter((text) => text !== "");
  return [...parts, ...(isCut ? [] : quiet)].join("; ");
}

function named(group: Group, timeText: TimeText): string {
  const [change] = group.changes;
  if (group.changes.length > 1) return groupLine(group, timeText);
  const much = change.kind === "failing" ? "fails" : `is ${howMuch(change)}`;
  return `${nameInText(change.label ?? "a query")} ${much} since ${timeText(change.since_unix_ns)}`;
}

/** Queries with a change of this kind: one may have changed in two environments. */
function count(changes: readonly Change[], kind: Change["kind"]): number {
  const keys = changes
    .filter((change) => change.kind === kind)
    .map(({ project, service, label }) => JSON.stringify([project, service, label]));
  return new Set(keys).size;
}

function says(number: number, one: string, many: string): string {
  return number === 0 ? "" : `${formatCount(number)} ${number === 1 ? one : many}`;
}

/** The first line where no query with a label ran. */
export function emptyLine(during: string, isFiltered: boolean): string {
  return `No query with a label ${isFiltered ? "matches the filters" : "ran"} ${during}`;
}

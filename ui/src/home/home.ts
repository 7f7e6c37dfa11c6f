// What the home page shows, as one answer: a page that grew piece by piece would move under the reader's eyes.
import { get, type LabelOverview, type Overview, type Query, type QuerySummary } from "../api/client";
import type { Change } from "../model/change";
import { isHere, OPEN, type Issue } from "../model/issue";
import { queryKey } from "../route/route";
import type { Covered } from "../model/range";
import type { UnixNs } from "../units";

/** Open changes with the most time at stake; more are told of as "at least". */
const CHANGES = 500;
/** Queries with news, of which those with a new warning are listed. */
const NEWS = 60;
/** Of those without a change, the ones that took the most time. */
const TOP = 100;
const FAILED = 200;
/** Runs that are told of while nothing runs. */
const RECENT = 4;
/** Issues with the most time at stake: those that are not over, and those that are. */
const ISSUES = 500;

export type Scope = Pick<Query<"/api/overview">, "service" | "environment" | "host">;

export interface Home {
  /** The range and the totals; its queries are those that took the most time. */
  overview: Overview;
  /** Open changes, those with the most time a day at stake first. */
  changes: readonly Change[];
  /** Issues in every state, those with the most time a day at stake first. */
  issues: readonly Issue[];
  /** Whether there are more changes. */
  isCut: boolean;
  /** Queries with a warning that they did not have before, and without an open change. */
  warned: readonly LabelOverview[];
  /** The last runs that failed or were cancelled, newest first, at most so many. */
  failures: readonly QuerySummary[];
  mostFailures: number;
  /** The runs that started last. */
  recent: readonly QuerySummary[];
}

export async function readHome(
  scope: { [Name in keyof Scope]?: Scope[Name] | undefined },
  range: { covered: Covered; started: { since: UnixNs; until: UnixNs | undefined } },
  utc_offset: number,
  owner: string,
  signal: AbortSignal,
): Promise<Home> {
  const query = { ...scope, ...range.covered, utc_offset, split: "service" as const };
  const failed = { ...scope, status: "failed" as const, ...range.started, limit: FAILED };
  const whose = { service: scope.service, owner: owner === "" ? undefined : owner };
  const [found, news, top, failures, recent, open, over] = await Promise.all([
    get("/api/changes", { query: { ...scope, state: "open", limit: CHANGES }, signal }),
    get("/api/overview", { query: { ...query, order: "news", limit: NEWS }, signal }),
    get("/api/overview", { query: { ...query, order: "time", limit: TOP }, signal }),
    get("/api/queries", { query: failed, signal }),
    get("/api/queries", { query: { ...scope, limit: RECENT }, signal }),
    get("/api/issues", { query: { ...whose, state: [...OPEN, "muted"].join(), limit: ISSUES }, signal }),
    get("/api/issues", { query: { ...whose, state: "resolved", limit: ISSUES }, signal }),
  ]);
  const changed = new Set(found.changes.map(queryKey));
  const warned = news.queries.filter((label) => label.new_rules.length > 0 && !changed.has(queryKey(label)));
  const issues = [...open.issues, ...over.issues].filter((issue) => isHere(issue, scope));
  return {
    overview: top,
    changes: found.changes,
    issues,
    isCut: found.next != null,
    warned,
    failures,
    mostFailures: FAILED,
    recent,
  };
}

/** The changes and issues of an owner; all where it is empty. A change is of the owner of its issue. */
export function ofOwner({ changes, issues }: Pick<Home, "changes" | "issues">, owner: string) {
  if (owner === "") return { changes, issues };
  const mine = issues.filter((issue) => issue.owner === owner);
  const about = new Set(mine.map(({ change }) => change));
  return { changes: changes.filter(({ id }) => about.has(id)), issues: mine };
}

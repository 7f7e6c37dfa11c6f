// What the home page shows, as one answer: a page that grew piece by piece would move under the reader's eyes.

import { get, type LabelOverview, type Overview, type Query, type QuerySummary } from "../api/client";
import { queryKey } from "../route/route";
import { fromEpochMs, type UnixNs } from "../units";
import { failingSince } from "./since";
import { changed, count, hasNews, judge, type Counts, type Judged } from "./verdicts";

/** More changes than these are listed under Queries. */
const NEWS = 60;
/** Of those without a change, the ones that took the most time. */
const TOP = 100;
const FAILED = 200;
const DAY_MS = 86_400_000;

export type Scope = Pick<Query<"/api/overview">, "service" | "environment" | "host">;

export interface Home {
  /** The range and the totals; its queries are those that took the most time. */
  overview: Overview;
  changes: Judged[];
  counts: Counts;
  /** Since when those that fail do, by key. */
  since: Map<string, UnixNs>;
  /** The last runs that failed, newest first, at most so many. */
  failures: QuerySummary[];
  mostFailures: number;
}

export async function readHome(
  scope: { [Name in keyof Scope]?: Scope[Name] | undefined },
  days: number,
  utc_offset: number,
  signal: AbortSignal,
): Promise<Home> {
  const query = { ...scope, days, utc_offset, split: "service" as const };
  const failed = { ...scope, status: "failed" as const, since: fromEpochMs(Date.now() - days * DAY_MS), limit: FAILED };
  const [news, top, failures] = await Promise.all([
    get("/api/overview", { query: { ...query, order: "news", limit: NEWS }, signal }),
    get("/api/overview", { query: { ...query, order: "time", limit: TOP }, signal }),
    get("/api/queries", { query: failed, signal }),
  ]);
  const changes = changed(news.queries.map(judge));
  const isCut = news.queries.length < news.totals.labels && news.queries.every(hasNews);
  const failing = changes.filter(({ changes }) => changes[0] === "failing").map(({ label }) => ofService(label));
  const since = await failingSince(failing, { environment: scope.environment, host: scope.host }, signal);
  return { overview: top, changes, counts: count(changes, top, isCut), since, failures, mostFailures: FAILED };
}

/** An entry is of one service, or of the runs without one. */
function ofService({ label, service }: LabelOverview): { label: string; service: string | null } {
  return { label, service: service ?? null };
}

/** The last run of a query that failed. */
export function lastFailure({ failures }: Home, label: LabelOverview): QuerySummary | undefined {
  const key = queryKey(label);
  return failures.find((query) => queryKey(query) === key);
}

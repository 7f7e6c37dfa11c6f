// Filters of the lists: in the address, and as the read API takes them.

import { get, getPage, type Ask, type Status } from "../api/client";
import type { Change } from "../model/change";
import type { Covered } from "../model/range";
import { matching } from "./labels";

export const FILTERS = [
  "q",
  "label",
  "service",
  "environment",
  "host",
  "engine_version",
  "program_version",
  "status",
  "fingerprint",
] as const;
export type FilterName = (typeof FILTERS)[number];
/** The filters, and the range of the runs: its ends in Unix nanoseconds. */
export type Filters = { readonly [Name in FilterName | "since" | "until"]?: string | undefined };

export const STATUSES = ["running", "finished", "failed", "unfinished"] as const satisfies readonly Status[];

interface Conditions {
  label: string | undefined;
  service: string | undefined;
  environment: string | undefined;
  host: string | undefined;
  engine_version: string | undefined;
  program_version: string | undefined;
  fingerprint: string | undefined;
  status: Status | undefined;
}
interface Asked extends Conditions {
  since: bigint | undefined;
  until: bigint | undefined;
}

/** The filters but the range as parameters of the read API, without the search, which not every list takes. */
export function conditions(filters: Filters): Conditions {
  return {
    label: filters.label,
    service: filters.service,
    environment: filters.environment,
    host: filters.host,
    engine_version: filters.engine_version,
    program_version: filters.program_version,
    fingerprint: filters.fingerprint,
    status: STATUSES.find((status) => status === filters.status),
  };
}

/** The same with the range. */
export function asked(filters: Filters): Asked {
  return { ...conditions(filters), since: nanoseconds(filters.since), until: nanoseconds(filters.until) };
}

function nanoseconds(text: string | undefined): bigint | undefined {
  return text !== undefined && /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined;
}

/** A filter's name in a sentence. */
export function filterText(name: FilterName): string {
  return name.replace("_", " ");
}

/** The filters that are set. */
export function active(filters: Filters): FilterName[] {
  return FILTERS.filter((name) => filters[name] !== undefined);
}

const PAGE = 1000;

/** How many things match, or at least so many where they were not all counted. */
export interface Count {
  of: number;
  isLeast: boolean;
}

/** How many runs match; with a search, at most a page of them is counted. */
export async function countRuns(filters: Filters, signal: AbortSignal): Promise<Count> {
  if (filters.q === undefined) {
    const { status, ...rest } = asked(filters);
    const facets = await get("/api/facets", { query: { ...rest, status }, signal });
    const counted = status === undefined ? facets.status : facets.status.filter(({ value }) => value === status);
    return { of: counted.reduce((sum, { runs }) => sum + runs, 0), isLeast: false };
  }
  const query = { ...asked(filters), filter: filters.q, limit: PAGE };
  const { body, next } = await getPage("/api/queries", { query, signal });
  return { of: body.length, isLeast: next !== undefined };
}

/** How many queries match that ran in a range; with a search, those of a page are searched. */
export async function countQueries(filters: Filters, covered: Covered, signal: AbortSignal): Promise<Count> {
  const limit = filters.q === undefined ? 1 : PAGE;
  const query = {
    ...conditions(filters),
    status: undefined,
    fingerprint: undefined,
    ...covered,
    split: "service" as const,
    limit,
  };
  const { body, next } = await getPage("/api/overview", { query, signal });
  if (filters.q === undefined) return { of: body.totals.labels, isLeast: false };
  return { of: matching(body.queries, filters.q, undefined).length, isLeast: next !== undefined };
}

/** Of so many queries the environments are asked for. */
const ASKED = 20;

/**
 * The changes, those of one environment without it where their query has no runs of another: then they are of all runs
 * that are shown.
 */
export async function widened(
  changes: readonly Change[],
  shown: Pick<Ask<"/api/facets">["query"] & object, "environment" | "host" | "since" | "until">,
  signal: AbortSignal,
): Promise<Change[]> {
  const isOfPart = ({ kind, host, environment }: Change): boolean =>
    (kind === "slower" || kind === "faster") && host == null && environment != null;
  const asked = shown.environment === undefined ? changes.filter(isOfPart).slice(0, ASKED) : [];
  const whole = await Promise.all(
    asked.map(async (change) => {
      const query = { ...shown, label: change.label ?? "", service: change.service ?? "" };
      // Where it cannot be read, the change stays one of its environment.
      const facets = await get("/api/facets", { query, signal }).catch(() => undefined);
      return facets?.environment.every(({ value }) => value === change.environment) === true ? [change] : [];
    }),
  );
  return changes.map((change) => (whole.flat().includes(change) ? { ...change, environment: null } : change));
}

export interface Culprit {
  filter: FilterName;
  /** What matches without it. */
  without: Count;
}

/** Where nothing matches: the filter that removes most, undefined where no single one is to blame. */
export async function culprit(
  filters: Filters,
  counted: (filters: Filters) => Promise<Count>,
): Promise<Culprit | undefined> {
  const found = await Promise.all(
    active(filters).map(async (filter) => ({ filter, without: await counted({ ...filters, [filter]: undefined }) })),
  );
  const [worst] = found.sort((a, b) => b.without.of - a.without.of);
  return worst !== undefined && worst.without.of > 0 ? worst : undefined;
}

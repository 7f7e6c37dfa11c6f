// Filters of the lists: in the address, and as the read API takes them.

import { get, getPage, type Status } from "../api/client";

export const FILTERS = ["q", "label", "service", "environment", "host", "status", "fingerprint", "since", "until"] as const;
export type FilterName = (typeof FILTERS)[number];
export type Filters = { readonly [Name in FilterName]?: string | undefined };

export const STATUSES = ["running", "finished", "failed", "unfinished"] as const satisfies readonly Status[];

interface Asked {
  label: string | undefined;
  service: string | undefined;
  environment: string | undefined;
  host: string | undefined;
  fingerprint: string | undefined;
  status: Status | undefined;
  since: bigint | undefined;
  until: bigint | undefined;
}

/** The filters as parameters of the read API, without the search, which not every list takes. */
export function asked(filters: Filters): Asked {
  return {
    label: filters.label,
    service: filters.service,
    environment: filters.environment,
    host: filters.host,
    fingerprint: filters.fingerprint,
    status: STATUSES.find((status) => status === filters.status),
    since: nanoseconds(filters.since),
    until: nanoseconds(filters.until),
  };
}

function nanoseconds(text: string | undefined): bigint | undefined {
  return text !== undefined && /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined;
}

/** The filters that are set. */
export function active(filters: Filters): FilterName[] {
  return FILTERS.filter((name) => filters[name] !== undefined);
}

const PAGE = 1000;

/** How many queries match; with a search, at most a page of them is counted. */
async function count(filters: Filters, signal: AbortSignal): Promise<number> {
  if (filters.q === undefined) {
    const { status, ...rest } = asked(filters);
    const facets = await get("/api/facets", { query: { ...rest, status }, signal });
    const counted = status === undefined ? facets.status : facets.status.filter(({ value }) => value === status);
    return counted.reduce((sum, { runs }) => sum + runs, 0);
  }
  const { body } = await getPage("/api/queries", { query: { ...asked(filters), q: filters.q, limit: PAGE }, signal });
  return body.length;
}

export interface Culprit {
  filter: FilterName;
  /** Queries there would be without it. */
  without: number;
}

/** Where nothing matches: the filter that removes most, undefined where no single one is to blame. */
export async function culprit(filters: Filters, signal: AbortSignal, counted = count): Promise<Culprit | undefined> {
  const found = await Promise.all(
    active(filters).map(async (filter) => ({ filter, without: await counted({ ...filters, [filter]: undefined }, signal) })),
  );
  const [worst] = found.sort((a, b) => b.without - a.without);
  return worst !== undefined && worst.without > 0 ? worst : undefined;
}

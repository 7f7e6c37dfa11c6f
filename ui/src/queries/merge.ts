import type { QuerySummary } from "../api/client";

/**
 * Joins the newest page with the rows already there, both newest first: rows of the page replace their older state, new
 * ones come on top. A page that shares no row with them replaces them, for what lies between is not known.
 */
export function mergeNewest(rows: readonly QuerySummary[], page: readonly QuerySummary[]): readonly QuerySummary[] {
  const fresh = new Map(page.map((query) => [query.query_id, query]));
  const isKnown = rows.some(({ query_id }) => fresh.has(query_id));
  if (!isKnown) return page;
  const old = new Set(rows.map(({ query_id }) => query_id));
  return [
    ...page.filter(({ query_id }) => !old.has(query_id)),
    ...rows.map((query) => fresh.get(query.query_id) ?? query),
  ];
}

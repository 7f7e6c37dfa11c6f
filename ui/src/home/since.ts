// Since when a query fails: the first failure after the last run that finished.

import { get, type Query } from "../api/client";
import { queryKey, type QueryName } from "../route/route";
import type { UnixNs } from "../units";

type Scope = Pick<Query<"/api/queries">, "environment" | "host">;

const MOST = 10;

/**
 * When each of these queries began to fail, where it did, by its key. A label without a service stands for its runs in
 * all services.
 */
export async function failingSince(
  queries: readonly QueryName[],
  scope: { [Name in keyof Scope]?: Scope[Name] | undefined },
  signal: AbortSignal,
): Promise<Map<string, UnixNs>> {
  const found = await Promise.all(
    queries.slice(0, MOST).map(async ({ label, service }) => {
      const query = { ...scope, label, service: service === undefined ? undefined : (service ?? ""), limit: 1 };
      const [finished] = await get("/api/queries", { query: { ...query, status: "finished" }, signal });
      const since = finished?.started_unix_ns;
      const failures = { ...query, status: "failed", order: "oldest", since } as const;
      const [failed] = await get("/api/queries", { query: failures, signal });
      return [queryKey({ label, service }), failed?.started_unix_ns] as const;
    }),
  );
  return new Map(found.filter((entry): entry is [string, UnixNs] => entry[1] !== undefined));
}

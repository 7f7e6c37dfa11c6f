// Since when a label fails: the first failure after the last run that finished.

import { get, type Query } from "../api/client";
import type { UnixNs } from "../units";

type Scope = Pick<Query<"/api/queries">, "service" | "environment" | "host">;

/** When each of these labels began to fail, where it did. */
export async function failingSince(
  labels: readonly string[],
  scope: { [Name in keyof Scope]?: Scope[Name] | undefined },
  signal: AbortSignal,
): Promise<Map<string, UnixNs>> {
  const found = await Promise.all(
    labels.slice(0, MOST_LABELS).map(async (label) => {
      const query = { ...scope, label, limit: 1 };
      const [finished] = await get("/api/queries", { query: { ...query, status: "finished" }, signal });
      const since = finished?.started_unix_ns;
      const [failed] = await get("/api/queries", { query: { ...query, status: "failed", order: "oldest", since }, signal });
      return [label, failed?.started_unix_ns] as const;
    }),
  );
  return new Map(found.filter((entry): entry is [string, UnixNs] => entry[1] !== undefined));
}

const MOST_LABELS = 10;

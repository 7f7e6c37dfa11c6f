// The runs that a page is about, by service, environment and host.

import type { QuerySummary } from "../api/client";

/** An empty text stands for none. */
export interface Scope {
  service?: string | undefined;
  environment?: string | undefined;
  host?: string | undefined;
}

/** Whether a run belongs to it. */
export function isInScope(run: Pick<QuerySummary, "service" | "environment" | "host">, scope: Scope): boolean {
  const is = (wanted: string | undefined, given: string | null | undefined): boolean =>
    wanted === undefined || wanted === (given ?? "");
  return is(scope.service, run.service) && is(scope.environment, run.environment) && is(scope.host, run.host);
}

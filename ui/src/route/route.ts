// Which address shows which page, and back.

export type Route =
  | { page: "home" }
  | { page: "now" }
  | { page: "queries" }
  | { page: "query"; label: string }
  | { page: "run"; id: string }
  | { page: "issues" }
  | { page: "issue"; id: string }
  | { page: "open" }
  | { page: "settings" }
  | { page: "missing" };

/** The page at a path. Labels may hold slashes, escaped or not; one that no path can hold is a parameter, `label`. */
export function routeOf(path: string, label?: string): Route {
  if (path === "/") return { page: "home" };
  const [, first = "", rest] = /^\/([^/]+)(?:\/(.*))?$/.exec(path) ?? [];
  if (rest === undefined || rest === "") {
    if (first === "now" || first === "queries" || first === "issues" || first === "open" || first === "settings")
      return { page: first };
    return first === "labels" && label !== undefined ? { page: "query", label } : { page: "missing" };
  }
  const name = unescaped(rest);
  if (first === "labels" && name !== undefined) return { page: "query", label: name };
  if (first === "queries" && name !== undefined && !name.includes("/")) return { page: "run", id: name };
  if (first === "issues" && name !== undefined && !name.includes("/")) return { page: "issue", id: name };
  return { page: "missing" };
}

function unescaped(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

export type Parameters = Readonly<Record<string, string | undefined>>;

/** An address of the dashboard. Parameters that are undefined are left out; an empty one means "without". */
export function href(path: string, parameters: Parameters = {}): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const search = new URLSearchParams(given).toString();
  return search === "" ? path : `${path}?${search}`;
}

/** Browsers drop these from a path, escaped or not: https://url.spec.whatwg.org/#double-dot-path-segment. */
const NO_SEGMENT = /^\.{0,2}$/;

/** A query is a label within a service; without a service, of the runs that have none. */
export interface QueryName {
  label: string;
  service?: string | null | undefined;
  /** Of one of its environments, such as that of a change: its page shows the runs of it alone. */
  environment?: string | null | undefined;
}

/** The page of a query, or of a label over all services where it is given alone. */
export function queryHref(query: string | QueryName, parameters: Parameters = {}): string {
  const { label, service, environment } =
    typeof query === "string" ? { label: query } : { ...query, service: query.service ?? "" };
  const all = { service, environment: environment ?? undefined, ...parameters };
  if (NO_SEGMENT.test(label)) return href("/labels", { label, ...all });
  return href(`/labels/${encodeURIComponent(label)}`, all);
}

/** Tells queries apart. */
export function queryKey({ label, service }: { [Part in "label" | "service"]?: string | null | undefined }): string {
  return JSON.stringify([service ?? null, label ?? null]);
}

export function runHref(id: string, parameters: Parameters = {}): string {
  return href(`/queries/${encodeURIComponent(id)}`, parameters);
}

export function issueHref(id: string, parameters: Parameters = {}): string {
  return href(`/issues/${encodeURIComponent(id)}`, parameters);
}

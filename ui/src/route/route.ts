// Which address shows which page, and back.

export type Route =
  | { page: "home" }
  | { page: "now" }
  | { page: "queries" }
  | { page: "query"; label: string }
  | { page: "run"; id: string }
  | { page: "open" }
  | { page: "missing" };

/** The page at a path. Labels may hold slashes, escaped or not. */
export function routeOf(path: string): Route {
  if (path === "/") return { page: "home" };
  const [, first = "", rest] = /^\/([^/]+)(?:\/(.*))?$/.exec(path) ?? [];
  if (rest === undefined || rest === "") {
    if (first === "now" || first === "queries" || first === "open") return { page: first };
    return { page: "missing" };
  }
  const name = unescaped(rest);
  if (first === "labels" && name !== undefined) return { page: "query", label: name };
  if (first === "queries" && name !== undefined && !name.includes("/")) return { page: "run", id: name };
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

export const queryHref = (label: string, parameters: Parameters = {}): string => href(`/labels/${encodeURIComponent(label)}`, parameters);
export const runHref = (id: string, parameters: Parameters = {}): string => href(`/queries/${encodeURIComponent(id)}`, parameters);

// The range of time goes along from page to page.

import { PARAMETERS } from "../model/range";
import { routeOf } from "./route";

/** Pages that neither show a range nor lead to one that does. */
const WITHOUT = ["open", "missing"];

/**
 * A link of the page at this path and search, with the range of it. A link that says a range of its own, or that
 * leads to the page itself, stays as it is.
 */
export function carried(to: string, path: string, search: string): string {
  const target = new URL(to, "http://queryscope.invalid");
  const here = new URLSearchParams(search);
  const given = PARAMETERS.filter((name) => here.has(name));
  const isSet = PARAMETERS.some((name) => target.searchParams.has(name));
  const { page } = routeOf(target.pathname, target.searchParams.get("label") ?? undefined);
  if (given.length === 0 || isSet || target.pathname === path || WITHOUT.includes(page)) return to;
  for (const name of given) target.searchParams.set(name, here.get(name) ?? "");
  return target.pathname + target.search + target.hash;
}

// The address is the state: pages read what they show from it and write what a person chose into it.

import { href, routeOf, type Parameters, type Route } from "./route";

class Address {
  #path = $state.raw(location.pathname);
  #search = $state.raw(location.search);
  #parameters = $derived(new URLSearchParams(this.#search));
  // A text, and not the parameters: the route stays the same object while others of them change.
  readonly #label = $derived(this.#parameters.get("label") ?? undefined);
  #route = $derived(routeOf(this.#path, this.#label));

  get path(): string {
    return this.#path;
  }
  get search(): string {
    return this.#search;
  }
  get route(): Route {
    return this.#route;
  }

  /** A parameter, undefined where it is not given. */
  get(name: string): string | undefined {
    return this.#parameters.get(name) ?? undefined;
  }

  /** One of the values a parameter may have, else the first of them. */
  oneOf<const T extends string>(name: string, values: readonly [T, ...T[]]): T {
    const given = this.get(name);
    return values.find((value) => value === given) ?? values[0];
  }

  /** Goes to an address of the dashboard. */
  go(to: string, { replace = false } = {}): void {
    history[replace ? "replaceState" : "pushState"](null, "", to);
    this.follow();
  }

  /** This address with other parameters; one that is undefined is removed. */
  with(change: Parameters): string {
    const parameters = Object.fromEntries(this.#parameters);
    return href(this.#path, { ...parameters, ...change });
  }

  set(change: Parameters, how: { replace?: boolean } = {}): void {
    this.go(this.with(change), how);
  }

  follow(): void {
    this.#path = location.pathname;
    this.#search = location.search;
  }
}

export const address = new Address();

/** Lets links of the dashboard change the page without loading it anew. Returns what stops it. */
export function followLinks(): () => void {
  const onClick = (event: MouseEvent): void => {
    const isModified = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (event.defaultPrevented || event.button !== 0 || isModified) return;
    const link = (event.target as Element).closest<HTMLAnchorElement | SVGAElement>("a[href]");
    const to = link?.getAttribute("href");
    if (!link || !to?.startsWith("/") || link.hasAttribute("download") || link.hasAttribute("target")) return;
    if (to.startsWith("/api/") || to.startsWith("/v1/")) return;
    event.preventDefault();
    const isNewPage = new URL(to, location.origin).pathname !== location.pathname;
    address.go(to);
    if (isNewPage) scrollTo(0, 0);
  };
  const onPop = (): void => address.follow();
  document.addEventListener("click", onClick);
  addEventListener("popstate", onPop);
  return () => {
    document.removeEventListener("click", onClick);
    removeEventListener("popstate", onPop);
  };
}

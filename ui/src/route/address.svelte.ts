// The address is the state: pages read what they show from it and write what a person chose into it.

import { Places } from "./places";
import { carried } from "./carry";
import { href, routeOf, type Parameters, type Route } from "./route";

export const places = new Places();

/** Also those that open a link elsewhere, or offer to. */
const CLICKS = ["click", "auxclick", "contextmenu"] as const;

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

  /**
   * Goes to an address of the dashboard, to another page of it with the range of time of this one. That page begins at
   * its top, or shows what has the id `stays` where it stands here.
   */
  go(given: string, { replace = false, stays }: { replace?: boolean; stays?: string | undefined } = {}): void {
    const to = carried(given, location.pathname, location.search);
    const isNewPage = new URL(to, location.href).pathname !== location.pathname;
    history[replace ? "replaceState" : "pushState"](places.next({ replace }), "", to);
    this.follow();
    if (stays !== undefined) places.stay(stays);
    else if (isNewPage) scrollTo(0, 0);
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
    if (event.defaultPrevented) return;
    const link = (event.target as Element).closest<HTMLAnchorElement | SVGAElement>("a[href]");
    const given = link?.getAttribute("href");
    if (!link || !given?.startsWith("/") || link.hasAttribute("download") || link.hasAttribute("target")) return;
    if (given.startsWith("/api/") || given.startsWith("/v1/")) return;
    if (event.button !== 0 || isModified) {
      // The browser opens or copies what stands in the link.
      const to = carried(given, location.pathname, location.search);
      if (to !== given) link.setAttribute("href", to);
      return;
    }
    event.preventDefault();
    // It is the row to come back to; a click focuses no link in some browsers.
    link.focus({ preventScroll: true });
    address.go(given, { stays: link.dataset["stays"] });
  };
  const onPop = (): void => {
    places.move();
    address.follow();
  };
  places.begin();
  for (const name of CLICKS) document.addEventListener(name, onClick);
  addEventListener("popstate", onPop);
  return () => {
    for (const name of CLICKS) document.removeEventListener(name, onClick);
    removeEventListener("popstate", onPop);
  };
}

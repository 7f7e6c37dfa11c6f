// What a person prefers, kept in this browser.

import type { Zone } from "../units";

export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

function stored<T extends string>(name: string, values: readonly [T, ...T[]]): T {
  try {
    const given = localStorage.getItem(name);
    return values.find((value) => value === given) ?? values[0];
  } catch {
    return values[0];
  }
}

/** A text that was kept; empty where there is none. */
function storedText(name: string): string {
  try {
    return localStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

function store(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // A browser that keeps nothing still shows what was chosen.
  }
}

class Preferences {
  #theme = $state(stored("theme", THEMES));
  #zone = $state(stored<Zone>("zone", ["local", "utc"]));
  #owner = $state(storedText("owner"));
  #sourceLink = $state(storedText("source-link"));
  #traceLink = $state(storedText("trace-link"));

  constructor() {
    this.#paint();
  }

  get theme(): Theme {
    return this.#theme;
  }
  set theme(theme: Theme) {
    this.#theme = theme;
    store("theme", theme);
    this.#paint();
  }

  get zone(): Zone {
    return this.#zone;
  }
  set zone(zone: Zone) {
    this.#zone = zone;
    store("zone", zone);
  }

  /** The owner whose queries Home shows; empty for everybody's. */
  get owner(): string {
    return this.#owner;
  }
  set owner(owner: string) {
    this.#owner = owner;
    store("owner", owner);
  }

  /** Template of the link to a line of the source (`model/link-template.ts`); empty for none. */
  get sourceLink(): string {
    return this.#sourceLink;
  }
  set sourceLink(template: string) {
    this.#sourceLink = template;
    store("source-link", template);
  }

  /** Template of the link to the trace of a run; empty for none. */
  get traceLink(): string {
    return this.#traceLink;
  }
  set traceLink(template: string) {
    this.#traceLink = template;
    store("trace-link", template);
  }

  #paint(): void {
    document.documentElement.dataset["theme"] = this.#theme;
  }
}

export const preferences = new Preferences();

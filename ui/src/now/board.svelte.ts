// How far every running query is, asked for a few at a time.

import { untrack } from "svelte";
import { SvelteMap } from "svelte/reactivity";
import { get } from "../api/client";
import type { Asked, AskedById } from "../model/running";

/** A query is asked after again so long after its last answer. */
const ASK_MS = 4000;
const AT_ONCE = 4;
const PAUSE_MS = 300;

export class Board {
  readonly #asked = new SvelteMap<string, Asked>();
  /** Those of which there was an answer, also where it says nothing. */
  readonly #due = new Map<string, number>();

  /** Asks as long as the component that makes it is shown. */
  constructor(ids: () => readonly string[]) {
    $effect(() => {
      const stop = new AbortController();
      void this.#follow(() => untrack(ids), stop.signal);
      return () => stop.abort();
    });
  }

  get asked(): AskedById {
    return this.#asked;
  }

  async #follow(ids: () => readonly string[], stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const running = new Set(ids());
      for (const id of this.#due.keys()) if (!running.has(id)) this.#due.delete(id);
      for (const id of this.#asked.keys()) if (!running.has(id)) this.#asked.delete(id);
      const nowMs = Date.now();
      const due = document.hidden ? [] : [...running].filter((id) => (this.#due.get(id) ?? 0) <= nowMs);
      await Promise.all(due.slice(0, AT_ONCE).map((id) => this.#ask(id, stop)));
      if (due.length <= AT_ONCE) await new Promise((then) => setTimeout(then, PAUSE_MS));
    }
  }

  async #ask(id: string, signal: AbortSignal): Promise<void> {
    try {
      const progress = await get("/api/queries/{id}/progress", { path: { id }, signal });
      if (!signal.aborted) this.#asked.set(id, { progress, atMs: Date.now() });
    } catch {
      // Nothing is shown where nothing is known; the next time may tell.
    }
    this.#due.set(id, Date.now() + ASK_MS);
  }
}

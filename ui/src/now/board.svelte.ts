// How far every running query is, asked for a few at a time.

import { untrack } from "svelte";
import { get } from "../api/client";
import type { Asked, AskedById } from "../model/running";
import { each } from "./each";

/** A query is asked after again so long after its last answer. */
const ASK_MS = 4000;
const AT_ONCE = 4;
const PAUSE_MS = 300;
/** What a round answers is shown together: rows change once, not one after the other. It takes so long at most. */
const ROUND_MS = 2000;

export class Board {
  #asked = $state.raw<AskedById>(new Map());
  /** Those of which there was an answer, also where it says nothing. */
  readonly #due = new Map<string, number>();
  /** Whether all that runs was asked after. */
  isKnown = $state(false);

  /** Asks as long as the component that makes it is shown. */
  constructor(ids: () => readonly string[]) {
    $effect(() => {
      const stop = new AbortController();
      // Nothing that it reads starts it anew: its answers would stop those that are on their way.
      untrack(() => void this.#follow(ids, stop.signal));
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
      const nowMs = Date.now();
      const dueMs = (id: string): number => this.#due.get(id) ?? 0;
      const due = document.hidden ? [] : [...running].filter((id) => dueMs(id) <= nowMs);
      due.sort((a, b) => dueMs(a) - dueMs(b));
      const answers = new Map<string, Asked>();
      const isOver = (): boolean => stop.aborted || Date.now() > nowMs + ROUND_MS;
      await each(due, AT_ONCE, (id) => this.#ask(id, answers, stop), isOver);
      if (stop.aborted) return;
      const ended = [...this.#asked.keys()].some((id) => !running.has(id));
      if (ended || answers.size > 0)
        this.#asked = new Map([...this.#asked, ...answers].filter(([id]) => running.has(id)));
      if (due.length > 0 && due.every((id) => this.#due.has(id))) this.isKnown = true;
      if (!isOver()) await new Promise((then) => setTimeout(then, PAUSE_MS));
    }
  }

  async #ask(id: string, answers: Map<string, Asked>, signal: AbortSignal): Promise<void> {
    try {
      const progress = await get("/api/queries/{id}/progress", { path: { id }, signal });
      answers.set(id, { progress, atMs: Date.now() });
    } catch {
      // Nothing is shown where nothing is known; the next time may tell.
    }
    this.#due.set(id, Date.now() + ASK_MS);
  }
}

// How far a running query is, by its earlier runs.

import { get, type Schemas } from "../../api/client";
import { clock } from "../../frame/clock.svelte";
import type { Running } from "../../live/hub";
import { epochMs } from "../../units";
import { remainingOf } from "../../model/remaining";

const ASK_MS = 4000;

export interface HowFar {
  words: string;
  isLate: boolean;
  /** Shares of the way, 0 to 1: the lower and the upper end of what is likely. */
  low: number;
  high: number;
}

/** What the service says of a running query; undefined where there is no basis. */
export function howFarOf(progress: Schemas["Progress"] | undefined): HowFar | undefined {
  const remaining = remainingOf(progress);
  if (remaining === undefined) return undefined;
  const { words, isLate, bar } = remaining;
  return { words, isLate, ...bar };
}

/** In words; `isKnown`: whether the service has answered. */
export function howFarWords(howFar: HowFar | undefined, isKnown: boolean): string {
  return howFar?.words ?? (isKnown ? "no earlier run tells how long it takes" : "looking at its earlier runs");
}

/** The clock of this browser may differ from that of the service: the last sample is a floor. */
export function elapsedOf({ query, pulse }: Running, nowMs: number): number {
  return Math.max(nowMs - epochMs(query.started_unix_ns), pulse?.elapsed_ms ?? 0);
}

export class Judged {
  readonly #running: () => Running;
  #asked = $state.raw<Schemas["Progress"]>();
  /** Whether it is known what there is to know. */
  isKnown = $state(false);

  /** Asks again and again, as an effect of the component that makes it. */
  constructor(running: () => Running) {
    this.#running = running;
    // Every message brings a new object; the id stays the same.
    const id = $derived(running().query.query_id);
    $effect(() => {
      const stop = new AbortController();
      const ask = (): void => void (document.hidden || this.#ask(id, stop.signal));
      ask();
      const timer = setInterval(ask, ASK_MS);
      return () => {
        clearInterval(timer);
        stop.abort();
      };
    });
  }

  async #ask(id: string, signal: AbortSignal): Promise<void> {
    try {
      const asked = await get("/api/queries/{id}/progress", { path: { id }, signal });
      if (!signal.aborted) [this.#asked, this.isKnown] = [asked, true];
    } catch {
      // Nothing is shown where nothing is known; the next time may tell.
    }
  }

  get elapsedMs(): number {
    return elapsedOf(this.#running(), clock.nowMs);
  }

  /** Undefined where there is no basis. */
  get howFar(): HowFar | undefined {
    return howFarOf(this.#asked);
  }

  get words(): string {
    return howFarWords(this.howFar, this.isKnown);
  }
}

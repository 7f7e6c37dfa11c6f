// How far a running query is, by its earlier runs.

import { get } from "../../api/client";
import { clock } from "../../frame/clock.svelte";
import type { Running } from "../../live/hub";
import { epochMs } from "../../units";
import { remainingOf, type Remaining } from "../../model/remaining";
import type { Asked } from "../../model/running";

const ASK_MS = 4000;
/** Fewer earlier runs tell no time. */
const RUNS_MIN = 5;

/** What the service said of a running query, as it is now; undefined where there is no basis. */
export function howFarOf(asked: Asked | undefined, nowMs: number): Remaining | undefined {
  return asked && remainingOf(asked.progress, Math.max(0, nowMs - asked.atMs));
}

/** In words, also before the service has answered. */
export function howFarWords(howFar: Remaining | undefined, asked: Asked | undefined): string {
  const runs = asked?.progress.runs ?? RUNS_MIN;
  // None are told, too, where those of its plan are not counted yet.
  const count = runs > 0 ? ` (${runs})` : "";
  if (runs < RUNS_MIN && howFar === undefined) return `too few earlier runs${count} for a forecast`;
  return howFar?.words ?? (asked ? "its earlier runs do not tell how long it takes" : "looking at its earlier runs");
}

/** The clock of this browser may differ from that of the service: the last sample is a floor. */
export function elapsedOf({ query, pulse }: Running, nowMs: number): number {
  return Math.max(nowMs - epochMs(query.started_unix_ns), pulse?.elapsed_ms ?? 0);
}

export class Judged {
  readonly #running: () => Running;
  #asked = $state.raw<Asked>();

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
      const progress = await get("/api/queries/{id}/progress", { path: { id }, signal });
      if (!signal.aborted) this.#asked = { progress, atMs: Date.now() };
    } catch {
      // Nothing is shown where nothing is known; the next time may tell.
    }
  }

  get elapsedMs(): number {
    return elapsedOf(this.#running(), clock.nowMs);
  }

  /** Undefined where there is no basis. */
  get howFar(): Remaining | undefined {
    return howFarOf(this.#asked, clock.nowMs);
  }

  get words(): string {
    return howFarWords(this.howFar, this.#asked);
  }
}

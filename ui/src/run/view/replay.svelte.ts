// The moment of a run that is looked at: now, its end, or one that is replayed.

import { formatDuration } from "../../units";
import { hottest, momentAt, type Ranked } from "../../model/run/moment";
import { type Times, timesOf } from "../../model/run/times";
import type { Choices } from "./choices";
import type { RunData } from "./data.svelte";

const TOP = 5;
const SETTLE_MS = 300;

export class Replay {
  /** Where the scrubber is while it moves; undefined once the address says so. */
  #scrubMs = $state<number | null>();
  #settling: ReturnType<typeof setTimeout> | undefined;
  readonly #data: RunData;
  readonly #choices: Choices;

  constructor(data: RunData, choices: Choices) {
    this.#data = data;
    this.#choices = choices;
  }

  /** The moment that is replayed; null is now, or the end. */
  readonly ms = $derived.by(() => {
    if (this.#scrubMs !== undefined) return this.#scrubMs;
    const given = Number(this.#choices.get("t") ?? Number.NaN);
    return Number.isFinite(given) && given >= 0 ? given : null;
  });
  readonly moment = $derived.by(() => momentAt(this.#data.run, this.ms));
  /** The moment that is not replayed: the whole run so far. */
  readonly latest = $derived.by(() => (this.ms === null ? this.moment : momentAt(this.#data.run, null)));
  /** Whether nodes work at that moment: after the end, or the last that was heard, none is known to. */
  readonly showsWork = $derived.by(() => this.ms !== null || this.#data.standing === "running");
  readonly ranked: Ranked[] = $derived.by(() => hottest(this.#data.run, this.moment));
  /** All nodes that worked in the run so far, whatever moment is looked at. */
  readonly allRanked: Ranked[] = $derived.by(() => hottest(this.#data.run, this.latest));
  readonly top: Ranked[] = $derived(this.ranked.slice(0, TOP));
  readonly times: Times = $derived.by(() => timesOf(this.#data.run, this.latest));
  readonly isUncounted = $derived(this.times.isMostlyUncounted || this.times.isMostlyUserCode);
  /** Where most of the time is that the nodes' counters do not hold. */
  readonly elsewhere = $derived(
    this.times.isMostlyUserCode
      ? `${formatDuration(this.times.userCodeMs)} in user code`
      : `${formatDuration(this.times.uncountedMs)} in no counter`,
  );
  /** What the shares of nodes are of. */
  readonly nodesTime = $derived(this.moment.callsNs > 0 ? "counted time" : this.times.nodesTime);

  /** Browsers allow few changes of the address: it follows once the scrubber rests. */
  to(ms: number | null): void {
    this.#scrubMs = ms;
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => {
      this.#choices.set({ t: ms === null ? undefined : String(Math.round(ms)) }, { replace: true });
      this.#scrubMs = undefined;
    }, SETTLE_MS);
  }

  /** Nothing is written into the address of another page. */
  leave(): void {
    clearTimeout(this.#settling);
  }
}

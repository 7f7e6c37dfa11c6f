// The moment of a run that is looked at: now, its end, or one that is replayed.

import { formatDuration } from "../../units";
import { hottest, type Moment, momentAt, type Ranked } from "../../model/run/moment";
import { type Times, timesOf } from "../../model/run/times";
import type { Choices } from "./choices";
import type { RunData } from "./data.svelte";

/** So many nodes are named. */
export const TOP = 5;
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
  /** What nodes told of the run so far. */
  readonly #told = $derived.by(() => momentAt(this.#data.run, null));
  readonly times: Times = $derived.by(() => timesOf(this.#data.run, this.#told));
  readonly isUncounted = $derived(this.times.isMostlyUncounted || this.times.isMostlyUserCode);
  /** The moment that is not replayed: the whole run so far. */
  readonly latest = $derived.by(() => this.#ofTime(this.#told));
  readonly moment = $derived.by(() =>
    this.ms === null ? this.latest : this.#ofTime(momentAt(this.#data.run, this.ms)),
  );
  /** Whether nodes work at that moment: after the end, or the last that was heard, none is known to. */
  readonly showsWork = $derived.by(() => this.ms !== null || this.#data.standing === "running");
  readonly ranked: Ranked[] = $derived.by(() => hottest(this.#data.run, this.moment));
  /** All nodes that worked in the run so far, whatever moment is looked at. */
  readonly allRanked: Ranked[] = $derived.by(() => hottest(this.#data.run, this.latest));
  readonly top: Ranked[] = $derived(this.ranked.slice(0, TOP));
  /** Where most of the time is that the nodes' counters do not hold. */
  readonly elsewhere = $derived(
    this.times.isMostlyUserCode
      ? `${formatDuration(this.times.userCodeMs)} in user code`
      : `${formatDuration(this.times.uncountedMs)} in no counter`,
  );
  /** What the shares of nodes are of. */
  readonly nodesTime = $derived(
    this.moment.callsNs > 0 ? "counted time" : this.isUncounted ? "time" : this.times.nodesTime,
  );

  /** Where most of the time is in no node, shares are of that, too: what nodes counted is no hot part of the run. */
  #ofTime(moment: Moment): Moment {
    const { callsNs, nodes, busyNs, elapsedMs } = moment;
    const busyMs = Number(busyNs) / 1e6;
    if (!this.isUncounted || callsNs > 0 || busyMs === 0) return moment;
    const part = busyMs / Math.max(busyMs, elapsedMs);
    const scaled = [...nodes].map(([id, node]) => [id, { ...node, share: node.share && node.share * part }] as const);
    return { ...moment, nodes: new Map(scaled) };
  }

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

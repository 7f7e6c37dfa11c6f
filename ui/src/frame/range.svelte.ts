// The range that the address says, for every page.

import { address } from "../route/address.svelte";
import {
  between,
  coveredBy,
  endsMs,
  lengthText,
  parametersOf,
  PARAMETERS,
  rangeOf,
  rangeText,
  startedIn,
  type Covered,
  type Range,
} from "../model/range";
import type { UnixNs } from "../units";
import { timeText } from "./time-text";

class ShownRange {
  // One text as long as the range is the same: what depends on it is not asked for again.
  readonly key = $derived(JSON.stringify(PARAMETERS.map((name) => address.get(name) ?? null)));
  readonly now = $derived.by((): Range => {
    const values = JSON.parse(this.key) as (string | null)[];
    return rangeOf((name) => values[PARAMETERS.indexOf(name as (typeof PARAMETERS)[number])] ?? undefined);
  });

  /** Behind a verb: "in 14 days". */
  get text(): string {
    return rangeText(this.now, timeText);
  }
  /** "14 days". */
  get length(): string {
    return lengthText(this.now, Date.now());
  }
  /** As an overview takes it, by the time now. */
  covered(): Covered {
    return coveredBy(this.now, Date.now());
  }
  /** As a list of runs takes it, by the time now. */
  started(): { since: UnixNs; until: UnixNs | undefined } {
    return startedIn(this.now, Date.now());
  }
  /** Both ends by the time now, in milliseconds since 1970. */
  ends(): [sinceMs: number, untilMs: number] {
    return endsMs(this.now, Date.now());
  }

  /** Goes to this page at another range. */
  set(range: Range): void {
    address.set(parametersOf(range));
  }
  /** From one moment to another, in milliseconds since 1970. */
  zoom(sinceMs: number, untilMs: number): void {
    this.set(between(sinceMs, untilMs, Date.now()));
  }
}

export const range = new ShownRange();

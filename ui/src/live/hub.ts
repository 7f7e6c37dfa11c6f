// What `/api/live` has told so far: the running queries and how far they are.

import { parseExact } from "../api/json";
import type { Pulse, QuerySummary, Schemas } from "../api/client";
import type { Message, StreamState } from "./follow";

const SAMPLES = 120;
/** Transitions of issues that are kept for those who want to be told. */
const ISSUES = 20;

export interface Running {
  query: QuerySummary;
  pulse: Pulse | undefined;
}

/** An issue as it was told, and the how manieth that was. */
export interface ToldIssue {
  at: number;
  issue: Schemas["Issue"];
}

export interface LiveState {
  stream: StreamState;
  /** When the service was last known to be there, in milliseconds since 1970. */
  heardMs: number | undefined;
  /** The running queries, that started last first; undefined before the first snapshot. */
  running: Running[] | undefined;
  /** Grows when a query starts, ends or changes, and when such news may have been missed. */
  changes: number;
  /** The last issues that made a transition, the last last. */
  issues: readonly ToldIssue[];
}

export class Hub {
  #stream: StreamState = { is: "connecting" };
  #heardMs: number | undefined;
  #running: Map<string, Running> | undefined;
  #changes = 0;
  #issues: readonly ToldIssue[] = [];
  #told = 0;

  state(): LiveState {
    const running = this.#running && [...this.#running.values()].sort(lastStartedFirst);
    const [stream, heardMs] = [this.#stream, this.#heardMs];
    return { stream, heardMs, running, changes: this.#changes, issues: this.#issues };
  }

  onState(stream: StreamState, nowMs: number): void {
    if (stream.is === "open" || this.#stream.is === "open") this.#heardMs = nowMs;
    this.#stream = stream;
  }

  onMessage({ event, data }: Message, nowMs: number): void {
    this.#heardMs = nowMs;
    const body = parseExact(data);
    switch (event) {
      case "snapshot":
        this.#replace(body as Schemas["LiveSnapshot"]);
        break;
      case "query":
        this.#query(body as QuerySummary);
        break;
      case "pulse":
        this.#pulse(body as Pulse);
        return;
      case "issue":
        this.#told += 1;
        this.#issues = [...this.#issues, { at: this.#told, issue: body as Schemas["Issue"] }].slice(-ISSUES);
        break;
    }
    this.#changes += 1;
  }

  #replace({ running, pulses }: Schemas["LiveSnapshot"]): void {
    const byId = new Map(pulses.map((pulse) => [pulse.query_id, pulse]));
    this.#running = new Map(running.map((query) => [query.query_id, { query, pulse: byId.get(query.query_id) }]));
  }

  #query(query: QuerySummary): void {
    if (query.status === "running")
      this.#running?.set(query.query_id, { query, pulse: this.#running.get(query.query_id)?.pulse });
    else this.#running?.delete(query.query_id);
  }

  /** A pulse holds the new samples alone. */
  #pulse(pulse: Pulse): void {
    const known = this.#running?.get(pulse.query_id);
    if (known === undefined) return;
    const threads = [...(known.pulse?.threads ?? []), ...pulse.threads].slice(-SAMPLES);
    this.#running?.set(pulse.query_id, { ...known, pulse: { ...pulse, threads } });
  }
}

function lastStartedFirst(a: Running, b: Running): number {
  const [first, second] = [a.query.started_unix_ns, b.query.started_unix_ns];
  if (first === second) return a.query.query_id < b.query.query_id ? 1 : -1;
  return first < second ? 1 : -1;
}

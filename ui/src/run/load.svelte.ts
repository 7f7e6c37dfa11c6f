// Brings a run of the service into a view, and keeps it up to date while it runs.

import { ApiError, type QuerySummary, get } from "../api/client";
import { parseExact } from "../api/json";
import { follow } from "../live/follow";
import { Recording, Run } from "../model/run/run";
import type { Choices } from "./view/choices";
import type { FromService } from "./view/data.svelte";
import { RunView } from "./view/view.svelte";

const PAINT_MS = 250;

export class LoadedRun {
  view = $state.raw<RunView | null>(null);
  /** As it was when it was loaded, before there is a view. */
  summary = $state.raw<QuerySummary | null>(null);
  error = $state.raw<ApiError | null>(null);
  /** Since when the stream of a running query is lost, in milliseconds since 1970. */
  lostMs = $state<number | null>(null);
  problems = $state.raw<Recording["problems"]>([]);
  #recording = new Recording();
  /** What arrives goes here; it is shown once there is something to show. */
  #next: RunView | null = null;
  #painting: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly id: string,
    readonly choices: Choices,
    readonly fromService: FromService,
  ) {}

  /** Loads, and follows while it runs, until `signal` aborts. */
  async load(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", () => {
      clearTimeout(this.#painting);
      this.view?.replay.leave();
    });
    try {
      const summary = await get("/api/queries/{id}", { path: { id: this.id }, signal });
      this.error = null;
      this.summary = summary;
      await this.#follow(summary, signal);
    } catch (error) {
      if (!signal.aborted) this.error = error instanceof ApiError ? error : new ApiError(0, String(error));
    }
  }

  /** The stream serves ended queries, too, and goes on where one still runs. */
  async #follow(summary: QuerySummary, signal: AbortSignal): Promise<void> {
    this.#replace(summary);
    const ended = new AbortController();
    await follow(
      `/api/live/${encodeURIComponent(this.id)}`,
      {
        onMessage: ({ event, data }) => {
          if (event === "events") this.#events(data, summary);
          else if (event === "finished") {
            this.#ended(parseExact(data) as QuerySummary);
            ended.abort();
          }
        },
        onState: (state) => {
          this.lostMs = state.is === "lost" ? (this.lostMs ?? Date.now()) : null;
          if (state.is !== "ended" || state.status < 400) return;
          const reason = state.status === 410 ? "its recording is missing" : "its events cannot be read";
          this.error = new ApiError(state.status, reason);
        },
      },
      AbortSignal.any([signal, ended.signal]),
    );
  }

  #events(data: string, summary: QuerySummary): void {
    // A message that begins with the process replaces everything before it (docs/reference/live.md).
    if (this.#recording.lines.length > 0 && startsWithProcess(data)) this.#replace(this.#next?.data.summary ?? summary);
    for (const line of data.split("\n")) this.#recording.addLine(line);
    this.#painting ??= setTimeout(() => this.#show(), PAINT_MS);
  }

  #ended(summary: QuerySummary): void {
    this.error = null;
    this.lostMs = null;
    if (this.#next) this.#next.data.summary = summary;
    this.#show();
  }

  #replace(summary: QuerySummary): void {
    this.#recording = new Recording();
    const run = new Run(this.id);
    this.#recording.runs.set(this.id, run);
    this.#next = new RunView(run, this.choices, this.#recording.lines, this.fromService);
    this.#next.data.summary = summary;
  }

  #show(): void {
    clearTimeout(this.#painting);
    this.#painting = undefined;
    this.problems = [...this.#recording.problems];
    this.#next?.data.update();
    if (this.view === this.#next) return;
    this.view?.replay.leave();
    this.view = this.#next;
  }
}

function startsWithProcess(data: string): boolean {
  const [first = ""] = data.split("\n", 1);
  try {
    return (JSON.parse(first) as { type?: unknown }).type === "process";
  } catch {
    return false;
  }
}

// The running queries, for every page. `live` is reactive.

import { toLogin } from "../api/login";
import type { LiveState } from "./hub";
import { startHub } from "./shared";

const STALE_AFTER_MS = 3000;

class Live {
  #state = $state.raw<LiveState>({
    stream: { is: "connecting" },
    heardMs: undefined,
    running: undefined,
    changes: 0,
    issues: [],
  });
  #lostMs = $state<number>();
  #port: MessagePort | undefined;

  get running(): LiveState["running"] {
    return this.#state.running;
  }
  get changes(): number {
    return this.#state.changes;
  }
  get issues(): LiveState["issues"] {
    return this.#state.issues;
  }
  get stream(): LiveState["stream"] {
    return this.#state.stream;
  }
  /** Since when the service is not heard, in milliseconds since 1970; undefined while it is. */
  get lostMs(): number | undefined {
    return this.#lostMs;
  }

  /** Whether what is shown may be out of date: lost for longer than a reconnect takes. */
  isStale(nowMs: number): boolean {
    return this.#lostMs !== undefined && nowMs - this.#lostMs > STALE_AFTER_MS;
  }

  /** Starts to follow, in a worker that all tabs share where the browser has one. */
  start(): void {
    // A worker may not start where it is forbidden; then this tab follows by itself.
    if (typeof SharedWorker === "undefined") return void startHub((state) => this.#set(state));
    const { port } = new SharedWorker(new URL("./worker.ts", import.meta.url), {
      type: "module",
      name: "queryscope live",
    });
    this.#port = port;
    port.onmessage = ({ data }: MessageEvent<LiveState>) => this.#set(data);
    addEventListener("pagehide", () => port.postMessage("gone"));
    addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
  }

  /** Follows anew, in all tabs, as whoever is logged in now. */
  restart(): void {
    this.#port?.postMessage("restart");
  }

  #set(state: LiveState): void {
    if (state.stream.is === "ended" && state.stream.status === 401) toLogin();
    this.#state = state;
    this.#lostMs = state.stream.is === "open" ? undefined : (this.#lostMs ?? state.heardMs ?? Date.now());
  }
}

export const live = new Live();

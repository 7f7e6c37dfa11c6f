// An answer a page needs: asked for when what it depends on changes, and again when asked to.

import { ApiError } from "./client";

/** A service that is away is asked again after so long. */
export const ASK_AGAIN_MS = 5000;
/** An answer that takes longer is not waited for where it is asked for again. */
const PATIENCE_MS = 30_000;

export class Resource<T> {
  /** The last answer; kept while the next is on its way. */
  data = $state.raw<T>();
  error = $state.raw<ApiError>();
  isLoading = $state(true);
  #asked = $state(0);
  /** Since when an answer is on its way, in milliseconds. */
  #sinceMs: number | undefined;
  #isWantedAgain = false;

  /** `ask` runs in an effect: what it reads before its first `await` decides when it runs again. */
  constructor(ask: (signal: AbortSignal) => Promise<T>, key?: () => unknown) {
    let shownKey: unknown;
    $effect(() => {
      void this.#asked;
      const nextKey = key?.();
      // Another subject: the old answer must not stand under the new title.
      if (key && nextKey !== shownKey) this.data = undefined;
      shownKey = nextKey;
      const controller = new AbortController();
      let later: ReturnType<typeof setTimeout> | undefined;
      this.isLoading = true;
      [this.#sinceMs, this.#isWantedAgain] = [performance.now(), false];
      const settle = (): void => {
        this.isLoading = false;
        this.#sinceMs = undefined;
        if (this.#isWantedAgain) this.again();
      };
      ask(controller.signal).then(
        (data) => {
          if (controller.signal.aborted) return;
          Object.assign(this, { data, error: undefined });
          settle();
        },
        (error: unknown) => {
          if (controller.signal.aborted) return;
          this.error = error instanceof ApiError ? error : new ApiError(0, String(error));
          if (this.error.isAway) later = setTimeout(() => this.again(), ASK_AGAIN_MS);
          settle();
        },
      );
      return () => {
        clearTimeout(later);
        controller.abort();
      };
    });
  }

  /** Asks again, after the answer that is on its way: asked more often than it answers, none would ever be shown. */
  again(): void {
    if (this.#sinceMs !== undefined && performance.now() - this.#sinceMs < PATIENCE_MS) this.#isWantedAgain = true;
    else this.#asked += 1;
  }
}

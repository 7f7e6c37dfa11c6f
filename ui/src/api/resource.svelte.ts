// An answer a page needs: asked for when what it depends on changes, and again when asked to.

import { ApiError } from "./client";

/** A service that is away is asked again after so long. */
export const ASK_AGAIN_MS = 5000;

export class Resource<T> {
  /** The last answer; kept while the next is on its way. */
  data = $state.raw<T>();
  error = $state.raw<ApiError>();
  isLoading = $state(true);
  #asked = $state(0);

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
      ask(controller.signal).then(
        (data) => {
          if (!controller.signal.aborted) Object.assign(this, { data, error: undefined, isLoading: false });
        },
        (error: unknown) => {
          if (controller.signal.aborted) return;
          this.error = error instanceof ApiError ? error : new ApiError(0, String(error));
          this.isLoading = false;
          if (this.error.isAway) later = setTimeout(() => this.again(), ASK_AGAIN_MS);
        },
      );
      return () => {
        clearTimeout(later);
        controller.abort();
      };
    });
  }

  again(): void {
    this.#asked += 1;
  }
}

import { ApiError } from "./client";

/** A list that is read page by page; a newer request ends the one before. */
export class Paging {
  error = $state.raw<ApiError>();
  isLoading = $state(true);
  /** Whether there are rows behind those read, and they may still be read. */
  hasMore = $state(false);
  #asking = new AbortController();

  stop(): void {
    this.#asking.abort();
  }

  protected async ask<Answer>(
    read: (signal: AbortSignal) => Promise<Answer>,
    take: (answer: Answer) => void,
  ): Promise<void> {
    this.stop();
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    this.isLoading = true;
    try {
      take(await read(signal));
      this.error = undefined;
    } catch (error) {
      if (signal.aborted) return;
      this.error = error instanceof ApiError ? error : new ApiError(0, String(error));
    }
    this.isLoading = false;
  }
}

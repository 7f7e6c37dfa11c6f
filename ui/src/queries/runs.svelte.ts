// The list of runs, page after page behind a cursor: no row is skipped or shown twice while new ones arrive.

import { ApiError, getPage, type QuerySummary } from "../api/client";
import { asked, type Filters } from "./filters";
import { mergeNewest } from "./merge";

const FIRST_PAGE = 200;
const PAGE = 1000;

export class Runs {
  rows = $state.raw<readonly QuerySummary[]>([]);
  error = $state.raw<ApiError>();
  isLoading = $state(true);
  /** Whether there are rows behind those loaded. */
  hasMore = $state(false);

  #filters: Filters = {};
  #order: "newest" | "oldest" = "newest";
  #cursor: string | undefined;
  #asking = new AbortController();

  /** Starts over. */
  async load(filters: Filters, order: "newest" | "oldest"): Promise<void> {
    [this.#filters, this.#order, this.#cursor] = [filters, order, undefined];
    await this.#ask(FIRST_PAGE, undefined, (page) => page, true);
  }

  /** Loads the next page, unless one is on its way. */
  async more(): Promise<void> {
    if (this.isLoading || this.#cursor === undefined) return;
    await this.#ask(PAGE, this.#cursor, (page) => [...this.rows, ...page], true);
  }

  /** Brings in what is new, unless a page is on its way. */
  async news(): Promise<void> {
    if (this.isLoading || this.#order === "oldest") return;
    const isFirst = this.rows.length === 0;
    await this.#ask(FIRST_PAGE, undefined, (page) => mergeNewest(this.rows, page), isFirst);
  }

  stop(): void {
    this.#asking.abort();
  }

  async #ask(limit: number, cursor: string | undefined, join: (page: QuerySummary[]) => readonly QuerySummary[], moves: boolean): Promise<void> {
    this.#asking.abort();
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    this.isLoading = true;
    try {
      const query = { ...asked(this.#filters), q: this.#filters.q, order: this.#order, limit, cursor };
      const { body, next } = await getPage("/api/queries", { query, signal });
      const rows = join(body);
      // Rows that replaced all others end where the page ends.
      if (moves || rows === body) [this.#cursor, this.hasMore] = [next, next !== undefined];
      this.rows = rows;
      this.error = undefined;
      this.isLoading = false;
    } catch (error) {
      if (signal.aborted) return;
      this.error = error instanceof ApiError ? error : new ApiError(0, String(error));
      this.isLoading = false;
    }
  }
}

// The list of runs, page after page behind a cursor: no row is skipped or shown twice while new ones arrive.

import { getPage, type QuerySummary } from "../api/client";
import { Paging } from "../api/paging.svelte";
import type { Sort } from "./columns.svelte";
import { asked, type Filters } from "./filters";
import { mergeNewest } from "./merge";
import type { UnixNs } from "../units";

const FIRST_PAGE = 200;
const PAGE = 1000;

export class Runs extends Paging {
  rows = $state.raw<readonly QuerySummary[]>([]);

  #filters: Filters = {};
  #sort: Sort = "started";
  #order: "newest" | "oldest" = "newest";
  #cursor: string | undefined;
  /** When the newest run started that there was as the list was read, in Unix nanoseconds. */
  #newest: UnixNs | undefined;
  #reading = 0;

  /** Starts over. */
  async load(filters: Filters, sort: Sort, order: "newest" | "oldest"): Promise<void> {
    [this.#filters, this.#sort, this.#order, this.#cursor] = [filters, sort, order, undefined];
    this.#newest = undefined;
    this.#reading += 1;
    await Promise.all([this.#read(FIRST_PAGE, undefined, (page) => page, true), this.hasNewer()]);
  }

  /** Whether a run that belongs into the list started after it was read. Behind the oldest ones none is new. */
  async hasNewer(): Promise<boolean> {
    if (this.#sort === "started" && this.#order === "oldest") return false;
    const reading = this.#reading;
    const query = { ...asked(this.#filters), filter: this.#filters.q, limit: 1 };
    // What is wrong with the service or the filter, the list itself says.
    const page = await getPage("/api/queries", { query }).catch(() => undefined);
    if (page === undefined || reading !== this.#reading) return false;
    const [run] = page.body;
    const started = run?.started_unix_ns ?? 0n;
    this.#newest ??= started;
    return started > this.#newest && !this.rows.some(({ query_id }) => query_id === run?.query_id);
  }

  /** Loads the next page, unless one is on its way. */
  async more(): Promise<void> {
    if (this.isLoading || this.#cursor === undefined) return;
    await this.#read(PAGE, this.#cursor, (page) => [...this.rows, ...page], true);
  }

  /** Brings in what is new, unless a page is on its way. */
  async news(): Promise<void> {
    if (this.isLoading || this.#order === "oldest" || this.#sort !== "started") return;
    const isFirst = this.rows.length === 0;
    await this.#read(FIRST_PAGE, undefined, (page) => mergeNewest(this.rows, page), isFirst);
  }

  #read(
    limit: number,
    cursor: string | undefined,
    join: (page: QuerySummary[]) => readonly QuerySummary[],
    moves: boolean,
  ): Promise<void> {
    const query = {
      ...asked(this.#filters),
      filter: this.#filters.q,
      sort: this.#sort,
      order: this.#order,
      limit,
      cursor,
    };
    return this.ask(
      (signal) => getPage("/api/queries", { query, signal }),
      ({ body, next }) => {
        const rows = join(body);
        // Rows that replaced all others end where the page ends.
        if (moves || rows === body) [this.#cursor, this.hasMore] = [next, next !== undefined];
        this.rows = rows;
      },
    );
  }
}

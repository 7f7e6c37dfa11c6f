// The list of queries, page behind page: a service may have a hundred thousand, and the overview of them all is many
// megabytes. Pages are asked for as the list is scrolled, or all of them where a search or another order needs all.

import { getPage, type LabelOverview, type Overview, type Query } from "../api/client";
import { Paging } from "../api/paging.svelte";
import { queryKey } from "../route/route";

const PAGE = 500;
/** More are not read: a person searches, or sets a filter. */
const MOST = 5000;

export type Asked = Pick<
  Query<"/api/overview">,
  "service" | "environment" | "host" | "label" | "days" | "since" | "until" | "utc_offset" | "order"
>;

export class QueryList extends Paging {
  /** The last page that arrived, for its range and its totals. */
  overview = $state.raw<Overview>();
  rows = $state.raw<readonly LabelOverview[]>([]);

  #asked: Partial<Asked> = {};
  #cursor: string | undefined;

  /** Whether some are left out for good. */
  get isCut(): boolean {
    return !this.hasMore && this.overview !== undefined && this.overview.totals.labels > this.rows.length;
  }

  /** Starts over. What is shown stays until the first page is there. */
  async load(asked: Partial<Asked>): Promise<void> {
    this.#asked = asked;
    await this.#read(undefined, (page) => page);
  }

  /** Reads the next page, unless one is on its way. */
  async more(): Promise<void> {
    if (this.isLoading || !this.hasMore) return;
    await this.#read(this.#cursor, (page) => merged(this.rows, page));
  }

  /** Reads the first page again, unless one is on its way. Behind it, the rows stay as they were read. */
  async news(): Promise<void> {
    if (this.isLoading) return;
    const before = this.overview;
    await this.#read(undefined, (page, overview) =>
      before !== undefined && isSameRange(before, overview) ? merged(page, this.rows) : page,
    );
  }

  #read(
    cursor: string | undefined,
    join: (page: readonly LabelOverview[], overview: Overview) => readonly LabelOverview[],
  ): Promise<void> {
    const query = { ...this.#asked, split: "service" as const, limit: PAGE, cursor };
    return this.ask(
      (signal) => getPage("/api/overview", { query, signal }),
      ({ body, next }) => {
        const rows = join(body.queries, body);
        // A first page that joined those behind it leaves the end of the list where it was.
        if (cursor !== undefined || rows === body.queries) this.#cursor = next;
        this.hasMore = this.#cursor !== undefined && rows.length < MOST;
        this.rows = rows;
        this.overview = body;
      },
    );
  }
}

/** The days of a row stand for those of its overview: a day later they are others. */
function isSameRange(a: Overview, b: Overview): boolean {
  return a.days.length === b.days.length && a.days[0] === b.days[0];
}

/** All rows of the first, and those of the second that it does not have. */
export function merged(first: readonly LabelOverview[], second: readonly LabelOverview[]): readonly LabelOverview[] {
  const known = new Set(first.map(queryKey));
  const others = second.filter((row) => !known.has(queryKey(row)));
  return others.length === 0 ? first : [...first, ...others];
}

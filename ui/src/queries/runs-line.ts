// The first line of the list of runs: how many are in it, in which range.

import type { Facets } from "../api/client";
import { failureWords } from "../model/cancelled";
import { nameInText } from "../model/names";
import { plural } from "../units";
import { active, asked, type Count, type Filters } from "./filters";
import { isRounded } from "./words";

export interface ListedRuns {
  filters: Filters;
  /** The runs that the filters leave, by status; the status itself filters none of them. */
  counts: Facets["status"];
  /** Those of the failed ones that were cancelled. */
  cancelled: number;
  /** How many runs match a search, where they are counted. */
  found: Count | undefined;
  /** Runs that were read, for a search, and whether there are more. */
  read: number;
  hasMore: boolean;
}

/** What stands before the number of runs that match a search and are not all read: "" where it is exact. */
export function aboutWords(found: Count | undefined, search: string | undefined): string {
  if (found === undefined) return "More than ";
  if (found.isLeast) return "At least ";
  return isRounded(search) ? "About " : "";
}

/** `during`: the range, behind a verb. */
export function runsLine({ filters, counts, cancelled, found, read, hasMore }: ListedRuns, during: string): string {
  const { status } = asked(filters);
  const of = (wanted: string): number => counts.find(({ value }) => value === wanted)?.runs ?? 0;
  const all = counts.reduce((sum, { runs }) => sum + runs, 0);
  const isSearch = filters.q !== undefined;
  const isCut = isSearch && hasMore;
  const runs = isCut ? (found?.of ?? read) : isSearch ? read : status === undefined ? all : of(status);
  const others = active(filters).filter((name) => name !== "q");
  const matches = [isSearch ? `"${nameInText(filters.q ?? "")}"` : "", others.length > 0 ? "the filters" : ""]
    .filter((text) => text !== "")
    .join(" and ");
  const about = isCut ? aboutWords(found, filters.q) : "";
  const subject = `${about}${plural(runs, "run")} ${during}`;
  if (matches === "" && runs === 0) return `No run started ${during}`;
  const line = matches !== "" ? `${subject} ${runs === 1 ? "matches" : "match"} ${matches}` : subject;
  if (isSearch || status !== undefined) return line;
  const running = of("running");
  const ends = failureWords({ failed: of("failed"), cancelled, unfinished: of("unfinished") });
  const parts = [line, ends, running > 0 ? `${running} running` : ""];
  return parts.filter((part) => part !== "").join(", ");
}

// Services, environments and hosts: what ran where.

import type { Schemas } from "../api/client";
import { nameInText, shownName } from "../model/names";
import { formatCount, plural } from "../units";

export const FIELDS = ["service", "environment", "host"] as const;
export type Field = (typeof FIELDS)[number];

export type Place = Schemas["Place"];
export type Places = Readonly<Record<Field, readonly Place[]>>;

export const PLACE_SORTS = ["time", "name", "runs", "running", "failed"] as const;
export type PlaceSort = (typeof PLACE_SORTS)[number];

/** In order: numbers the largest first, names from A; the place without a name last. */
export function sortedPlaces(places: readonly Place[], sort: PlaceSort): Place[] {
  if (sort === "name") {
    return places.toSorted((a, b) => (a.value ?? "\uffff").localeCompare(b.value ?? "\uffff"));
  }
  const figure = { time: "total_wall_ms", runs: "runs", running: "running", failed: "failed" } as const;
  return places.toSorted((a, b) => b[figure[sort]] - a[figure[sort]]);
}

/** Those whose name has the text in it. */
export function matching(places: Places, find: string): Places {
  const text = find.toLowerCase();
  const of = (field: Field): Place[] => places[field].filter(({ value }) => nameOf(value).toLowerCase().includes(text));
  return { service: of("service"), environment: of("environment"), host: of("host") };
}

/** A place to show. */
export function nameOf(value: string | null | undefined): string {
  return value == null ? "none" : shownName(value);
}

/** "4 services, 2 environments and 8 hosts; 4.05 k runs in 14 days", or how many of them match a search. */
export function firstLine(all: Places, shown: Places, find: string, during: string): string {
  const count = (places: Places): number => FIELDS.reduce((sum, field) => sum + places[field].length, 0);
  const runs = all.host.reduce((sum, { runs }) => sum + runs, 0);
  if (runs === 0) return `Nothing ran ${during}`;
  if (find !== "") {
    const found = count(shown);
    const verb = found === 1 ? "matches" : "match";
    return `${formatCount(found)} of ${count(all)} services, environments and hosts ${verb} "${nameInText(find)}"`;
  }
  // Runs without a service belong to none.
  const named = (field: Field): number => all[field].filter(({ value }) => value != null).length;
  const places = `${plural(named("service"), "service")}, ${plural(named("environment"), "environment")}`;
  return `${places} and ${plural(named("host"), "host")}; ${plural(runs, "run")} ${during}`;
}

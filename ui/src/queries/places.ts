// Services, environments and hosts: what ran where.

import type { Facets, LabelOverview } from "../api/client";
import { nameInText, shownName } from "../model/names";
import { formatCount, plural } from "../units";

export const FIELDS = ["service", "environment", "host"] as const;
export type Field = (typeof FIELDS)[number];

export interface Place {
  value: string | null;
  runs: number;
  running: number;
  failed: number;
}

export type Places = Readonly<Record<Field, readonly Place[]>>;

/** Joins the counts of every run with those that failed and those that run. */
export function placesOf(every: Facets, failed: Facets, running: Facets): Places {
  const of = (field: Field): Place[] => {
    const runs = (facets: Facets, value: string | null): number =>
      facets[field].find((other) => (other.value ?? null) === value)?.runs ?? 0;
    return every[field].map((one) => {
      const value = one.value ?? null;
      return { value, runs: one.runs, running: runs(running, value), failed: runs(failed, value) };
    });
  };
  return { service: of("service"), environment: of("environment"), host: of("host") };
}

/** Those whose name has the text in it. */
export function matching(places: Places, find: string): Places {
  const text = find.toLowerCase();
  const of = (field: Field): Place[] => places[field].filter(({ value }) => nameOf(value).toLowerCase().includes(text));
  return { service: of("service"), environment: of("environment"), host: of("host") };
}

/** A place to show. */
export function nameOf(value: string | null): string {
  return value === null ? "none" : shownName(value);
}

/** Wall time by service, of the queries of an overview that is split by service. */
export function timeByService(queries: readonly LabelOverview[]): Map<string | null, number> {
  const times = new Map<string | null, number>();
  for (const { service, total_wall_ms } of queries) {
    times.set(service ?? null, (times.get(service ?? null) ?? 0) + total_wall_ms);
  }
  return times;
}

/** "4 services, 2 environments and 8 hosts; 4.05 k runs in 14 days", or how many of them match a search. */
export function firstLine(all: Places, shown: Places, find: string, days: number): string {
  const count = (places: Places): number => FIELDS.reduce((sum, field) => sum + places[field].length, 0);
  const runs = all.host.reduce((sum, { runs }) => sum + runs, 0);
  const range = plural(days, "day");
  if (runs === 0) return `Nothing ran in ${range}`;
  if (find !== "") {
    const found = count(shown);
    const verb = found === 1 ? "matches" : "match";
    return `${formatCount(found)} of ${count(all)} services, environments and hosts ${verb} "${nameInText(find)}"`;
  }
  // Runs without a service belong to none.
  const named = (field: Field): number => all[field].filter(({ value }) => value !== null).length;
  const places = `${plural(named("service"), "service")}, ${plural(named("environment"), "environment")}`;
  return `${places} and ${plural(named("host"), "host")}; ${plural(runs, "run")} in ${range}`;
}

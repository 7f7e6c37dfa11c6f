// Services, environments and hosts: what ran where.

import type { Schemas } from "../api/client";
import { nameInText, shownName } from "../model/names";
import { onlyFailed } from "../model/cancelled";
import { isWorse, type Change } from "../model/change";
import { formatCount, formatShare, plural, UNKNOWN } from "../units";

const HOUR_MS = 3_600_000;

/** Fields that the runs of a place are found by. */
export const FIELDS = ["service", "environment", "host"] as const;
type Field = (typeof FIELDS)[number];
/** What places are listed by: an owner owns labels. */
export type PlaceKind = Field | "owner";

export type Place = Schemas["Place"];
export type Places = Readonly<Record<PlaceKind, readonly Place[]>>;

export const PLACE_SORTS = ["time", "name", "runs", "running", "failed", "rate", "cpu", "read"] as const;
export type PlaceSort = (typeof PLACE_SORTS)[number];

/** In order: numbers the largest first, names from A, or the other way; the place without a name is that after Z. */
export function sortedPlaces(places: readonly Place[], sort: PlaceSort, isTurned = false): Place[] {
  const way = isTurned ? -1 : 1;
  if (sort === "name") {
    return places.toSorted((a, b) => way * (a.value ?? "\uffff").localeCompare(b.value ?? "\uffff"));
  }
  const figures = {
    time: "total_wall_ms",
    runs: "runs",
    running: "running",
    cpu: "total_cpu_ms",
    read: "total_bytes_read",
  } as const;
  const figure = (place: Place): number => {
    if (sort === "failed") return onlyFailed(place);
    return sort === "rate" ? onlyFailed(place) / place.runs : (place[figures[sort]] ?? -1);
  };
  return places.toSorted((a, b) => way * (figure(b) - figure(a)));
}

/** Those whose name has the text in it. */
export function matching(places: Places, find: string): Places {
  const text = find.toLowerCase();
  const of = (kind: PlaceKind): Place[] =>
    places[kind].filter(({ value }) => nameOf(kind, value).toLowerCase().includes(text));
  return { service: of("service"), environment: of("environment"), host: of("host"), owner: of("owner") };
}

/** How many of the runs that ended sent their CPU time: "80 %"; nothing where all did, or none ended. */
export function cpuShare({ runs, running, unfinished, cpu_runs }: Place): string {
  const ended = runs - running - unfinished;
  return cpu_runs < ended ? formatShare(cpu_runs / ended) : "";
}

/** What the CPU time that is known costs: 0, <0.01, 12.34, 1.25 k. */
export function formatCost({ total_cpu_ms }: Place, perCoreHour: number): string {
  if (total_cpu_ms == null) return UNKNOWN;
  const cost = (total_cpu_ms / HOUR_MS) * perCoreHour;
  if (cost > 0 && cost < 0.01) return "<0.01";
  return cost > 0 && cost < 999.5 ? cost.toFixed(2) : formatCount(cost);
}

/** A place to show. */
export function nameOf(kind: PlaceKind, value: string | null | undefined): string {
  return value == null ? `no ${kind}` : shownName(value);
}

/** How many queries got worse there; of a host, those that did so on it alone. */
export function worseOf(kind: Field, value: string | null, changes: readonly Change[]): number {
  return changes.filter((change) => isWorse(change) && (change[kind] ?? null) === value).length;
}

/** Where so many times the wall time of before is reached, hardly anything ran then, or it is kept no longer. */
const GROWTH_MAX = 20;

/** Wall time as a multiple of that before, in a range of the same length; undefined where hardly anything ran then. */
export function againstBefore({ value = null, total_wall_ms }: Place, before: readonly Place[]): number | undefined {
  const then = before.find((place) => (place.value ?? null) === value)?.total_wall_ms ?? 0;
  return total_wall_ms < GROWTH_MAX * then ? total_wall_ms / then : undefined;
}

/** Whether all runs that ended sent the bytes they read. */
export function isAllRead({ runs, running, unfinished, bytes_read_runs }: Place): boolean {
  return bytes_read_runs >= runs - running - unfinished;
}

/** "polars 2.1.0": a version with the engines that were seen with it. */
export function versionName(version: string, engines: readonly (string | null)[] = []): string {
  // Two engines may have one number. An engine without a name adds nothing to a version that stands alone.
  if (engines.every((engine) => engine === null)) return version;
  return `${engines.map((engine) => (engine === null ? "another" : shownName(engine))).join(" or ")} ${version}`;
}

/**
 * "4 services, 2 environments and 8 hosts; 4.05 k runs in 14 days, 58 % of their time in orders-etl", or how many of
 * them match a search.
 */
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
  const places = FIELDS.filter((field) => named(field) > 0).map((field) => plural(named(field), field));
  const [first, second] = sortedPlaces(all.service, "time");
  const total = all.service.reduce((sum, { total_wall_ms }) => sum + total_wall_ms, 0);
  const most =
    first?.value == null || second === undefined || total === 0
      ? ""
      : `, ${formatShare(first.total_wall_ms / total)} of their time in ${nameInText(first.value)}`;
  return `${places.join(", ").replace(/, (?=[^,]*$)/, " and ")}; ${plural(runs, "run")} ${during}${most}`;
}

// Deploys as the service tells them, and where they stand in a chart of time.

import { get, type Facets, type Schemas } from "../api/client";
import type { UnixNs } from "../units";
import { nameInText } from "./names";

export type Deploy = Schemas["Deploy"];

const MOST = 200;
const MOST_NAMES = 2;

/** The service whose deploys a page of a label shows: the chosen one, or the only one; undefined for several. */
export function serviceOf(chosen: string | undefined, services: Facets["service"] | undefined): string | undefined {
  if (chosen !== undefined) return chosen;
  return services?.length === 1 ? (services[0]?.value ?? "") : undefined;
}

interface Place {
  service: string | undefined;
  environment: string | undefined;
}
interface Range {
  since?: UnixNs | undefined;
  until?: UnixNs | undefined;
}

/** The deploys of a service in a range of time, the last one first; none where it is not one service. */
export async function readDeploys(place: Place, range: Range, signal: AbortSignal): Promise<Deploy[]> {
  return place.service === undefined ? [] : await readAllDeploys(place, range, signal);
}

/** The last deploys in a range of time, the last one first; of all services where none is chosen. */
export async function readAllDeploys(place: Place, range: Range, signal: AbortSignal): Promise<Deploy[]> {
  return (await get("/api/deploys", { query: { ...place, ...range, limit: MOST }, signal })).deploys;
}

/** A place in a chart where something was deployed. */
export interface DeployMark {
  x: number;
  key: string;
  /** What was deployed there, the first first. */
  deploys: Deploy[];
  /** "1.4.2", "1.4.2 and polars 2.1.0", "5 deploys"; of several services "etl 1.4.2". */
  text: string;
}

/** Deploys by their place; those nearer than `apart` pixels to one before are one mark. */
export function deployMarks(
  deploys: readonly Deploy[],
  xOf: (time: bigint) => number,
  [left, right]: readonly [number, number],
  apart = 6,
): DeployMark[] {
  const marks: DeployMark[] = [];
  const placed = deploys
    .map((deploy) => ({ deploy, x: xOf(deploy.unix_ns) }))
    .filter(({ x }) => x >= left && x <= right)
    .sort((a, b) => a.x - b.x);
  for (const { deploy, x } of placed) {
    const last = marks.at(-1);
    if (last !== undefined && x - last.x < apart) last.deploys.push(deploy);
    else marks.push({ x, key: deploy.id, deploys: [deploy], text: "" });
  }
  const isOfMany = new Set(deploys.map(({ service }) => service)).size > 1;
  for (const mark of marks) mark.text = namesOf(mark.deploys, isOfMany);
  return marks;
}

/** What was deployed on each day, by the begins of the days; undefined where nothing was. */
export function deploysByDay(deploys: readonly Deploy[], days: readonly UnixNs[]): (string | undefined)[] {
  const isOfMany = new Set(deploys.map(({ service }) => service)).size > 1;
  return days.map((day, at) => {
    const next = days[at + 1];
    const isOfDay = ({ unix_ns }: Deploy): boolean => unix_ns >= day && (next === undefined || unix_ns < next);
    const found = deploys.filter(isOfDay).toReversed();
    return found.length === 0 ? undefined : namesOf(found, isOfMany);
  });
}

/** Names of deploys; of several services each with its own. */
function namesOf(deploys: readonly Deploy[], isOfMany: boolean): string {
  if (deploys.length > MOST_NAMES) return `${deploys.length} deploys`;
  const nameOf = ({ service, version }: Deploy): string => {
    const name = nameInText(version);
    return isOfMany && service != null ? `${nameInText(service)} ${name}` : name;
  };
  return deploys.map(nameOf).join(" and ");
}

// Deploys as the service tells them, and where they stand in a chart of time.

import { readPages, type Facets, type Schemas } from "../api/client";
import type { UnixNs } from "../units";
import { nameInText } from "./names";

export type Deploy = Schemas["Deploy"];

/** Deploys of one answer, and of all that are read; older ones are not shown. */
const PAGE = 1000;
const MOST = 10_000;
const MOST_NAMES = 2;

/** The services whose deploys a page of a label shows: the chosen one, or all that it runs in. */
export function servicesOf(chosen: string | undefined, services: Facets["service"] = []): readonly string[] {
  return chosen === undefined ? services.map(({ value }) => value ?? "") : [chosen];
}

interface Range {
  since?: UnixNs | undefined;
  until?: UnixNs | undefined;
}

/**
 * The deploys of some services in a range of time, the last one first; of all where `services` is undefined, of none
 * where it is empty.
 */
export async function readDeploys(
  services: readonly string[] | undefined,
  environment: string | undefined,
  range: Range,
  signal: AbortSignal,
): Promise<Deploy[]> {
  if (services?.length === 0) return [];
  const all: Deploy[] = [];
  let read = 0;
  const service = services?.length === 1 ? services[0] : undefined;
  await readPages("/api/deploys", { query: { ...range, service, environment, limit: PAGE }, signal }, ({ deploys }) => {
    all.push(...deploys.filter((deploy) => services?.includes(deploy.service ?? "") ?? true));
    return (read += deploys.length) < MOST;
  });
  return all;
}

/** A place in a chart where something was deployed. */
export interface DeployMark {
  x: number;
  key: string;
  /** What was deployed there, the first first. */
  deploys: Deploy[];
  /** "deploy 1.4.2", "deploys 1.4.2 and engine polars 2.1.0", "5 deploys"; of several services "deploy etl 1.4.2". */
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
export function deploysByDay(
  deploys: readonly Deploy[],
  days: readonly UnixNs[],
  dayNs: bigint,
): (string | undefined)[] {
  const isOfMany = new Set(deploys.map(({ service }) => service)).size > 1;
  return days.map((day) => {
    const isOfDay = ({ unix_ns }: Deploy): boolean => unix_ns >= day && unix_ns < day + dayNs;
    const found = deploys.filter(isOfDay).toReversed();
    return found.length === 0 ? undefined : namesOf(found, isOfMany);
  });
}

/** Names of deploys, each once: one may be listed as it was seen and as it was posted. */
function namesOf(deploys: readonly Deploy[], isOfMany: boolean): string {
  const nameOf = ({ service, subject, version }: Deploy): string => {
    const name = `${subject === "engine" ? "engine " : ""}${nameInText(version)}`;
    return isOfMany && service != null ? `${nameInText(service)} ${name}` : name;
  };
  const names = [...new Set(deploys.map(nameOf))];
  if (names.length > MOST_NAMES) return `${names.length} deploys`;
  return `deploy${names.length === 1 ? "" : "s"} ${names.join(" and ")}`;
}

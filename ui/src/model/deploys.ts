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

/** The deploys of a service in a range of time, the last one first; none where it is not one service. */
export async function readDeploys(
  place: { service: string | undefined; environment: string | undefined },
  range: { since?: UnixNs | undefined; until?: UnixNs | undefined },
  signal: AbortSignal,
): Promise<Deploy[]> {
  const { service, environment } = place;
  if (service === undefined) return [];
  return (await get("/api/deploys", { query: { service, environment, ...range, limit: MOST }, signal })).deploys;
}

/** A place in a chart where something was deployed. */
export interface DeployMark {
  x: number;
  key: string;
  /** What was deployed there, the first first. */
  deploys: Deploy[];
  /** "1.4.2", "1.4.2 and polars 2.1.0", "5 deploys". */
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
  for (const mark of marks) mark.text = namesOf(mark.deploys);
  return marks;
}

function namesOf(deploys: readonly Deploy[]): string {
  if (deploys.length > MOST_NAMES) return `${deploys.length} deploys`;
  return deploys.map(({ version }) => nameInText(version)).join(" and ");
}

// Filters in words, such as `wall>10s -status:failed`: the service reads them; here they are completed.

import type { Facets } from "../api/client";

/** Fields of a filter, each with the operator it most often takes. */
export const FIELDS = [
  "wall>",
  "cpu>",
  "rows>",
  "read>",
  "spilled>",
  "memory>",
  "warnings>",
  "status:",
  "label:",
  "error~",
  "finding:",
  "service:",
  "env:",
  "host:",
  "plan:",
  "version:",
  "engine:",
  "engine_version:",
] as const;

/** What values look like where they are not known. */
const EXAMPLES: Record<string, readonly string[]> = {
  wall: ["1s", "10s", "1m", "10m"],
  cpu: ["1s", "10s", "1m", "10m"],
  rows: ["1k", "1M", "100M"],
  read: ["1MB", "1GB", "100GB"],
  spilled: ["0", "1GB"],
  memory: ["1GB", "10GB"],
  warnings: ["0"],
};
const FACETS: Record<string, Exclude<keyof Facets, "cancelled">> = {
  status: "status",
  service: "service",
  env: "environment",
  host: "host",
  version: "program_version",
  engine_version: "engine_version",
};
const MOST = 12;

/** A value as a filter takes it: in quotes where it has to be. */
export function quoted(value: string): string {
  return /^[^\s"*\\]+$/.test(value) ? value : `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** Whole texts that what is written may become: its last condition is completed. */
export function completions(text: string, facets: Facets | undefined): string[] {
  const [, before = "", minus = "", last = ""] = /^(.*?)(-?)(\S*)$/su.exec(text) ?? [];
  if (before !== "" && !/\s$/u.test(before)) return [];
  const [, field, operator = "", value = ""] = /^([a-z_]+)(>=|<=|[:~><=])(.*)$/u.exec(last) ?? [];
  const found =
    field === undefined
      ? FIELDS.filter((one) => one.startsWith(last))
      : values(field, facets)
          .map(quoted)
          .filter((one) => one.toLowerCase().includes(value.toLowerCase()) && one !== value)
          .map((one) => field + operator + one);
  return found.slice(0, MOST).map((one) => before + minus + one);
}

function values(field: string, facets: Facets | undefined): readonly string[] {
  const facet = FACETS[field];
  if (facet === undefined) return EXAMPLES[field] ?? [];
  return facets?.[facet].map(({ value }) => value ?? "") ?? [];
}

export interface Mistake {
  reason: string;
  /** The character it is about, counted from 0. */
  at: number;
}

/** What the service says is wrong with a filter; undefined where the error is another. */
export function mistakeOf(message: string): Mistake | undefined {
  const [, position, reason] = /^filter: at character (\d+): (.*)$/su.exec(message) ?? [];
  return position === undefined || reason === undefined ? undefined : { reason, at: Number(position) - 1 };
}

/** Whether the service counts what matches by rounded figures: all but wall time and warnings. */
export function isRounded(words = ""): boolean {
  return /\b(cpu|rows|read|spilled|memory)[<>=]/.test(words);
}

import { parseExact } from "../../api/json";

/** An integer as it was sent: a double only where that is exact (up to 2^53), else a bigint. */
export type Exact = number | bigint;

export type Json = null | boolean | number | bigint | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

const MARK = "\u0000";

/** Reads JSON without rounding. Throws a `SyntaxError` where it is none. */
export function readJson(text: string): Json {
  return parseExact(text) as Json;
}

/** Writes what {@link readJson} read, every digit kept. */
export function writeExact(value: Json, indent = 0): string {
  const marked = JSON.stringify(
    value,
    (_key, item: Json) => (typeof item === "bigint" ? `${MARK}${item}` : item),
    indent,
  );
  return marked.replace(/"\\u0000(-?\d+)"/g, "$1");
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function asString(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}

/** A number of any kind; what is beyond 2^53 is rounded: for durations and ratios. */
export function asNumber(value: Json | undefined): number | null {
  if (typeof value === "bigint") return Number(value);
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** An integer >= 0, exact. */
export function asCount(value: Json | undefined): Exact | null {
  if (typeof value === "bigint") return value >= 0n ? value : null;
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

export function asList(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

/** The exact sum. */
export function sum(values: Iterable<Exact>): Exact {
  let whole = 0;
  let beyond = 0n;
  for (const value of values) {
    if (typeof value === "bigint") beyond += value;
    else if (Number.isSafeInteger(whole + value)) whole += value;
    else beyond += BigInt(value);
  }
  return beyond === 0n ? whole : narrow(beyond + BigInt(whole));
}

/** `a - b`, not below zero. */
export function growth(a: Exact, b: Exact): Exact {
  if (typeof a === "number" && typeof b === "number") return Math.max(0, a - b);
  const difference = BigInt(a) - BigInt(b);
  return difference <= 0n ? 0 : narrow(difference);
}

function narrow(value: bigint): Exact {
  const double = Number(value);
  return Number.isSafeInteger(double) ? double : value;
}

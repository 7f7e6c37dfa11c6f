import { asCount, asList, asNumber, asString, type Exact, isObject, type Json, type JsonObject, sum } from "./json";
import { COUNTERS } from "./vocabulary";

/** Cumulative counters of one node, as they were sent. What is missing is zero. */
export type Counters = JsonObject;

export interface CustomCounter {
  key: string;
  unit: string;
  value: number | null;
}

/** The counter under the first of its names that is there; null where none is. */
export function counter(counters: Counters, names: readonly string[]): Exact | null {
  for (const name of names) {
    const value = asCount(counters[name]);
    if (value !== null) return value;
  }
  return null;
}

/** Time spent working, over all threads, in nanoseconds; null where the engine does not tell. */
export function busyNs(counters: Counters): Exact | null {
  return counter(counters, COUNTERS.busy_ns);
}

export function rowsOut(counters: Counters): Exact | null {
  return counter(counters, COUNTERS.rows_out);
}

/** Rows taken in; of a node without a counter for it, the rows its inputs gave out. */
export function rowsIn(counters: Counters, inputs: readonly (Counters | undefined)[]): Exact | null {
  const rowsIn = counter(counters, COUNTERS.rows_in);
  if (rowsIn !== null && rowsIn !== 0) return rowsIn;
  const given = inputs.map((input) => (input ? rowsOut(input) : null)).filter((rows) => rows !== null);
  return given.length === 0 ? rowsIn : sum(given);
}

/** Rows a sink wrote. */
export function rowsWritten(counters: Counters): Exact | null {
  return counter(counters, COUNTERS.rows_written);
}

export function ioNs(counters: Counters): Exact | null {
  return counter(counters, COUNTERS.io_ns);
}

export function readBytes(counters: Counters): Exact | null {
  return counter(counters, COUNTERS.bytes_read);
}

export function isDone(counters: Counters): boolean {
  return counters["done"] === true;
}

export function customCounters(counters: Counters): CustomCounter[] {
  return asList(counters["custom"])
    .filter(isObject)
    .flatMap((custom) => {
      const key = asString(custom["key"]);
      return key === null ? [] : [{ key, unit: asString(custom["unit"]) ?? "", value: asNumber(custom["value"]) }];
    });
}

/** Counters by name, in the order sent, without the custom ones. */
export function plainCounters(counters: Counters): [string, Exact][] {
  return Object.entries(counters).flatMap(([name, value]: [string, Json]): [string, Exact][] => {
    const count = asCount(value);
    return count === null ? [] : [[name, count]];
  });
}

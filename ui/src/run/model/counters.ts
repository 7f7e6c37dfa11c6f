import { asCount, asList, asNumber, asString, type Exact, isObject, type Json, type JsonObject, sum } from "./json";

/** Cumulative counters of one node, as they were sent. What is missing is zero. */
export type Counters = JsonObject;

export interface CustomCounter {
  key: string;
  unit: string;
  value: number | null;
}

/** Names of the time a node was busy, in the order the live stream looks for them (docs/live.md). */
const BUSY = ["total_time_ns", "elapsed_compute", "elapsed_compute_ns", "busy_ns"] as const;
const ROWS_OUT = ["rows_sent", "output_rows", "rows_written"] as const;
const ROWS_IN = ["rows_received", "input_rows", "build_input_rows"] as const;
const READ_BYTES = ["io_total_bytes_received", "bytes_scanned"] as const;

function first(counters: Counters, names: readonly string[]): Exact | null {
  for (const name of names) {
    const value = asCount(counters[name]);
    if (value !== null) return value;
  }
  return null;
}

/** Time spent working, over all threads, in nanoseconds; null where the engine does not tell. */
export function busyNs(counters: Counters): Exact | null {
  return first(counters, BUSY);
}

export function rowsOut(counters: Counters): Exact | null {
  return first(counters, ROWS_OUT);
}

/** Rows taken in; of a node without a counter for it, the rows its inputs gave out. */
export function rowsIn(counters: Counters, inputs: readonly (Counters | undefined)[]): Exact | null {
  const own = first(counters, ROWS_IN);
  if (own !== null && own !== 0) return own;
  const given = inputs.map((input) => (input ? rowsOut(input) : null)).filter((rows) => rows !== null);
  return given.length === 0 ? own : sum(given);
}

export function readBytes(counters: Counters): Exact | null {
  return first(counters, READ_BYTES);
}

export function isDone(counters: Counters): boolean {
  return counters["done"] === true;
}

export function customCounters(counters: Counters): CustomCounter[] {
  return asList(counters["custom"]).filter(isObject).flatMap((custom) => {
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

// Runs that show what an issue is about.

import { ApiError, get, type QuerySummary } from "../api/client";
import type { Change } from "../model/change";
import { firstLineOf } from "../model/failures";

export interface Example {
  name: string;
  /** Undefined where retention has deleted it. */
  run: QuerySummary | undefined;
}

/** What they are called. Of failures, the runs since failed, and the one before finished. */
const NAMES = ["First run since", "A typical run since", "A typical run before"];
const NAMES_FAILING = ["First failed run since", "A failed run since", "A good run before"];

/** Reads the first run since a change, one since and one before; `wanted` is the JSON of its kind and their ids. */
export async function readExamples(wanted: string, signal: AbortSignal): Promise<Example[]> {
  const [kind, ...ids] = JSON.parse(wanted) as (string | null)[];
  const names = kind === "failing" ? NAMES_FAILING : NAMES;
  const read = async (name: string, at: number): Promise<Example[]> => {
    const id = ids[at];
    return id == null ? [] : [{ name, run: await readRun(id, signal) }];
  };
  return (await Promise.all(names.map(read))).flat();
}

/** Undefined where retention has deleted it. */
async function readRun(id: string, signal: AbortSignal): Promise<QuerySummary | undefined> {
  try {
    return await get("/api/queries/{id}", { path: { id }, signal });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

/** What failed runs say, by their ids; empty of those that are deleted. A list that is read again asks for none. */
const errors = new Map<string, string>();

/** The first line of the error of a failed run since a change; undefined of a change of times. */
export async function readError(change: Change | undefined, signal: AbortSignal): Promise<string | undefined> {
  const id = change?.kind === "failing" ? change.examples.run : null;
  if (id == null) return undefined;
  if (!errors.has(id)) {
    errors.set(id, firstLineOf((await readRun(id, signal))?.failed ?? ""));
  }
  return errors.get(id);
}

// Runs that show what an issue is about.

import { ApiError, get, type QuerySummary } from "../api/client";

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
    if (id == null) return [];
    try {
      return [{ name, run: await get("/api/queries/{id}", { path: { id }, signal }) }];
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return [{ name, run: undefined }];
      throw error;
    }
  };
  return (await Promise.all(names.map(read))).flat();
}

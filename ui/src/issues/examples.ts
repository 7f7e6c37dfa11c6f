// Runs that show what an issue is about.

import { ApiError, get, type QuerySummary } from "../api/client";

export interface Example {
  name: string;
  /** Undefined where retention has deleted it. */
  run: QuerySummary | undefined;
}

/** Reads the first run since a change, a typical one since and one before; `wanted` is the JSON of their ids. */
export async function readExamples(wanted: string, signal: AbortSignal): Promise<Example[]> {
  const [first, since, before] = JSON.parse(wanted) as (string | null)[];
  const names: [string, string | null | undefined][] = [
    ["First run since", first],
    ["A typical run since", since],
    ["A typical run before", before],
  ];
  const read = async ([name, id]: (typeof names)[number]): Promise<Example[]> => {
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

// Whether a run is there. The page of a run asks for it by its id. The answer for an unknown id is 404, which a browser
// writes to its console as an error. A search for the id answers either way.

import { get } from "../api/client";

const MOST = 20;

/** True where the service does not answer, too: the page of the run says that itself. */
export async function isKnownRun(id: string): Promise<boolean> {
  try {
    const found = await get("/api/queries", { query: { q: id, limit: MOST } });
    return found.some(({ query_id }) => query_id === id.toLowerCase());
  } catch {
    return true;
  }
}

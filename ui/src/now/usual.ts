// What a query usually takes. Cards of running queries ask for it one query at a time: the whole overview holds every
// label of the service. An answer is kept for a minute, whoever asks.

import { get, type LabelOverview } from "../api/client";
import { queryKey, type QueryName } from "../route/route";

const KEPT_MS = 60_000;
const MOST_KEPT = 500;

interface Kept {
  answer: Promise<LabelOverview | undefined>;
  atMs: number;
}

const kept = new Map<string, Kept>();

/** The overview of one query, undefined where it has not run in the range. */
export function usualOf({ label, service }: QueryName, nowMs = Date.now()): Promise<LabelOverview | undefined> {
  const key = queryKey({ label, service });
  const known = kept.get(key);
  if (known !== undefined && nowMs - known.atMs < KEPT_MS) return known.answer;
  const asked = get("/api/overview", { query: { label, service: service ?? "" } });
  const answer = asked.then(({ queries }) => queries.find((one) => one.label === label));
  kept.delete(key);
  kept.set(key, { answer, atMs: nowMs });
  for (const oldest of kept.keys()) {
    if (kept.size <= MOST_KEPT) break;
    kept.delete(oldest);
  }
  // A failure is not kept: the next one asks again.
  answer.catch(() => kept.get(key)?.answer === answer && kept.delete(key));
  return answer;
}

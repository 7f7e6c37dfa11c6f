// A change for tests.

import type { Change } from "./change";

export function change(given: Partial<Change> = {}): Change {
  return {
    id: "slower-1",
    service: "etl",
    label: "a",
    kind: "slower",
    state: "open",
    since_unix_ns: 9n,
    since_query_id: "q",
    before: { runs: 120, median_wall_ms: 39_700, low_ms: 39_000, high_ms: 40_000, failed: 0 },
    after: { runs: 37, median_wall_ms: 93_500, low_ms: 92_000, high_ms: 95_000, failed: 0 },
    factor: 2.36,
    causes: [],
    cost: { runs: 37, extra_wall_ms: 3_780_000, extra_cpu_ms: 1, wall_ms_a_day: 720_000 },
    examples: { base: "b", run: "r" },
    harmless: [],
    ...given,
  };
}

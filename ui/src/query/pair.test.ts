import { expect, test } from "vitest";
import type { QuerySummary, Version } from "../api/client";
import { typicalPair } from "./pair";
import { plansOf } from "./plans";
import { largestShift } from "./shift";

const run = (at: number, wall: number | null, fingerprint: string, status: QuerySummary["status"] = "finished"): QuerySummary => ({
  query_id: `${at}`, stream_id: "s", project: "p", host: "h", status, started_unix_ns: BigInt(at), warnings: 0, rules: [], wall_ms: wall, fingerprint,
});
const version = (fingerprint: string, first: bigint): Version => ({
  fingerprint, runs: 3, failed: 0, first_started_unix_ns: first, last_started_unix_ns: first, usual_wall_ms: 1, rules: [], latest_query_id: "q",
});
const plans = plansOf([version("b", 10n), version("a", 1n)]);
const runs = [run(1, 5, "a"), run(2, 9, "a"), run(3, 4, "a"), run(10, 99, "b"), run(11, 20, "b"), run(12, 2, "b", "failed"), run(13, 30, "b")];
const ids = (pair: ReturnType<typeof typicalPair>): string[] => (pair ? [pair.base.query_id, pair.run.query_id] : []);

test("of a new plan, the run in the middle of it and of the plan before", () => expect(ids(typicalPair(runs, plans[1], true, undefined))).toEqual(["1", "13"]));

test("of the same plan, the runs in the middle on both sides of the shift", () => {
  const same = [10, 11, 12, 30, 31, 33].map((wall, at) => run(at, wall, "a"));
  const shift = largestShift(same.map((one) => ({ startedNs: one.started_unix_ns, wallMs: one.wall_ms ?? 0 })));
  expect(ids(typicalPair(same, plans[0], false, shift))).toEqual(["1", "4"]);
});

test("nothing where there is nothing to set beside", () => {
  expect(typicalPair(runs, plans[0], true, undefined)).toBeUndefined();
  expect(typicalPair(runs, plans[1], false, undefined)).toBeUndefined();
  expect(typicalPair([], plans[1], true, undefined)).toBeUndefined();
});

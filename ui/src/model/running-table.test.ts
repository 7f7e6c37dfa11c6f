import { expect, test } from "vitest";
import type { Running } from "../live/hub";
import type { Asked } from "./running";
import { appended, groupsOf, inOrder, kept, meanwhile, type Shown } from "./running-table";

const NOW_MS = 100_000;
const running = (id: string, startedMs: number, more: Partial<Running["query"]> = {}, threads = 1): Running => ({
  query: {
    query_id: id,
    stream_id: "s",
    project: "p",
    host: "h",
    status: "running",
    warnings: 0,
    rules: [],
    label: id,
    started_unix_ns: BigInt(startedMs) * 1_000_000n,
    ...more,
  },
  pulse: { query_id: id, elapsed_ms: 0, threads: [threads], busy_known: true, done: 0, nodes: 1, quiet_ms: 0 },
});
const asked = (id: string, is_late: boolean, p50: number | null): [string, Asked] => {
  const remaining_ms = p50 === null ? null : { p10: p50, p50, p90: p50 };
  return [id, { progress: { query_id: id, is_late, runs: 9, status: "running", remaining_ms }, atMs: NOW_MS }];
};
const all = [running("new", 9, {}, 4), running("old", 1, {}, 2), running("late", 5, {}, 3)];
const told = new Map([asked("late", true, null), asked("old", false, 9000), asked("new", false, 100)]);
const ids = (rows: readonly Running[]): string => rows.map(({ query }) => query.query_id).join(" ");
const shownIds = (rows: readonly Shown[]): string =>
  rows.map(({ running: { query }, hasEnded }) => query.query_id + (hasEnded ? "!" : "")).join(" ");

test.each([
  ["late", "late old new"],
  ["elapsed", "old late new"],
  ["remaining", "new old late"],
  ["busy", "new late old"],
  ["label", "late new old"],
] as const)("by %s: %s", (sort, order) => expect(ids(inOrder(all, sort, told, NOW_MS))).toBe(order));

test("what is held keeps its place: what ended stays, what started waits", () => {
  const shown = kept([], all, false);
  const wanted = [running("more", 20), ...all.slice(1)];
  const held = kept(shown, wanted, true);
  expect(shownIds(held)).toBe("new! old late");
  expect(meanwhile(held, wanted)).toBe("1 started and 1 ended meanwhile");
  expect(meanwhile(shown, all)).toBe("");
  expect(shownIds(appended(held, wanted))).toBe("old late more");
});

test("groups are of one service or host each, the largest first", () => {
  const rows = kept([], [running("1", 1, { service: "b" }), running("2", 2), running("3", 3, { service: "b" })], false);
  const names = (by: "none" | "service" | "host"): unknown =>
    groupsOf(rows, by).map(({ name, rows }) => [name, rows.length]);
  expect(names("none")).toEqual([[null, 3]]);
  expect(names("service")).toEqual([
    ["b", 2],
    [null, 1],
  ]);
  expect(names("host")).toEqual([["h", 3]]);
});

import { expect, test } from "vitest";
import { Hub } from "./hub";

const query = (id: string, started: bigint, status = "running"): string =>
  `{"query_id":"${id}","stream_id":"s","project":"p","host":"h","status":"${status}",` +
  `"started_unix_ns":${started},"warnings":0,"rules":[]}`;
const pulse = (id: string, threads: number[]): string =>
  JSON.stringify({
    query_id: id,
    elapsed_ms: 5,
    threads,
    busy_known: true,
    busiest: null,
    user_code: null,
    done: 1,
    nodes: 2,
    quiet_ms: 0,
  });

function hub(): Hub {
  const hub = new Hub();
  hub.onState({ is: "open" }, 1);
  const data = `{"running":[${query("a", 1n)},${query("b", 1795206683609778763n)}],"pulses":[${pulse("a", [1, 2])}]}`;
  hub.onMessage({ event: "snapshot", data, id: "1" }, 2);
  return hub;
}

const ids = (hub: Hub): string[] | undefined => hub.state().running?.map(({ query }) => query.query_id);

test("a snapshot holds what runs, that started last first, exact to the nanosecond", () => {
  expect(ids(hub())).toEqual(["b", "a"]);
  expect(hub().state().running?.[0]?.query.started_unix_ns).toBe(1795206683609778763n);
  expect(new Hub().state().running).toBeUndefined();
});

test("a pulse adds its samples to those before it and keeps 120", () => {
  const live = hub();
  live.onMessage({ event: "pulse", data: pulse("a", [3]), id: "2" }, 3);
  expect(live.state().running?.[1]?.pulse?.threads).toEqual([1, 2, 3]);
  live.onMessage({ event: "pulse", data: pulse("a", Array<number>(120).fill(4)), id: "3" }, 4);
  expect(live.state().running?.[1]?.pulse?.threads).toEqual(Array(120).fill(4));
  live.onMessage({ event: "pulse", data: pulse("gone", [1]), id: "4" }, 5);
  expect(ids(live)).toEqual(["b", "a"]);
});

test("a query keeps its samples when it shows something new, and goes when it ends", () => {
  const live = hub();
  live.onMessage({ event: "query", data: query("a", 1n), id: "2" }, 3);
  expect(live.state().running?.[1]?.pulse?.threads).toEqual([1, 2]);
  live.onMessage({ event: "query", data: query("b", 2n, "finished"), id: "3" }, 3);
  expect(ids(live)).toEqual(["a"]);
  live.onMessage({ event: "query", data: query("c", 3n), id: "4" }, 3);
  expect(ids(live)).toEqual(["c", "a"]);
});

test("changes count what ends and what was left out, not samples", () => {
  const live = hub();
  const before = live.state().changes;
  live.onMessage({ event: "pulse", data: pulse("a", [3]), id: "2" }, 3);
  expect(live.state().changes).toBe(before);
  live.onMessage({ event: "omitted", data: '{"queries":5}', id: "3" }, 3);
  expect(live.state().changes).toBe(before + 1);
});

test("the age of the data counts from the moment the connection was lost", () => {
  const live = hub();
  live.onState({ is: "lost", reason: "x" }, 50);
  live.onState({ is: "connecting" }, 60);
  expect(live.state().heardMs).toBe(50);
});

test("issues that made a transition are told with their number, the last 20", () => {
  const live = hub();
  const before = live.state().changes;
  for (let n = 1; n <= 25; n += 1)
    live.onMessage({ event: "issue", data: `{"id":"i${n}","opened_unix_ns":1795206683609778763}`, id: String(n) }, 3);
  expect(live.state().issues.map(({ at }) => at)).toEqual(Array.from({ length: 20 }, (_, n) => n + 6));
  expect(live.state().issues.at(-1)?.issue).toMatchObject({ id: "i25", opened_unix_ns: 1795206683609778763n });
  expect(live.state().changes).toBe(before + 25);
});

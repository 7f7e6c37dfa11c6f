import { afterEach, expect, test, vi } from "vitest";
import { QueryList } from "./list.svelte";

afterEach(() => vi.unstubAllGlobals());

interface Given {
  rows: [label: string, service: string | null][];
  labels: number;
  next?: string;
  day?: number;
}

/** Answers one request after the other and notes what was asked. */
function service(...answers: Given[]): URLSearchParams[] {
  const asked: URLSearchParams[] = [];
  vi.stubGlobal("fetch", (url: string) => {
    asked.push(new URL(url, "http://localhost").searchParams);
    const { rows, labels, next, day = 1 } = answers.shift() ?? { rows: [], labels: 0 };
    const body = { days: [day], totals: { labels }, queries: rows.map(([label, service]) => ({ label, service })) };
    const headers: HeadersInit = next === undefined ? {} : { link: `</api/overview?cursor=${next}>; rel="next"` };
    return Promise.resolve(new Response(JSON.stringify(body), { headers }));
  });
  return asked;
}
const said = (list: QueryList): string => list.rows.map(({ label, service }) => `${label}@${service}`).join(" ");

test("a label in two services is two queries, page behind page", async () => {
  const asked = service(
    {
      rows: [
        ["a", "x"],
        ["a", "y"],
      ],
      labels: 3,
      next: "C",
    },
    { rows: [["a", null]], labels: 3 },
  );
  const list = new QueryList();
  await list.load({ days: 7 });
  expect([said(list), list.hasMore, list.isCut]).toEqual(["a@x a@y", true, false]);
  await list.more();
  expect([said(list), list.hasMore, list.isCut]).toEqual(["a@x a@y a@null", false, false]);
  const given = asked.map((one) => [one.get("split"), one.get("cursor"), one.get("days")]);
  expect(given).toEqual([
    ["service", null, "7"],
    ["service", "C", "7"],
  ]);
  expect(Number(asked[0]?.get("limit"))).toBeGreaterThan(0);
  await list.more();
  expect(asked.length).toBe(2);
});

test("news are the first page alone; what was read behind it stays", async () => {
  const asked = service(
    { rows: [["a", "x"]], labels: 2, next: "C" },
    { rows: [["b", "x"]], labels: 2 },
    { rows: [["c", "x"]], labels: 3, next: "D" },
  );
  const list = new QueryList();
  await list.load({});
  await list.more();
  await list.news();
  expect([said(list), list.hasMore]).toEqual(["c@x a@x b@x", false]);
  expect(asked[2]?.get("cursor")).toBeNull();
});

test("a day later the list starts over, for the days of its rows are others", async () => {
  service(
    { rows: [["a", "x"]], labels: 2, next: "C" },
    { rows: [["b", "x"]], labels: 2 },
    { rows: [["b", "x"]], labels: 2, next: "D", day: 2 },
  );
  const list = new QueryList();
  await list.load({});
  await list.more();
  await list.news();
  expect([said(list), list.hasMore]).toEqual(["b@x", true]);
});

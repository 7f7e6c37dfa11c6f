import { afterEach, expect, test, vi } from "vitest";
import type { Change } from "../model/change";
import { active, asked, countQueries, culprit, widened, type Count, type Filters } from "./filters";

afterEach(() => vi.unstubAllGlobals());

test("nanoseconds of an address are exact, what is no number or no state is left out", () => {
  const read = asked({ since: "1795206683609778763", until: "soon", status: "odd" });
  expect(read).toMatchObject({ since: 1795206683609778763n, until: undefined, status: undefined });
  expect(asked({ service: "" }).service).toBe("");
});

test("an empty filter is one: it asks for those without a value", () =>
  expect(active({ service: "", q: undefined, host: "h" })).toEqual(["service", "host"]));

test("the filter that removes most is named", async () => {
  const runs = (filters: Filters): number => (filters.host === undefined ? 120 : filters.status === undefined ? 7 : 0);
  const counted = (filters: Filters): Promise<Count> => Promise.resolve({ of: runs(filters), isLeast: false });
  const found = await culprit({ host: "h", status: "failed", service: "s" }, counted);
  expect(found).toEqual({ filter: "host", without: { of: 120, isLeast: false } });
  expect(await culprit({ service: "s" }, () => Promise.resolve({ of: 0, isLeast: false }))).toBeUndefined();
});

test("where queries are listed, queries of the range are counted, not runs of all time", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", (url: string) => {
    asked.push(url);
    const queries = [
      { label: "orders", service: "etl" },
      { label: "bills", service: "etl" },
    ];
    return Promise.resolve(new Response(JSON.stringify({ totals: { labels: 7 }, queries })));
  });
  const { signal } = new AbortController();
  expect(await countQueries({ service: "etl" }, { days: 7 }, signal)).toEqual({ of: 7, isLeast: false });
  expect(await countQueries({ q: "ORD" }, { days: 7 }, signal)).toEqual({ of: 1, isLeast: false });
  expect(asked).toEqual([
    "/api/overview?service=etl&days=7&split=service&limit=1",
    "/api/overview?days=7&split=service&limit=1000",
  ]);
});

test("a change of the one environment that its query runs in is of all its runs", async () => {
  const of: Record<string, (string | null)[] | undefined> = { one: ["prod"], two: ["prod", "staging"], other: ["dev"] };
  vi.stubGlobal("fetch", (url: string) => {
    const values = of[new URL(url, "http://a").searchParams.get("label") ?? ""];
    const body = JSON.stringify({ environment: values?.map((value) => ({ value, runs: 1 })) });
    return Promise.resolve(new Response(body, { status: values === undefined ? 503 : 200 }));
  });
  const change = (label: string, more: Partial<Change> = {}): Change =>
    ({ label, service: "etl", environment: "prod", kind: "slower", ...more }) as Change;
  const changes = [change("one"), change("two"), change("other"), change("away"), change("one", { kind: "failing" })];
  const signal = new AbortController().signal;
  const shown = async (environment?: string): Promise<(string | null | undefined)[]> =>
    (await widened(changes, { environment }, signal)).map((one) => one.environment);
  expect(await shown()).toEqual([null, "prod", "prod", "prod", "prod"]);
  expect(await shown("prod"), "nothing is asked for").toEqual(["prod", "prod", "prod", "prod", "prod"]);
});

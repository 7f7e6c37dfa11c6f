import { afterEach, expect, test, vi } from "vitest";
import { Runs } from "./runs.svelte";

afterEach(() => vi.unstubAllGlobals());

test("a newer run is one that started since the list was read, and is not in it", async () => {
  const started: Record<string, number> = { a: 1, b: 2, c: 3 };
  // The list by wall time has the newest run far down.
  let [listed, newest] = [["a"], "b"];
  vi.stubGlobal("fetch", (url: string) => {
    const ids = new URL(url, "http://localhost").searchParams.get("limit") === "1" ? [newest] : listed;
    const rows = ids.map((query_id) => ({ query_id, started_unix_ns: started[query_id] }));
    return Promise.resolve(new Response(JSON.stringify(rows)));
  });
  const runs = new Runs();
  await runs.load({}, "wall", "newest");
  expect(await runs.hasNewer()).toBe(false);
  newest = "c";
  expect(await runs.hasNewer()).toBe(true);
  await runs.load({}, "wall", "newest");
  expect(await runs.hasNewer()).toBe(false);
  await runs.load({}, "started", "oldest");
  [listed, newest] = [["a", "b"], "b"];
  expect(await runs.hasNewer()).toBe(false);
  await runs.load({}, "started", "newest");
  [listed, newest] = [["a", "b", "c"], "c"];
  await runs.news();
  expect(await runs.hasNewer()).toBe(false);
});

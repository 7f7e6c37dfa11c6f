import { expect, test } from "vitest";
import { expectGood, open } from "./browser";
import { browser, service, setStage, startAgain } from "./captures";

setStage();

const LOST = "The service does not answer.";
const SCHEMA = "engine-telemetry/events@1";
const STREAM = "5f0c5b1e-0000-4000-8000-000000000001";
const process = {
  schema: SCHEMA,
  seq: 1,
  type: "process",
  id: STREAM,
  service: "etl",
  environment: "test",
  host: "worker-9",
  pid: 1,
};

/** A query with one node that is heard of first, then at each second, then at its end. */
function query(at: number) {
  const query_id = `5f0c5b1e-0000-4000-8000-00000000010${at}`;
  const node = { id: 1, kind: "group-by", role: "aggregation", inputs: [] };
  const profile = (metrics: object): object => ({
    schema: "engine-telemetry/profile@1",
    query_id,
    label: `live/${at}`,
    wall_ms: 1000,
    started_unix_ns: Date.now() * 1e6,
    failed: null,
    plan: { physical: [{ ...node, ...metrics }], logical: [] },
  });
  const event = (seq: number, type: string, body: object): object => ({
    schema: SCHEMA,
    seq: 100 * at + seq,
    type,
    query_id,
    ...body,
  });
  return {
    started: event(1, "query.started", { profile: profile({}) }),
    sample: (second: number) => {
      const nodes = { 1: { total_time_ns: 2e9 * second } };
      return event(1 + second, "query.progress", { elapsed_ms: 1000 * second, nodes });
    },
    finished: event(90, "query.finished", { profile: profile({ metrics: { done: true } }) }),
  };
}

test("a query shows up, pulses and goes while the page stays open", async () => {
  const looked = await open(browser, `${service.url}/now`);
  const { page } = looked;
  await page.getByRole("heading", { level: 1, name: "Nothing is running" }).waitFor();
  const first = query(1);
  await service.send(process, first.started);
  await page.getByRole("heading", { level: 1, name: /^1 running/ }).waitFor();
  await service.send(process, first.sample(1), first.sample(2));
  await page.getByRole("heading", { level: 1, name: "1 running, 2.0 threads busy" }).waitFor();
  await page.getByText("group-by, 2.0").waitFor();
  await page.getByText("too few earlier runs for a forecast").waitFor();
  await expectGood(looked);
  await service.send(process, first.finished);
  await page.getByRole("heading", { level: 1, name: "Nothing is running" }).waitFor();
  const row = page.getByRole("listitem").filter({ hasText: "live/1" });
  await row.getByText("finished").filter({ visible: true }).waitFor();
  await page.context().close();
});

test("what runs is set against the earlier runs of its plan", async () => {
  const label = "live/judged";
  const run = (at: number, agoMs: number, wall_ms: number): object => ({
    schema: "engine-telemetry/profile@1",
    query_id: `5f0c5b1e-0000-4000-8000-0000000002${10 + at}`,
    label,
    fingerprint: "0123456789ab",
    wall_ms,
    started_unix_ns: (Date.now() - agoMs) * 1e6,
    failed: null,
    plan: { physical: [{ id: 1, kind: "Sort", role: "sort", inputs: [] }], logical: [] },
  });
  const event = (at: number, type: string, profile: object): object => ({
    schema: SCHEMA,
    seq: 1000 + at,
    type,
    query_id: (profile as { query_id: string }).query_id,
    profile,
  });
  const earlier = [20, 30, 40, 50, 60, 70].map((seconds, at) =>
    event(at, "query.finished", run(at, 3_600_000, 1000 * seconds)),
  );
  await service.send(process, ...earlier, event(8, "query.started", run(8, 25_000, 1000)));
  const looked = await open(browser, `${service.url}/now`);
  const { page } = looked;
  const card = page.getByRole("article").filter({ hasText: label });
  await card.getByText(/ to .* more \(the last 6 runs/).waitFor();
  const bar = card.getByRole("progressbar", { name: "Progress by earlier runs" });
  expect(Number(await bar.getAttribute("aria-valuenow"))).toBeGreaterThan(30);
  await expectGood(looked);
  await page.setViewportSize({ width: 390, height: 844 });
  await expectGood(looked);
  await service.send(process, event(9, "query.finished", run(8, 25_000, 26_000)));
  await card.waitFor({ state: "detached" });
  await page.context().close();
});

test("a lost service is said, numbers are grey, and it comes back by itself", async () => {
  const { page } = await open(browser, `${service.url}/now`);
  const second = query(2);
  await service.send(process, second.started);
  await page.getByText("live/2").waitFor();
  await service.stop();
  await page.getByText(LOST, { exact: true }).waitFor();
  await page.getByText(/known \d+ s ago/).waitFor();
  expect(await page.locator("main").getAttribute("data-stale")).toBe("");
  await page.getByText("live/2").waitFor();
  await startAgain();
  await page.getByText(LOST, { exact: true }).waitFor({ state: "detached" });
  await service.send(process, second.sample(3), query(3).started);
  await page.getByText("live/3").waitFor();
  expect(await page.locator("main").getAttribute("data-stale")).toBeNull();
  await page.context().close();
});

test("a page that was opened while the service was away fills by itself", async () => {
  const query = `${service.url}/queries/5f0c5b1e-0000-4000-8000-000000000101`;
  for (const [url, shows] of [
    [service.url, /^No change for the worse was found/],
    [query, /^Finished in/],
  ] as const) {
    const { page } = await open(browser, `${service.url}/now`);
    await page.route("**/api/**", (route) => route.abort());
    await page.goto(url);
    await page.getByText("This cannot be shown: the service does not answer.").first().waitFor();
    await page.unroute("**/api/**");
    await page.getByRole("heading", { level: 1, name: shows }).waitFor();
    expect(await page.getByText("This cannot be shown").count()).toBe(0);
    await page.context().close();
  }
});

test("all tabs share one connection", async () => {
  const { page } = await open(browser, `${service.url}/now`);
  await page.getByText("live/3").waitFor();
  // Eight tabs with a stream each would be more than the six connections a browser makes to one host.
  const tabs = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const tab = await page.context().newPage();
      await tab.goto(`${service.url}/now`);
      return tab;
    }),
  );
  await Promise.all(tabs.map((tab) => tab.getByText("live/3").waitFor()));
  await service.send(process, query(4).started);
  await Promise.all(tabs.map((tab) => tab.getByText("live/4").waitFor()));
  await page.context().close();
});

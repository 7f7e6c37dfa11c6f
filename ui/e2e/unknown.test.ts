// What could not be read, was not sent, or is about other runs is not told as an answer.

import { randomUUID } from "node:crypto";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { expectGood, launch, open, type Looked, type Width } from "./browser";
import { ended, started } from "./senders";
import { Service } from "./service";

let service: Service;
let browser: Browser;
let page: Page;

const SCHEMA = "engine-telemetry/events@1";
const RUNS_READ = 5000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

beforeAll(async () => {
  [service, browser] = await Promise.all([Service.start(), launch()]);
  await service.send(...ended({ label: "often/run", runs: RUNS_READ, everyMs: 1000 }));
  await service.send(...ended({ label: "often/run", runs: 2, agoMs: DAY_MS, failed: "disk full" }));
  await service.send(...ended({ label: "seldom/run", runs: 7 }));
  await service.send(...started({ label: "runs/now" }));
});
afterAll(async () => {
  await browser.close();
  await service.remove();
});
afterEach(() => page.context().close());

async function visit(path: string, width: Width = 1280): Promise<Looked> {
  const looked = await open(browser, service.url + path, "light", width);
  page = looked.page;
  return looked;
}

test("failures of runs that were not read are not said to be none", async () => {
  await visit("/labels/often%2Frun?service=etl");
  const failures = page.getByRole("region", { name: "Failures" });
  await failures.getByText("No run failed among them.").waitFor();
  await failures.getByText("among the newest 5,000 runs, by their text without its numbers").waitFor();
});

test("an old run is not among the last of its query", async () => {
  const query = "label=often%2Frun&order=oldest&limit=1";
  const [oldest] = (await (await fetch(`${service.url}/api/queries?${query}`)).json()) as { query_id: string }[];
  await visit(`/queries/${oldest?.query_id}?tab=history`);
  await page.getByText(/^\s*The last 60 runs of often\/run, and this one, which is older\./).waitFor();
  expect(await page.getByRole("region", { name: "Runs of the label" }).locator("tbody tr").count()).toBe(61);
});

test("the median of plans that run beside each other is not told", async () => {
  const label = "pages/both";
  await service.send(...ended({ label, runs: 6, wallMs: 20, fingerprint: "aaaaaaaaaaaa" }));
  await service.send(...ended({ label, runs: 6, wallMs: 4000, agoMs: HOUR_MS / 2, fingerprint: "bbbbbbbbbbbb" }));
  await visit("/labels/pages%2Fboth?service=etl");
  const line = /: usually 20\.?\d* ms with plan \w, 4\.?\d* s with plan \w, 12 runs in 14 days$/;
  await page.getByRole("heading", { level: 1, name: line }).waitFor();
  const divided = page.getByRole("combobox", { name: "Divide by" });
  expect(await divided.inputValue()).toBe("fingerprint");
  await divided.selectOption({ label: "nothing" });
  await page.waitForURL(/by=none/);
  expect(await divided.inputValue()).toBe("none");
});

test("a query with too few runs to be judged is not said to be without a change", async () => {
  await visit("/queries");
  const state = (label: string) => page.getByRole("row").filter({ hasText: label }).locator(".tags");
  await state("often/run")
    .getByText(/as usual|no change found/)
    .waitFor();
  await state("seldom/run").getByText("few runs").waitFor();
});

test.each(["/queries", "/queries?only=changed"])(
  "%s does not take changes that were not read for none",
  async (path) => {
    await open(browser, "about:blank").then((looked) => (page = looked.page));
    await page.route("**/api/changes?*", (route) => route.fulfill({ status: 500, json: { error: "reading failed" } }));
    await page.goto(service.url + path);
    await page.getByText("reading failed").first().waitFor();
    expect(await page.getByText(/no change|as usual|nothing changed/i).count()).toBe(0);
  },
);

test("a run in another environment is not among those of the page", async () => {
  await visit("/labels/runs%2Fnow?environment=test");
  await page.getByText(/Runs now, for/).waitFor();
  await page.context().close();
  await visit("/labels/runs%2Fnow?environment=production");
  await page.getByText("Not running now.").waitFor();
});

test("of a run without an executed plan, its logical plan is shown", async () => {
  const query_id = randomUUID();
  const logical = [
    { id: 0, kind: "Aggregate", role: "aggregation", inputs: [1], properties: { aggregates: ["count(1)"] } },
    { id: 1, kind: "TableScan", role: "scan", inputs: [], properties: { table: "orders" } },
  ];
  const profile = {
    schema: "engine-telemetry/profile@1",
    query_id,
    label: "logical/only",
    wall_ms: 12,
    started_unix_ns: Date.now() * 1e6,
    failed: null,
    plan: { physical: [], logical },
  };
  const process = { schema: SCHEMA, seq: 1, type: "process", id: randomUUID(), service: "etl", host: "etl-1", pid: 1 };
  await service.send(process, { schema: SCHEMA, seq: 2, type: "query.finished", query_id, profile });
  for (const width of [1280, 390] as Width[]) {
    const looked = await visit(`/queries/${query_id}`, width);
    await page.getByRole("heading", { level: 1, name: "Finished in 12 ms. Only its logical plan was sent." }).waitFor();
    await page.getByRole("region", { name: "Logical plan" }).getByText("TableScan").waitFor();
    await page.getByText("Not checked: its executed plan was not sent.").waitFor();
    await expectGood(looked);
    if (width !== 390) await page.context().close();
  }
});

test("an engine that counts no work has no busy threads, and not none", async () => {
  const query_id = randomUUID();
  const physical = [{ id: 1, kind: "Source", role: "scan", inputs: [], properties: {} }];
  const profile = {
    schema: "engine-telemetry/profile@1",
    query_id,
    label: "uncounted/work",
    wall_ms: 1000,
    started_unix_ns: (Date.now() - 2500) * 1e6,
    failed: null,
    plan: { physical, logical: [] },
  };
  const process = {
    schema: SCHEMA,
    seq: 1,
    type: "process",
    id: randomUUID(),
    service: "daft",
    host: "daft-1",
    pid: 1,
  };
  const nodes = { 1: { rows_out: 700 } };
  await service.send(
    process,
    { schema: SCHEMA, seq: 2, type: "query.started", query_id, profile },
    { schema: SCHEMA, seq: 3, type: "query.progress", query_id, elapsed_ms: 2000, nodes },
  );
  await visit("/now?q=uncounted");
  const card = page.getByRole("article").filter({ hasText: "uncounted/work" });
  await card.getByText("not counted").waitFor();
  expect(await card.getByText("nodes done").locator("xpath=..").innerText()).toMatch(/nodes done\s+–/);
  expect(await card.getByText("busy threads").locator("xpath=..").innerText()).toMatch(/busy threads\s+not counted/);
  expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe("2 running");
  await page.goto(`${service.url}/queries/${query_id}`);
  await page.getByText("No busy threads are shown: no node told its busy time.").waitFor();
  await page.getByText("No node told its busy time.", { exact: true }).waitFor();
});

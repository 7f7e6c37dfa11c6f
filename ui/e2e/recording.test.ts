// A recording as a browser gets it: Chromium decodes the first gzip member of a body and drops what follows.

import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { open } from "./browser";
import { browser, service, setStage } from "./captures";

const STREAM = "0b6a2f53-4a3e-4d7e-9c57-2f6a0c1de001";
const QUERY = "01a1faa8-1bd9-77b2-97ab-860dd7026506";
const SCHEMA = "engine-telemetry/events@1";
const SAMPLES = 40;

const source = { service: "orders-etl", host: "worker-1", pid: 7 };
const process = { schema: SCHEMA, seq: 1, type: "process", id: STREAM, ...source };
const plan = { logical: [], physical: [{ id: 1, kind: "scan", role: "source", inputs: [] }] };
const told = { label: "daily", fingerprint: "p1", wall_ms: 1000, failed: null };
const profile = { schema: "engine-telemetry/profile@1", query_id: QUERY, ...told, plan };
const started = { schema: SCHEMA, seq: 2, type: "query.started", query_id: QUERY, profile };
const progress = { schema: SCHEMA, type: "query.progress", query_id: QUERY, nodes: {} };
const sample = (seq: number) => ({ ...progress, seq, elapsed_ms: seq * 500 });
const finished = { ...started, seq: 3 + SAMPLES, type: "query.finished" };
const events = [started, ...Array.from({ length: SAMPLES }, (_, n) => sample(3 + n)), finished];
const whole = [process, ...events].map((event) => `${JSON.stringify(event)}\n`).join("");

setStage(async () => {
  // Each batch is a member where it is stored.
  for (const event of events) await service.send(process, event);
});

test("fetch reads all of it", async () => {
  const { page } = await open(browser, service.url);
  const text = await page.evaluate(async (id) => (await fetch(`/api/queries/${id}/recording`)).text(), QUERY);
  expect(text).toBe(whole);
});

test("a download by its address is a whole file with a name that fits, which the page opens", async () => {
  const { page, problems } = await open(browser, service.url);
  const begun = page.waitForEvent("download");
  // Going to an attachment leaves the page where it is.
  await page.goto(`${service.url}/api/queries/${QUERY}/recording`).catch(() => undefined);
  const download = await begun;
  expect(download.suggestedFilename()).toBe(`${QUERY}.jsonl`);
  const file = await download.path();
  expect(await readFile(file, "utf8")).toBe(whole);

  await page.goto(`${service.url}/open`);
  const chosen = { name: `${QUERY}.jsonl`, mimeType: "", buffer: await readFile(file) };
  await page.getByLabel("Choose a file").setInputFiles(chosen);
  await page.getByText("daily").first().waitFor();
  expect(problems).toEqual([]);
});

// The captures of the tree: requests of a real sender, in order; and the stage that tests of the browser begin on.

import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { launch } from "./browser";
import { BINARY, Service } from "./service";

const FOLDER = resolve(import.meta.dirname, "../../testdata/captures");
const INSIGHTS = resolve(import.meta.dirname, "../../crates/insights/tests/data");

/** Those of the test file that set the stage, between its first test and its last. */
export let service: Service;
export let browser: Browser;

/** Starts a service and a browser before the tests of a file, fills the service, and removes both after them. */
export function setStage(fill?: (service: Service) => Promise<void>): void {
  beforeAll(async () => {
    [service, browser] = await Promise.all([Service.start(), launch()]);
    await fill?.(service);
  });
  afterAll(async () => {
    await browser.close();
    await service.remove();
  });
}

/** Starts the service, which was stopped, on its address and over its data. */
export async function startAgain(): Promise<void> {
  service = await Service.start(service);
}

export function captureFiles(): string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".gz"))
    .sort()
    .map((name) => join(FOLDER, name));
}

/** Stores them all. */
export async function importCaptures(service: Service): Promise<void> {
  await importFiles(service, captureFiles());
}

/** Stores queries of DuckDB and Daft. */
export async function importEngines(service: Service): Promise<void> {
  await importFiles(service, [join(INSIGHTS, "engines.jsonl.gz")]);
}

async function importFiles({ data }: Service, files: readonly string[]): Promise<void> {
  await promisify(execFile)(BINARY, ["import", "--data", data, ...files]);
}

/** The events of one query by its label, behind the process event of its stream. */
export function captureLines(label: string): string[] {
  const requests = captureFiles().map((file) => gunzipSync(readFileSync(file)).toString().trimEnd().split("\n"));
  const lines = requests.flat();
  const first = lines.find((line) => (JSON.parse(line) as { profile?: { label?: string } }).profile?.label === label);
  if (first === undefined) throw new Error(`no capture of ${label}`);
  const { query_id: id } = JSON.parse(first) as { query_id: string };
  const [process = ""] = requests.find((request) => request.includes(first)) ?? [];
  return [process, ...lines.filter((line) => line.includes(`"query_id":"${id}"`))];
}

/** The events of queries that call Python, or of TPC-H on DataFusion. */
export function insightsLines(file: "udf" | "tpch"): string[] {
  return gunzipSync(readFileSync(join(INSIGHTS, `${file}.jsonl.gz`)))
    .toString()
    .trimEnd()
    .split("\n");
}

/** Stores them. */
export async function sendInsights(service: Service, file: "udf" | "tpch"): Promise<void> {
  const id = "5d2c6b1e-9a55-4f0b-8a43-0c2f53a3f7d1";
  const process = `{"schema":"engine-telemetry/events@1","seq":1,"type":"process","id":"${id}","host":"worker-1"}`;
  const lines = insightsLines(file);
  await service.sendLines(lines[0]?.includes('"type":"process"') ? lines : [process, ...lines]);
}

/** Where the newest run of a label is shown. */
export async function runPath(service: Service, label: string): Promise<string> {
  const response = await fetch(`${service.url}/api/queries?limit=1&label=${encodeURIComponent(label)}`);
  const [summary] = (await response.json()) as { query_id: string }[];
  if (summary === undefined) throw new Error(`no run of ${label}`);
  return `/queries/${summary.query_id}`;
}

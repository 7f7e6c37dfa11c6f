// The real binary with the captures imported, on a port of its own, and a browser in front of it.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type Browser, chromium } from "playwright-core";

const ROOT = join(import.meta.dirname, "../../..");
const CAPTURES = join(ROOT, "testdata/captures");
export const TOKEN = "a-token-for-these-tests";
const START_MS = 20_000;

export interface Service {
  url: string;
  /** Sends events as a process would. */
  post(lines: readonly string[]): Promise<void>;
  stop(): void;
}

export function captureFiles(): string[] {
  return readdirSync(CAPTURES).filter((name) => name.endsWith(".gz")).sort().map((name) => join(CAPTURES, name));
}

/** The lines of the requests that speak of a query of this label, the process event of each first. */
export function captureLines(label: string): string[] {
  const files = captureFiles().map((file) => gunzipSync(readFileSync(file)).toString().trimEnd().split("\n"));
  const id = files.flat().map((line) => JSON.parse(line)).find((event) => event.profile?.label === label)?.query_id;
  const process = files.find((lines) => lines.some((line) => line.includes(id)))?.[0] ?? "";
  return [process, ...files.flat().filter((line) => line.includes(`"query_id":"${id}"`))];
}

export async function startService(): Promise<Service> {
  const binary = process.env["QUERYSCOPE_BIN"] ?? join(ROOT, "target/debug/queryscope");
  const data = mkdtempSync(join(tmpdir(), "queryscope-run-"));
  execFileSync(binary, ["import", "--data", data, ...captureFiles()], { stdio: "pipe" });
  const port = await freePort();
  const child = spawn(binary, ["serve", "--data", data, "--bind", `127.0.0.1:${port}`, "--token", TOKEN], { stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  await healthy(url, child);
  return {
    url,
    async post(lines) {
      const response = await fetch(`${url}/v1/events`, {
        method: "POST",
        headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/x-ndjson" },
        body: `${lines.join("\n")}\n`,
      });
      if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`);
    },
    stop() {
      child.kill();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

async function healthy(url: string, child: ChildProcess): Promise<void> {
  const until = Date.now() + START_MS;
  while (Date.now() < until) {
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}`);
    const answer = await fetch(`${url}/v1/health`).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the service did not start");
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}

export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

/** The address of the newest run of a label. */
export async function runOf(service: Service, label: string): Promise<string> {
  const response = await fetch(`${service.url}/api/queries?limit=1&label=${encodeURIComponent(label)}`);
  const [summary] = (await response.json()) as { query_id: string }[];
  if (!summary) throw new Error(`no run of ${label}`);
  return `${service.url}/queries/${summary.query_id}`;
}

// The real binary over a data folder of its own.

import { execFile, spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const TARGET = resolve(import.meta.dirname, "../../target/debug");
export const BINARY = process.env["QUERYSCOPE_BINARY"] ?? join(TARGET, "queryscope");
const BENCH = process.env["QUERYSCOPE_BENCH"] ?? join(TARGET, "queryscope-bench");
const ROOT = resolve(import.meta.dirname, "../..");
const TOKEN = "qs_of_the_browser_tests";

/** Evaluating two weeks of history takes that long at most, in a debug build on a busy machine. */
const EVALUATED_MS = 300_000;

const run = promisify(execFile);

export class Service {
  #process: ChildProcess;
  readonly url: string;
  readonly data: string;

  private constructor(process: ChildProcess, url: string, data: string) {
    [this.#process, this.url, this.data] = [process, url, data];
  }

  /** Starts it on a free port, or on that of an earlier one, over the data of that. */
  static async start(earlier?: Service, flags: readonly string[] = []): Promise<Service> {
    const data = earlier?.data ?? mkdtempSync(join(tmpdir(), "queryscope-ui-"));
    const bind = earlier === undefined ? "127.0.0.1:0" : new URL(earlier.url).host;
    const at = flags.includes("--bind") ? [] : ["--bind", bind];
    const child = spawn(BINARY, ["serve", "--data", data, ...at, "--token", TOKEN, ...flags], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const url = await new Promise<string>((found, failed) => {
      createInterface({ input: child.stdout }).on("line", (line) => {
        const address = /dashboard\s+(http:\/\/\S+)/.exec(line)?.[1];
        if (address !== undefined) found(address);
      });
      child.once("error", failed);
      child.once("exit", (code) => failed(new Error(`${BINARY} ended with ${code}`)));
    });
    return new Service(child, url, data);
  }

  /** Two weeks of history, the same on each day but for what the hour and the weekday decide; no live queries. */
  async fillWithDemo(): Promise<void> {
    await run(BINARY, ["demo", "--history-only", "--seed", "20", "--url", this.url, "--token", TOKEN]);
    await this.changed(["billing/invoice-totals", "orders/daily-revenue", "orders/dedupe-customers"]);
  }

  /** Waits until ended runs have been evaluated: until each of these queries has an open change. */
  async changed(labels: readonly string[]): Promise<void> {
    const missing = new Set(labels);
    for (let waited = 0; waited < EVALUATED_MS; waited += 500) {
      const answer = await fetch(`${this.url}/api/changes?state=open`);
      const { changes } = (await answer.json()) as { changes: { label: string }[] };
      for (const { label } of changes) missing.delete(label);
      if (missing.size === 0) return;
      await new Promise((then) => setTimeout(then, 500));
    }
    throw new Error(`no change of ${[...missing].join(", ")} after ${EVALUATED_MS / 1000} s`);
  }

  /** So many queries of 2,000 labels. */
  async fillWithMany(count: number): Promise<void> {
    await run(BENCH, ["fill", "--url", this.url, "--token", TOKEN, "--seed", "7", "--count", String(count)], {
      cwd: ROOT,
      maxBuffer: 1 << 26,
    });
  }

  /** Sends events, one line each. */
  async send(...events: object[]): Promise<void> {
    await this.sendLines(events.map((event) => JSON.stringify(event)));
  }

  /** Sends lines as they are. */
  async sendLines(lines: readonly string[]): Promise<void> {
    const body = lines.map((line) => `${line}\n`).join("");
    const response = await fetch(`${this.url}/v1/events`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}` },
      body,
    });
    if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`);
  }

  /** Ends the process and keeps the data. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const ended = new Promise((end) => this.#process.once("exit", end));
    this.#process.kill("SIGTERM");
    await ended;
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.data, { recursive: true, force: true });
  }
}

export const token = TOKEN;

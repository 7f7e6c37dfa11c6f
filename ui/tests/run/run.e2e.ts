import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { captureFiles, captureLines, runOf, type Service, startBrowser, startService } from "./service";

const AXE = readFileSync(join(import.meta.dirname, "../../node_modules/axe-core/axe.min.js"), "utf8");
const OFFLINE_MS = 4000;

let service: Service;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  [service, browser] = await Promise.all([startService(), startBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  service?.stop();
});
beforeEach(async () => {
  context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true });
  await start();
});
afterEach(async () => {
  await context.close();
  expect(complaints).toEqual([]);
});

/** A page of the context; what the browser complains of (a blocked style, an exception) fails the test. */
async function start(): Promise<void> {
  complaints = [];
  page = await context.newPage();
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !/Failed to load resource|net::ERR/.test(message.text())) complaints.push(message.text());
  });
}

async function open(label: string, search = ""): Promise<void> {
  await page.goto((await runOf(service, label)) + search);
  await page.getByRole("heading", { level: 1 }).waitFor();
}

const firstLine = async (): Promise<string> => (await page.getByRole("heading", { level: 1 }).innerText()).replaceAll("\u00a0", " ");
const node = (): string | null => new URL(page.url()).searchParams.get("node");
const hasNode = (id: string): Promise<void> => page.waitForURL((url) => url.searchParams.get("node") === id);

async function axe(): Promise<string[]> {
  // As an evaluation, not a script element: the policy of the page forbids those.
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { target: unknown[]; failureSummary: string }[] }[] }> } };
    const { violations } = await axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.target.join(" ")}: ${nodes[0]?.failureSummary}`);
  });
}

describe("a finished run", () => {
  test("says in its first line how it went and where the time is", async () => {
    await open("join/exploding");
    expect(await firstLine()).toMatch(/^Finished in 39 ms.* 97 % of the CPU is in EquiJoin #4, whose output is 522x its input\.$/);
  });

  test("is walked with the keyboard alone", async () => {
    await open("unique/redundant");
    await page.keyboard.press("h");
    await hasNode("4294967299");
    await page.keyboard.press("f");
    await page.keyboard.press("f");
    await hasNode("4294967299");
    await page.keyboard.press("/");
    await page.keyboard.type("orders.parquet");
    await page.keyboard.press("Enter");
    await hasNode("4294967297");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("type"))).toBe("range");
    await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowUp");
    await hasNode("4294967298");
    await page.keyboard.press("ArrowDown");
    await hasNode("4294967297");
    await page.keyboard.press("c");
    await page.waitForURL(/tab=compare/);
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
  });

  test("is a treegrid for those who can not see the picture", async () => {
    await open("join/three-way", "?view=table");
    const grid = page.getByRole("treegrid", { name: "Plan" });
    const rows = grid.locator("tbody").getByRole("row");
    expect(await rows.count()).toBe(15);
    await rows.first().focus();
    for (let i = 0; i < 8; i += 1) await page.keyboard.press("ArrowDown");
    const focused = page.locator("tr:focus");
    expect(await focused.innerText()).toMatch(/EquiJoin/);
    expect(await focused.getAttribute("aria-level")).toBe("9");
    await page.keyboard.press("ArrowLeft");
    expect(await focused.getAttribute("aria-expanded")).toBe("false");
    expect(await rows.count()).toBeLessThan(15);
    await page.keyboard.press("ArrowRight");
    expect(await rows.count()).toBe(15);
  });

  test("folds what does not matter, and unfolds it", async () => {
    await open("wide/long-200-nodes");
    const boxes = page.locator("[data-box]");
    await boxes.first().waitFor();
    expect(await boxes.count()).toBeLessThan(10);
    await page.getByRole("slider", { name: /of the time/ }).press("End");
    await page.waitForURL(/show=100/);
    await page.getByText("287 nodes").waitFor();
  });

  test("shows the moment that is replayed, and keeps it in the address", async () => {
    await open("unique/redundant");
    const hottest = page.getByRole("region", { name: /Most CPU/ }).getByRole("button").first();
    expect(await hottest.innerText()).toMatch(/GroupBy/);
    const scrubber = page.getByRole("slider", { name: "Moment of the run" });
    await scrubber.focus();
    await scrubber.press("ArrowLeft");
    await page.waitForURL(/t=1/);
    expect(await hottest.innerText()).toMatch(/MultiScan/);
    const address = page.url();
    await page.goto("about:blank");
    await page.goto(address);
    await page.getByText("until then").waitFor();
    expect(await hottest.innerText()).toMatch(/MultiScan/);
  });

  test("leads to the run before and after, and is compared with the usual one", async () => {
    await open("odd/same-shape-three-times", "?tab=history");
    const newest = new URL(page.url()).pathname;
    await page.getByRole("link", { name: "Previous run" }).and(page.locator("[href]")).waitFor();
    await page.keyboard.press("[");
    await page.waitForURL((url) => url.pathname !== newest && url.searchParams.get("tab") === "history");
    await page.getByRole("link", { name: "Next run" }).and(page.locator("[href]")).waitFor();
    await page.keyboard.press("]");
    await page.waitForURL((url) => url.pathname === newest);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("c");
    const account = page.getByRole("table", { name: "What the difference in wall time is made of" });
    await account.getByRole("row", { name: /^This run/ }).waitFor();
    expect(await account.getByRole("row").first().innerText()).toMatch(/^Before/);
    await page.getByText("Both ran the same plan.").waitFor();
    await page.goBack();
    await page.waitForURL(/tab=history/);
  });

  test("names a failure by its first line and keeps the whole text at hand", async () => {
    const failed = (await (await fetch(`${service.url}/api/queries?status=failed&limit=1`)).json()) as { query_id: string }[];
    await page.goto(`${service.url}/queries/${failed[0]?.query_id}`);
    await page.getByRole("heading", { level: 1, name: /^Failed after/ }).waitFor();
    await page.getByRole("button", { name: /Copy the error/ }).waitFor();
  });

  test("that is unknown says so", async () => {
    await page.goto(`${service.url}/queries/00000000-0000-7000-8000-000000000000`);
    await page.getByRole("heading", { name: "No query has this id" }).waitFor();
  });

  for (const scheme of ["light", "dark"] as const) {
    for (const width of [1280, 390]) {
      test(`has no fault that axe finds: ${scheme}, ${width} px`, async () => {
        await page.emulateMedia({ colorScheme: scheme });
        await page.setViewportSize({ width, height: 900 });
        for (const search of ["?node=4294967299&logical=1", "?tab=raw&view=table", "?tab=history", "?tab=compare"]) {
          await open("unique/redundant", search);
          await page.getByRole("tabpanel").waitFor();
          expect(await axe(), search).toEqual([]);
          expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), search).toBeLessThanOrEqual(0);
        }
      });
    }
  }
});

describe("a running query", () => {
  test("is followed, also when the stream is cut, and ends without being loaded anew", async () => {
    const [process = "", ...events] = captureLines("unique/redundant");
    const id = "01a1faa8-0000-76d1-a172-5b8e27e16a1f";
    const stream = "210de94c-0000-43f0-9cd3-2604c74dbeea";
    const lines = [process, ...events].map((line) => line
      .replaceAll(/210de94c-[0-9a-f-]+/g, stream).replaceAll(/01a1faa8-3f2b-[0-9a-f-]+/g, id)
      .replaceAll("unique/redundant", "live/one").replace(/"started_unix_ns":\d+,"wall/, `"started_unix_ns":${Date.now()}000000,"wall`));
    const [first = "", started = "", ...rest] = lines;
    await service.post([first, started]);
    await page.goto(`${service.url}/queries/${id}`);
    await page.getByRole("heading", { name: /^Running for 1 s/ }).waitFor();

    await service.post([first, rest[0] ?? ""]);
    await page.getByRole("heading", { name: /% of the CPU so far is in MultiScan #1/ }).waitFor();

    await context.setOffline(true);
    await page.getByText("The stream of this query is lost").waitFor({ timeout: 3 * OFFLINE_MS }).catch(() => undefined);
    await service.post([first, ...rest.slice(1)]);
    await context.setOffline(false);
    await page.getByRole("heading", { name: /^Finished in 1\.87 s.* GroupBy #3/ }).waitFor({ timeout: 30_000 });
    await page.getByRole("tab", { name: "Raw events" }).click();
    await page.getByText(`${lines.length} lines, as they were sent`).waitFor();
  });
});

test("an event that comes late takes its place without being there twice", async () => {
  const [process = "", started = "", ...rest] = captureLines("unique/redundant").map((line) => line
    .replaceAll(/210de94c-[0-9a-f-]+/g, "210de94c-0000-43f0-9cd3-2604c74dbeeb").replaceAll(/01a1faa8-3f2b-[0-9a-f-]+/g, "01a1faa8-0000-76d1-a172-5b8e27e16a2f"));
  await service.post([process, rest[0] ?? ""]);
  await page.goto(`${service.url}/queries/01a1faa8-0000-76d1-a172-5b8e27e16a2f?tab=raw`);
  await page.getByText("2 lines, as they were sent").waitFor();
  await service.post([process, started]);
  await page.getByText("3 lines, as they were sent").waitFor();
  const events = page.getByRole("listbox", { name: "Events" }).getByRole("option");
  expect((await events.allInnerTexts()).map((text) => text.split("\n")[1])).toEqual(["process", "started", expect.stringContaining("sample")]);
  await page.getByRole("heading", { name: /so far is in MultiScan #1/ }).waitFor();
});

describe("a file", () => {
  const recording = captureFiles().find((file) => file.endsWith("031.jsonl.gz")) ?? "";

  test("is opened without being stored", async () => {
    const asked: string[] = [];
    await page.goto(`${service.url}/open`);
    page.on("request", (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
    await page.getByLabel("Choose a file").setInputFiles(recording);
    await page.getByRole("heading", { name: /^Finished in 1\.87 s/ }).waitFor();
    expect(asked.filter((request) => request.startsWith("POST") || request.includes("/api/queries"))).toEqual([]);
    expect(await axe()).toEqual([]);
  });

  test("is opened where it is dropped, on any page", async () => {
    await page.goto(service.url);
    await page.getByRole("heading").first().waitFor();
    const bytes = [...readFileSync(recording)];
    await page.evaluate((content) => {
      const files = new DataTransfer();
      files.items.add(new File([new Uint8Array(content)], "mine.jsonl.gz"));
      for (const type of ["dragover", "drop"]) window.dispatchEvent(new DragEvent(type, { dataTransfer: files, bubbles: true, cancelable: true }));
    }, bytes);
    await page.getByRole("heading", { name: /^Finished in 1\.87 s/ }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/open");
  });

  test("that is no recording says what is wrong with it", async () => {
    await page.goto(`${service.url}/open`);
    await page.getByLabel("Choose a file").setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("hello") });
    await page.getByText("it holds no event and no profile").waitFor();
  });

  test("that was shared opens without a network and holds nothing that was masked", async () => {
    await open("unique/redundant");
    await page.getByRole("button", { name: "Share" }).click();
    const dialog = page.getByRole("dialog", { name: "Share this run as a file" });
    await dialog.getByText("What leaves").waitFor();
    expect(await dialog.innerText()).not.toMatch(/orders\.parquet|workload\.py|worker-1/);
    const [download] = await Promise.all([page.waitForEvent("download"), dialog.getByRole("button", { name: "Save the file" }).click()]);
    const file = await download.path();
    const text = readFileSync(file, "utf8");
    expect(text).not.toMatch(/orders\.parquet|workload\.py|worker-1|orders-etl|unique\/redundant/);

    await context.setOffline(true);
    await start();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    const html = `${file}.html`;
    await download.saveAs(html);
    await page.goto(`file://${html}`);
    await page.getByRole("heading", { name: /^Finished in 1\.87 s\. 69 % of the CPU is in GroupBy #3/ }).waitFor();
    await page.getByRole("slider", { name: "Moment of the run" }).press("ArrowLeft");
    await page.getByText("until then").waitFor();
    await page.getByText("Deduplication removes no rows").first().waitFor();
    expect(asked.filter((url) => !url.startsWith("file://"))).toEqual([]);
    expect(await axe()).toEqual([]);
  });
});

test("422 nodes are drawn whole and panned; prints how long a frame takes", async () => {
  await open("wide/concat-60-groupbys", "?show=100");
  const frame = page.getByRole("group", { name: /Picture of the plan/ });
  await page.getByRole("button", { name: "Fit" }).click();
  const box = await frame.boundingBox();
  expect(await page.locator("[data-box]").count()).toBe(422);
  if (!box) throw new Error("no picture");
  await page.evaluate(() => {
    const times: number[] = [];
    Object.assign(window, { frameTimes: times });
    let last = performance.now();
    requestAnimationFrame(function step(now) {
      times.push(now - last);
      last = now;
      requestAnimationFrame(step);
    });
  });
  await page.mouse.move(box.x + 300, box.y + 200);
  await page.mouse.down();
  for (let i = 0; i < 60; i += 1) await page.mouse.move(box.x + 300 + i * 3, box.y + 200 + i);
  await page.mouse.up();
  const times = await page.evaluate(() => (window as unknown as { frameTimes: number[] }).frameTimes.slice(2).sort((a, b) => a - b));
  console.log(`frames of panning 422 nodes: median ${times[Math.floor(times.length / 2)]?.toFixed(1)} ms, p95 ${times[Math.floor(times.length * 0.95)]?.toFixed(1)} ms of ${times.length}`);
  expect(node()).toBeNull();
});

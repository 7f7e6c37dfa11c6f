// What runs, where it is much: a table, late first, that holds still under a hand; swimlanes; what ends next.

import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { expectGood, launch, open, SCHEMES, type Looked, type Scheme, type Width } from "./browser";
import { ended, started } from "./senders";
import { Service } from "./service";

let service: Service;
let browser: Browser;
let page: Page;
let heartbeat: ReturnType<typeof setInterval> | undefined;
const running: { process: object; query_id: string; seq: number }[] = [];

/** Of which the first is late, and the second has a known time to go. */
const LABELS = ["run/late", "run/next", ...Array.from({ length: 12 }, (_, at) => `run/${at}`)];

beforeAll(async () => {
  [service, browser] = await Promise.all([Service.start(), launch()]);
  await service.send(...ended({ label: "run/late", runs: 9, wallMs: 100 }));
  await service.send(...ended({ label: "run/next", runs: 9, wallMs: 3_000_000 }));
  for (const [at, label] of LABELS.entries()) {
    const [process, event] = started({ label, host: at < 3 ? "host-a" : "host-b" });
    if (process === undefined || event === undefined) throw new Error("no run");
    await service.send(process, event);
    running.push({ process, query_id: (event as { query_id: string }).query_id, seq: 2 });
  }
  heartbeat = setInterval(() => void beat(), 10_000);
});

/** A run of which nothing is heard for a minute is unfinished: on a busy machine the tests take longer. */
async function beat(): Promise<void> {
  for (const run of running) {
    run.seq += 1;
    const { seq, query_id } = run;
    const event = { schema: "engine-telemetry/events@1", seq, type: "query.progress", query_id };
    await service.send(run.process, { ...event, elapsed_ms: 1000 * seq, nodes: {} }).catch(() => undefined);
  }
}
afterAll(async () => {
  clearInterval(heartbeat);
  await browser.close();
  await service.remove();
});
afterEach(() => page.context().close());

async function visit(path: string, scheme: Scheme = "light", width: Width = 1440): Promise<Looked> {
  const looked = await open(browser, service.url + path, scheme, width);
  page = looked.page;
  return looked;
}

const FOLDER = process.env["LOOK"];
const rows = (): Promise<string[]> => page.getByRole("table").locator("tbody th a").allInnerTexts();

test.each(SCHEMES.flatMap((scheme) => ([1440, 390] as Width[]).map((width) => [scheme, width] as const)))(
  "in %s, %d pixels wide, more than 12 stand in a table, and the late one first",
  { tags: ["firefox"] },
  async (scheme, width) => {
    const looked = await visit("/now", scheme, width);
    const line = /^14 running.*; run\/next should end in about [\d.]+ min.*; run\/late is past its usual time$/;
    await page.getByRole("heading", { level: 1, name: line }).waitFor();
    await expect.poll(async () => (await rows())[0], { timeout: 30_000 }).toBe("run/late");
    await page.getByRole("img", { name: /What ran in the last 15 minutes by service: etl \d+/ }).waitFor();
    await expectGood(looked);
    if (FOLDER !== undefined) await page.screenshot({ path: `${FOLDER}/now-${scheme}-${width}.png`, fullPage: true });
  },
);

test("it is sorted and grouped by choice, and the address keeps it", { tags: ["firefox"] }, async () => {
  await visit("/now");
  await page.getByRole("table").getByRole("link", { name: "Query" }).click();
  await expect.poll(rows, { timeout: 30_000 }).toEqual(LABELS.toSorted((a, b) => a.localeCompare(b)));
  await page.getByLabel("Group by").selectOption("host");
  await page.getByRole("rowheader", { name: /host-b 11 running/ }).waitFor();
  await page.getByRole("img", { name: /by host: / }).waitFor();
  expect(new URL(page.url()).search).toBe("?sort=label&group=host&as=table");
  await page.goBack();
  await page.goBack();
  await expect.poll(() => new URL(page.url()).search).toBe("");
});

test("rows keep their place under a hand, and what started meanwhile is told", async () => {
  await visit("/now");
  await expect.poll(async () => (await rows())[0], { timeout: 30_000 }).toBe("run/late");
  const before = await rows();
  await page.getByRole("table").locator("tbody tr").nth(5).hover();
  await service.send(...started({ label: "run/after" }));
  await page.getByText("1 started meanwhile").waitFor();
  expect(await rows()).toEqual(before);
  await page.mouse.move(5, 5);
  await expect.poll(rows, { timeout: 30_000 }).toContain("run/after");
});

test(
  "cards are shown by choice, and a drag over the lanes lists the runs of that time",
  { tags: ["firefox"] },
  async () => {
    await visit("/now?as=cards");
    await expect.poll(() => page.getByRole("article").count()).toBeGreaterThan(12);
    const picture = page.getByRole("img", { name: /What ran in the last 15 minutes/ });
    const box = await picture.boundingBox();
    if (box === null) throw new Error("no lanes");
    const y = box.y + 40;
    const drag = async (from: number, to: number): Promise<void> => {
      await page.mouse.move(box.x + box.width * from, y);
      await page.mouse.down();
      await page.mouse.move(box.x + (box.width * (from + to)) / 2, y);
      await page.mouse.move(box.x + box.width * to, y);
      await page.mouse.up();
    };
    // Nothing started then: there is nothing to list.
    await drag(0.2, 0.4);
    await page.waitForTimeout(300);
    expect(new URL(page.url()).pathname).toBe("/now");
    await drag(0.5, 0.999);
    await page.waitForURL(/\/queries\?view=runs&since=\d+&until=\d+$/);
  },
);

test("short runs of one query that follow each other take one row, which lists them", async () => {
  await service.send(...ended({ label: "run/short", runs: 5, wallMs: 10, agoMs: 2000, everyMs: 100 }));
  await visit("/now");
  const row = page.getByRole("region", { name: "Ended last" }).getByRole("listitem").first();
  await row.getByText("up to 10.3 ms").waitFor();
  await row.getByRole("link", { name: "run/short, 5 runs" }).click();
  await page.getByRole("heading", { level: 1, name: /^5 runs/ }).waitFor();
});

// One range of time for all pages, and a way back to the same place.

import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { expectGood, launch, open, SCHEMES, type Looked, type Scheme, type Width } from "./browser";
import { ended, slowed } from "./senders";
import { Service } from "./service";

let service: Service;
let browser: Browser;
let page: Page;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

beforeAll(async () => {
  [service, browser] = await Promise.all([Service.start(), launch()]);
  for (const batch of slowed({ label: "orders/report" })) await service.send(...batch);
  // One a day for 20 days, and many of one label for a list to scroll.
  await service.send(...ended({ label: "orders/daily", runs: 20, everyMs: 24 * HOUR_MS }));
  await service.send(...ended({ label: "orders/many", runs: 300, everyMs: 60_000 }));
  await service.changed(["orders/report"]);
});
afterAll(async () => {
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
const picker = (): ReturnType<Page["getByRole"]> => page.getByRole("button", { name: /^Time range: / });
const search = (): URLSearchParams => new URL(page.url()).searchParams;

test("a preset is chosen once and goes along from page to page", { tags: ["firefox"] }, async () => {
  await visit("/");
  await page.keyboard.press("t");
  await page.getByRole("link", { name: "Last 7 days" }).click();
  expect(search().get("days")).toBe("7");
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Queries" }).click();
  await page.getByRole("heading", { level: 1, name: /runs in 7 days/ }).waitFor();
  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Runs" }).click();
  await page.getByRole("heading", { level: 1, name: /^325 runs in 7 days/ }).waitFor();
  await page.getByRole("link", { name: "orders/report" }).first().click();
  await page.getByRole("heading", { level: 1, name: /^Finished in/ }).waitFor();
  expect(search().get("days")).toBe("7");
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Queries" }).click();
  await page.getByRole("heading", { level: 1, name: /in 7 days/ }).waitFor();
});

test("slices of seconds have their seconds", async () => {
  const until = BigInt(Date.now() - HOUR_MS) * 1_000_000n;
  await visit(`/queries?view=days&since=${until - 300_000_000_000n}&until=${until}`);
  const map = page.getByRole("region", { name: "Median time by 5 s" });
  await map.getByRole("link", { name: /^orders\/many/ }).waitFor();
  expect(await map.getByRole("columnheader").nth(1).innerText()).toMatch(/\d\d:\d\d:\d\d$/);
});

test("from one moment to another, earlier, later and out", { tags: ["firefox"] }, async () => {
  await visit("/queries?view=runs&label=orders%2Fdaily");
  await page.getByRole("heading", { level: 1, name: /^14 runs in 14 days match/ }).waitFor();
  await picker().click();
  // One clock for both times: a second that passes between them would be part of the range. Not at :00, which a browser
  // leaves out of what it was given.
  const now = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS + 30_000;
  const day = (ago: number): string => new Date(now - ago * 24 * HOUR_MS).toISOString().slice(0, 19);
  await page.getByLabel("From").fill(day(1));
  await page.getByLabel("To", { exact: true }).fill(day(5));
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await page.getByText("The first time must be before the second.").waitFor();
  await page.getByLabel("From").fill(day(5));
  await page.getByLabel("To", { exact: true }).fill(day(1));
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: /^4 runs from .* to .* match/ }).waitFor();
  const [since, until] = [BigInt(search().get("since") ?? 0), BigInt(search().get("until") ?? 0)];
  expect(Number(until - since) / 1e6).toBe(96 * HOUR_MS);
  await page.getByRole("button", { name: "Earlier" }).click();
  await expect.poll(() => BigInt(search().get("until") ?? 0)).toBe(since);
  await page.getByRole("button", { name: "2x", exact: true }).click();
  await expect
    .poll(() => Number(BigInt(search().get("until") ?? 0) - BigInt(search().get("since") ?? 0)) / 1e6)
    .toBe(192 * HOUR_MS);
  await page.goBack();
  await expect.poll(() => BigInt(search().get("until") ?? 0)).toBe(since);
});

test.each(SCHEMES.flatMap((scheme) => ([1440, 390] as Width[]).map((width) => [scheme, width] as const)))(
  "in %s, %d pixels wide, the picker is at hand",
  { tags: ["firefox"] },
  async (scheme, width) => {
    const looked = await visit("/labels/orders%2Freport?service=etl", scheme, width);
    await page.getByRole("slider", { name: /^Runs by time/ }).waitFor();
    await expectGood(looked);
    await picker().click();
    await page.getByRole("link", { name: "Last 1 hour" }).waitFor();
    await expectGood(looked);
    if (FOLDER !== undefined) await page.screenshot({ path: `${FOLDER}/range-${scheme}-${width}.png` });
  },
);

test("drawing across the chart of runs zooms, and opens no run", { tags: ["firefox"] }, async () => {
  await visit("/labels/orders%2Freport?service=etl");
  const chart = page.getByRole("slider", { name: /^Runs by time/ });
  await chart.locator("path.dots").first().waitFor();
  const marks = chart.locator("[data-marker]");
  expect(await marks.evaluateAll((all) => all.map((one) => one.getAttribute("data-marker")))).toEqual([
    "slower",
    "issue",
  ]);
  const box = await chart.boundingBox();
  if (box === null) throw new Error("no chart");
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.4, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, y, { steps: 4 });
  await page.mouse.move(box.x + box.width * 0.8, y, { steps: 4 });
  await page.mouse.up();
  await page.waitForURL(/\/labels\/.*since=\d+&until=\d+/);
  await picker().getByText("–").waitFor();
  await chart.locator("path.dots").first().waitFor();
  const before = page.url();
  await chart.press("-");
  await expect.poll(() => page.url()).not.toBe(before);
  expect(new URL(page.url()).pathname).toBe("/labels/orders%2Freport");
});

test(
  "back leads to the place of the page and of the list, and to the row that was opened",
  { tags: ["firefox"] },
  async () => {
    await visit("/queries?view=runs&label=orders%2Fmany");
    const table = page.getByRole("table");
    await table.getByRole("link").nth(3).waitFor();
    const scroller = page.locator("[data-scroll]").first();
    await scroller.evaluate((list) => (list.scrollTop = 3000));
    const row = page.locator('[data-at="72"] a');
    await row.waitFor();
    const href = await row.getAttribute("href");
    // A driver may scroll to what it clicks: the place to come back to is that of the click.
    await scroller.evaluate((list) =>
      list.addEventListener("click", () => Object.assign(window, { left: list.scrollTop }), { capture: true }),
    );
    await row.click();
    await page.getByRole("heading", { level: 1, name: /^Finished in/ }).waitFor();
    const left = await page.evaluate(() => (window as unknown as { left: number }).left);
    expect(left).toBeGreaterThan(2500);
    await page.goBack();
    await expect.poll(() => scroller.evaluate((list) => list.scrollTop), { timeout: 30_000 }).toBe(left);
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute("href")), { timeout: 30_000 })
      .toBe(href);
  },
);

test("back leads to the place of a long page", { tags: ["firefox"] }, async () => {
  await visit("/labels/orders%2Fmany?service=etl");
  await page
    .getByRole("region", { name: /^Runs and their/ })
    .getByRole("table")
    .waitFor();
  await page.evaluate(() => {
    scrollTo(0, 600);
    addEventListener("click", () => Object.assign(window, { left: scrollY }), { capture: true });
  });
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Home" }).click();
  await page.getByRole("heading", { name: "Where the time went" }).waitFor();
  expect(await page.evaluate(() => scrollY)).toBe(0);
  const left = await page.evaluate(() => (window as unknown as { left: number }).left);
  expect(left).toBeGreaterThan(100);
  await page.goBack();
  await expect.poll(() => page.evaluate(() => scrollY), { timeout: 30_000 }).toBe(left);
});

test("no text is smaller than 12 pixels", async () => {
  for (const path of ["/", "/now", "/queries", "/queries?view=places", "/labels/orders%2Freport?service=etl"]) {
    await visit(path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    // What comes after the first answers: a page that follows a stream is never idle.
    await page.waitForTimeout(500);
    const small = await page.evaluate(() => {
      const found: string[] = [];
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const size = Number.parseFloat(getComputedStyle(node.parentElement as Element).fontSize);
        if ((node.textContent ?? "").trim() !== "" && size < 12) found.push(`${size}: ${node.textContent}`);
      }
      return found;
    });
    expect(small, path).toEqual([]);
    if (path !== "/labels/orders%2Freport?service=etl") await page.context().close();
  }
});

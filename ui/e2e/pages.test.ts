import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectGood, launch, open, SCHEMES, type Width } from "./browser";
import { Service } from "./service";

let service: Service;
let browser: Browser;

beforeAll(async () => {
  [service, browser] = await Promise.all([Service.start(), launch()]);
  await service.fillWithDemo();
});

afterAll(async () => {
  await browser.close();
  await service.remove();
});

const SLOWER = "/labels/orders%2Fdaily-revenue";
// The history is made up anew each time: one in forty has a label of few runs that chance made faster, or slower.
const PAGES = [
  { path: "/", line: /\d (query is|queries are) slower than usual, 1 fails since .*; \d (is|are) faster, \d+ run as usual/, shows: "orders/daily-revenue" },
  { path: "/now", line: /Nothing is running/, shows: "Ended last" },
  { path: "/queries", line: /\d+ queries, .* runs in 14 days; orders\/daily-revenue took \d+ % of the time/, shows: /[12]\.\dx slower/ },
  { path: "/queries?view=runs", line: /queries/, shows: "Wall time" },
  { path: "/queries?view=days", line: /queries/, shows: "Median of the day" },
  { path: "/queries?view=places", line: /queries/, shows: "Environments" },
  { path: SLOWER, line: /[12]\.\dx slower than usual since .* \(usually .*, n = \d+\): the plan changed/, shows: /2\.\dx slower than A/ },
];

/** Where to write the screenshots of the documentation: `SCREENSHOTS=../docs/screenshots npm run e2e`. */
const FOLDER = process.env["SCREENSHOTS"];
const KEPT: Record<string, string> = {
  "light 1280 /": "home",
  "light 1280 /queries": "queries",
  "light 1280 /queries?view=days": "days",
  [`dark 1280 ${SLOWER}`]: "query",
  "dark 390 /": "home-phone",
};

describe.each(SCHEMES)("in %s", (scheme) => {
  describe.each([1280, 390] as Width[])("%d pixels wide", (width) => {
    test.each(PAGES)("$path answers its question in its first line", async ({ path, line, shows }) => {
      const looked = await open(browser, service.url + path, scheme, width);
      await looked.page.getByRole("heading", { level: 1, name: line }).waitFor();
      await looked.page.getByText(shows).filter({ visible: true }).first().waitFor();
      const kept = KEPT[`${scheme} ${width} ${path}`];
      if (FOLDER !== undefined && kept !== undefined) await looked.page.screenshot({ path: `${FOLDER}/${kept}.png` });
      await expectGood(looked);
      await looked.page.context().close();
    });
  });
});

test("the cause of what became slower is one click from the first page", async () => {
  const looked = await open(browser, service.url);
  const { page } = looked;
  await page.getByRole("article").filter({ hasText: "slower" }).getByRole("link", { name: "orders/daily-revenue" }).click();
  await page.getByRole("heading", { level: 1, name: /the plan changed/ }).waitFor();
  await page.getByText("Filter predicate valid_until IS NULL now reads HashJoin on product_id").waitFor();
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: /slower than usual/ }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/");
  await page.context().close();
});

test("the address holds the filters, and back takes them away again", async () => {
  const { page } = await open(browser, `${service.url}/queries?view=runs`);
  await page.getByRole("link", { name: /^failed/ }).click();
  await page.getByText(/tax_rate/).first().waitFor();
  await page.getByRole("link", { name: /^billing/ }).first().click();
  await page.getByRole("list", { name: "Filters" }).getByText("service: billing").waitFor();
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ view: "runs", status: "failed", service: "billing" });
  await page.goBack();
  await page.getByText("service: billing").waitFor({ state: "detached" });
  await page.reload();
  await page.getByText("status: failed").waitFor();
  await page.context().close();
});

test("a filter that matches nothing names the one that removes most", async () => {
  const { page } = await open(browser, `${service.url}/queries?view=runs&service=billing&host=gpu-1`);
  await page.getByText("Nothing matches all filters.").waitFor();
  await page.getByText(/“gpu-1” removes most: without it there are 4\d\d queries\./).waitFor();
  await page.getByRole("link", { name: "Remove it" }).click();
  await page.getByRole("table").waitFor();
  await page.context().close();
});

test("the keyboard finds, goes from row to row and opens", async () => {
  const { page } = await open(browser, `${service.url}/queries`);
  await page.getByRole("table", { name: "Queries by label" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("reports");
  await page.getByRole("link", { name: "orders/daily-revenue" }).waitFor({ state: "detached" });
  const rows = page.getByRole("table").getByRole("link", { name: /^reports\// });
  await rows.first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  const second = await rows.nth(1).innerText();
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(second);
  await page.keyboard.press("Enter");
  await page.getByText(second).first().waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.context().close();
});

test("theme and zone are kept", async () => {
  const { page } = await open(browser, `${service.url}/queries?view=runs`, "light");
  await page.getByRole("button", { name: "Theme: auto" }).click();
  await page.getByRole("button", { name: "Theme: light" }).click();
  await page.getByRole("button", { name: "Times: Local" }).click();
  await page.reload();
  await page.getByRole("button", { name: "Theme: dark" }).waitFor();
  expect(await page.locator("time").first().getAttribute("title")).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{9} UTC$/);
  await page.context().close();
});

test("a view is saved under a name", async () => {
  const { page } = await open(browser, `${service.url}/queries?sort=failed`);
  await page.getByText("Views", { exact: true }).click();
  await page.getByLabel("Name for this view").fill("Most failures");
  await page.getByRole("button", { name: "Save" }).click();
  await page.goto(`${service.url}/queries`);
  await page.getByText("Views", { exact: true }).click();
  await page.getByRole("link", { name: "Most failures" }).click();
  expect(new URL(page.url()).search).toBe("?sort=failed");
  await page.context().close();
});

test("the chart goes from run to run by the keyboard and opens one", async () => {
  const { page } = await open(browser, service.url + SLOWER);
  const chart = page.getByRole("slider", { name: "Runs by time and wall time" });
  await expect.poll(() => chart.getAttribute("aria-valuetext")).toBe("336 runs");
  await chart.focus();
  await page.keyboard.press("End");
  expect(await chart.getAttribute("aria-valuetext")).toMatch(/ s on .*, plan B$/);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/queries\/[0-9a-f-]{36}$/);
  await page.context().close();
});

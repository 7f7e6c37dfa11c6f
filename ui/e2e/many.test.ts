import { expect, test } from "vitest";
import { open } from "./browser";
import { browser, service, setStage } from "./captures";

const QUERIES = 100_000;

setStage(async () => {
  await service.fillWithMany(QUERIES);
});

test("100,000 queries scroll, each once, with only those in sight in the page", async () => {
  const { page, problems } = await open(browser, `${service.url}/queries?view=runs&days=90`);
  const table = page.getByRole("table");
  await page.getByText(/of 100,000 runs/).waitFor();
  expect(Number(await table.getAttribute("aria-rowcount"))).toBe(QUERIES + 1);
  await page.locator('[data-at="1"] a[href]').focus();
  // The end of what is loaded brings the next page, so the end moves on until all is there.
  await expect
    .poll(
      async () => {
        await page.keyboard.press("End");
        return page.locator("[data-at]").last().getAttribute("data-at");
      },
      { timeout: 120_000, interval: 50 },
    )
    .toBe(String(QUERIES - 1));
  expect(await page.locator("[data-at]").count()).toBeLessThan(80);
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.closest("[data-at]")?.getAttribute("data-at")))
    .toBe(String(QUERIES - 1));
  await page.keyboard.press("Home");
  await page.locator('[data-at="0"]').waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
}, 180_000);

test("2,000 labels sort and are found", async () => {
  const { page } = await open(browser, `${service.url}/queries?days=90`);
  await page.getByRole("heading", { level: 1, name: /2 k queries|1\.\d+ k queries/ }).waitFor();
  expect(await page.getByRole("row").count()).toBeLessThan(80);
  await page.getByRole("columnheader", { name: "Query" }).getByRole("link").click();
  const names = await page.getByRole("table").locator("[data-at] a").allInnerTexts();
  expect(names).toEqual(names.toSorted((a, b) => a.localeCompare(b)));
  await page.context().close();
}, 60_000);

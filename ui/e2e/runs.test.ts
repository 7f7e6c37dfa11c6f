// The list of runs: sorted by its headings, filtered in words, with columns of choice, exported.

import { expect, test } from "vitest";
import { open } from "./browser";
import { browser, service, setStage } from "./captures";

setStage((service) => service.fillWithDemo());

async function slowest(params: string): Promise<string> {
  const answer = await fetch(`${service.url}/api/queries?limit=1&${params}`);
  const [first] = (await answer.json()) as { query_id: string }[];
  return first?.query_id ?? "";
}

test("a list takes the width of a large screen", { tags: ["firefox"] }, async () => {
  for (const path of ["/queries?view=runs", "/queries", "/queries?view=days", "/queries?view=places"]) {
    const { page } = await open(browser, service.url + path, "light", 1920);
    await page.getByText("orders/daily-revenue").or(page.getByText("Environments")).first().waitFor();
    const content = page.locator(".content");
    const right = await content.evaluate((element) => element.getBoundingClientRect().right);
    expect(right, path).toBeGreaterThan(1850);
    await page.context().close();
  }
});

test("services are compared, and lead to their runs and to what got worse", { tags: ["firefox"] }, async () => {
  const { page } = await open(browser, `${service.url}/queries?view=places&days=7`);
  const services = page.getByRole("region", { name: "Services" });
  const row = (name: string) => services.getByRole("row").filter({ hasText: name });
  // Fewer queries are slow in the seven days before.
  await row("orders-etl")
    .getByText(/^\d\.\dx$/)
    .waitFor();
  const names = (): Promise<string[]> => services.locator("tbody th").allInnerTexts();
  await services.getByRole("link", { name: "% failed" }).click();
  await expect.poll(names).toEqual(expect.arrayContaining(["billing"]));
  await expect.poll(async () => (await names())[0]).toBe("billing");
  await services.getByRole("link", { name: "% failed" }).click();
  await expect.poll(async () => (await names()).at(-1)).toBe("billing");
  const worse = row("orders-etl").locator("a.slow");
  expect(await worse.innerText()).toBe("1");
  await worse.click();
  await page.getByText("only what changed").waitFor();
  expect(new URL(page.url()).searchParams.get("service")).toBe("orders-etl");
  await page.goBack();
  await row("orders-etl").getByRole("cell").first().getByRole("link").click();
  await page.getByRole("heading", { level: 1, name: /runs in 7 days/ }).waitFor();
  expect(new URL(page.url()).searchParams.get("view")).toBe("runs");
  await page.context().close();
});

test("where nothing ran in the time before, no column is against it", async () => {
  const since = BigInt(Date.now() - 20 * 86_400_000) * 1_000_000n;
  const { page } = await open(browser, `${service.url}/queries?view=places&since=${since}`);
  const services = page.getByRole("region", { name: "Services" });
  await services.getByRole("columnheader", { name: "Busy time" }).waitFor();
  expect(await services.getByRole("columnheader", { name: "Against before" }).count()).toBe(0);
  await page.context().close();
});

test("a day is shown by hours, each with its runs", async () => {
  const { page } = await open(browser, `${service.url}/queries?view=days&days=1`);
  const map = page.getByRole("region", { name: "Median time by 1 h" });
  const hours = map.getByRole("row").filter({ hasText: "orders/ingest-events" }).getByRole("link");
  await hours.nth(20).waitFor();
  await hours.nth(12).click();
  await page.getByRole("heading", { level: 1, name: /^\d runs? from .* match the filters$/ }).waitFor();
  await page.context().close();
});

test("a list that is gone may be told of a scroll", async () => {
  const { page, problems } = await open(browser, `${service.url}/queries?view=runs`);
  const list = await page.locator("[data-scroll]").elementHandle();
  await page.locator("[data-at] a[href]").first().click();
  await page.getByRole("tablist").waitFor();
  await list?.evaluate((gone) => gone.dispatchEvent(new Event("scroll")));
  expect(problems).toEqual([]);
  await page.context().close();
});

test("a heading sorts, and turns around", { tags: ["firefox"] }, async () => {
  const { page, problems } = await open(browser, `${service.url}/queries?view=runs`);
  const heading = page.getByRole("columnheader", { name: "Wall time" });
  for (const [sorted, params] of [
    ["descending", "sort=wall&order=desc"],
    ["ascending", "sort=wall&order=asc"],
  ] as const) {
    await heading.getByRole("link").click();
    await page.locator(`[role=columnheader][aria-sort=${sorted}]`, { hasText: "Wall time" }).waitFor();
    const id = await slowest(params);
    await page.locator(`[data-at="0"] a[href*="${id}"]`).waitFor();
  }
  expect(new URL(page.url()).search).toBe("?view=runs&sort=wall&order=oldest");
  expect(problems).toEqual([]);
  await page.context().close();
});

test("a filter in words is completed, and a mistake has its place under the field", { tags: ["firefox"] }, async () => {
  const { page } = await open(browser, `${service.url}/queries?view=runs`);
  const field = page.getByRole("combobox", { name: "Search" });
  await field.fill("status:fai");
  await expect.poll(() => page.locator("#words-options option").evaluateAll((all) => all.length)).toBe(1);
  expect(await page.locator("#words-options option").getAttribute("value")).toBe("status:failed");
  await field.fill("status:failed wall>10");
  const alert = page.getByRole("alert").filter({ hasText: '"10" is not a duration such as 500ms' });
  await alert.waitFor();
  expect(await alert.locator("mark").innerText()).toBe("10");
  await page.getByRole("heading", { level: 1, name: "The filter cannot be read" }).waitFor();
  expect(await page.getByText("is not a duration such as").count()).toBe(1);
  await field.fill("status:failed wall>1ms");
  await alert.waitFor({ state: "detached" });
  await page
    .getByText(/tax_rate/)
    .first()
    .waitFor();
  await page.context().close();
});

test("a search says how many runs match where they are counted, and why there is no chart where not", async () => {
  const { page } = await open(browser, `${service.url}/queries?view=runs&q=wall>1s`);
  await page.getByRole("heading", { level: 1, name: /^[\d.]+ k runs in 14 days match "wall>1s"$/ }).waitFor();
  await page.getByText(/the first 200\s+of \d,\d{3} runs/).waitFor();
  await page.getByRole("combobox", { name: "Search" }).fill("orders");
  await page.getByRole("heading", { level: 1, name: /^More than 200 runs/ }).waitFor();
  await page.getByText("No chart of a search for words, an engine or an error text.").waitFor();
  await page.context().close();
});

test("a menu closes by Esc, and by a click elsewhere", { tags: ["firefox"] }, async () => {
  const { page } = await open(browser, `${service.url}/queries?view=runs`);
  const opened = page.locator("details[open]").filter({ has: page.locator("summary.button") });
  for (const name of ["Columns", "Export", "Views"]) {
    const button = page.getByText(name, { exact: true });
    await button.click();
    expect(await opened.count()).toBe(1);
    await page.keyboard.press("Escape");
    expect(await opened.count()).toBe(0);
    await button.click();
    await page.getByRole("heading", { level: 1 }).click();
    expect(await opened.count()).toBe(0);
  }
  await page.context().close();
});

test("columns are chosen and kept, and what is listed is exported", { tags: ["firefox"] }, async () => {
  const { page } = await open(browser, `${service.url}/queries?view=runs&q=status:failed&service=billing`);
  await page.getByText("Columns", { exact: true }).click();
  await page.getByRole("checkbox", { name: "Busy time" }).uncheck();
  await page.getByRole("checkbox", { name: "Environment" }).check();
  await page.reload();
  await page.getByRole("columnheader", { name: "Environment" }).waitFor();
  expect(await page.getByRole("columnheader", { name: "Busy time" }).count()).toBe(0);
  await page.getByText("Export", { exact: true }).click();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "CSV", exact: true }).click(),
  ]);
  expect(file.suggestedFilename()).toBe("runs.csv");
  const listed = await fetch(`${service.url}/api/queries?limit=1000&status=failed&service=billing`);
  const lines = await fetch(new URL(file.url())).then((answer) => answer.text());
  expect(lines.trimEnd().split("\r\n").length).toBe(((await listed.json()) as unknown[]).length + 1);
  await page.context().close();
});

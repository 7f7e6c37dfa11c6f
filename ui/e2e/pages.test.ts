import { describe, expect, test } from "vitest";
import { expectGood, open, SCHEMES, type Width } from "./browser";
import { browser, runPath, service, setStage } from "./captures";

setStage((service) => service.fillWithDemo());

const SLOWER = "/labels/orders%2Fdaily-revenue";
// The history is made up anew each time: one in forty has a label of few runs that chance made faster, or slower.
const PAGES = [
  {
    path: "/",
    shows: "orders/daily-revenue",
    line: /orders\/daily-revenue is 2\.\dx slower since|\d queries are slower/,
  },
  { path: "/now", line: /Nothing is running/, shows: "Ended last" },
  {
    path: "/queries",
    shows: /[12]\.\dx slower/,
    line: /\d+ queries, .* runs in 14 days; orders\/daily-revenue took \d+ % of their time/,
  },
  {
    path: "/queries?view=runs",
    line: /^[\d.]+ k runs in 14 days, \d+ failed, \d+ cancelled(, \d+ unfinished)?$/,
    shows: "Wall time",
  },
  { path: "/queries?view=days", line: /queries/, shows: "Median of the day" },
  { path: "/queries?view=days&hours=6", line: /queries/, shows: "Medians of 5 min" },
  {
    path: "/queries?view=places",
    shows: "Environments",
    line: /^\d services, \d environments and \d+ hosts; .* runs in 14 days(, \d+ % of their time in [-\w]+)?$/,
  },
  { path: SLOWER, shows: /2\.\dx the time of A/, line: /^2\.\dx slower since .* \(.* in \d+ runs, before .* in \d+\)/ },
];

/** Where to write the screenshots of the documentation: `SCREENSHOTS=../docs/screenshots npm run e2e pages`. */
const FOLDER = process.env["SCREENSHOTS"];
const KEPT: Record<string, string> = {
  "light 1280 /": "home",
  "light 1280 /queries": "queries",
  "dark 1280 /queries?view=days": "days",
  [`light 1280 ${SLOWER}`]: "query",
  "dark 1280 run": "run",
  "light 390 run": "run-phone",
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

    test("the run of a slower plan says so, and is compared with the plan before", async () => {
      const newest = await runPath(service, "orders/daily-revenue");
      const looked = await open(browser, service.url + newest, scheme, width);
      const { page } = looked;
      const line = /^Finished in .* its usual time .* HashJoin #3, which puts out 9\.6x its larger input/;
      await page.getByRole("heading", { level: 1, name: line }).waitFor();
      await page.getByText(/Its query is 2\.\dx slower.* since/).waitFor();
      await page.getByRole("slider", { name: "Moment of the run" }).press("ArrowLeft");
      await page.getByText(/threads busy$/).waitFor();
      const kept = KEPT[`${scheme} ${width} run`];
      if (FOLDER !== undefined && kept !== undefined) {
        await page.evaluate(() => scrollTo(0, 0));
        await page.screenshot({ path: `${FOLDER}/${kept}.png`, fullPage: true });
      }
      await expectGood(looked);
      await page.getByRole("link", { name: "Compare with before" }).click();
      await page.getByText(/Largest increase: plan change/).waitFor();
      await page.getByText("Reads from Scan of price_history instead of Filter", { exact: true }).waitFor();
      await expectGood(looked);
      await page.context().close();
    });
  });
});

test("while nothing runs, Now tells of the runs that ended, and Home of those that started last", async () => {
  const { page } = await open(browser, `${service.url}/now`, "light", 1440);
  const rows = page.getByRole("region", { name: "Ended last" }).getByRole("listitem");
  await expect.poll(() => rows.count()).toBe(20);
  await rows
    .filter({ hasText: /\dx usual \(/ })
    .first()
    .waitFor();
  await page.getByRole("searchbox", { name: "Find a run" }).fill("zzzz");
  await page.getByText(/^Nothing that ended last has “zzzz”/).waitFor();
  await page.getByRole("searchbox", { name: "Find a run" }).fill("");
  await page.getByRole("link", { name: "Home", exact: true }).click();
  await page
    .getByRole("region", { name: /^Running now/ })
    .getByText("finished")
    .first()
    .waitFor();
  await page.context().close();
});

test("the list of issues asks for no list of failed runs, and has the error of a query that fails", async () => {
  const { page } = await open(browser, "about:blank");
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(`${service.url}/issues?kind=failing`);
  await page
    .getByText(/schema error: column `tax_rate`/)
    .first()
    .waitFor();
  expect(asked.filter((url) => /\/api\/queries\?/.test(url))).toEqual([]);
  await page.context().close();
});

/** The texts that do not fit where they stand. */
function cut(all: Element[]): (string | null)[] {
  return all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent);
}

test("the plan table says every node's kind in full, beside the logical plan, too", async () => {
  const path = await runPath(service, "orders/daily-revenue");
  const { page } = await open(browser, `${service.url}${path}?view=table&logical=1`);
  const kinds = page.getByRole("treegrid", { name: "Plan" }).locator("strong");
  await kinds.first().waitFor();
  expect(await kinds.allInnerTexts()).toContain("HashAggregate");
  expect(await kinds.evaluateAll(cut)).toEqual([]);
  await page.context().close();
});

test("no figure on the first page is cut", async () => {
  const { page } = await open(browser, service.url);
  const told = page.getByRole("region", { name: /^As usual/ }).getByText(/, usually/);
  await told.first().waitFor();
  expect(await told.evaluateAll(cut)).toEqual([]);
  await page.context().close();
});

test("by day, a phone shows today first and keeps the names in sight", async () => {
  const { page } = await open(browser, `${service.url}/queries?view=days`, "light", 390);
  const [map, rows] = [page.getByRole("region", { name: "Median time by day" }), page.getByRole("row")];
  const box = await map.boundingBox();
  const ends = {
    name: await rows.nth(1).getByRole("rowheader").boundingBox(),
    today: await rows.first().getByRole("columnheader").last().boundingBox(),
  };
  if (!box || !ends.name || !ends.today) throw new Error("no map");
  expect(ends.name.x).toBeGreaterThanOrEqual(box.x);
  expect(ends.today.x + ends.today.width).toBeLessThanOrEqual(box.x + box.width);
  await page.context().close();
});

test("a number that is copied alone is copied with all its digits", async () => {
  const { page } = await open(browser, `${service.url}/queries`);
  const usual = page.getByRole("row").nth(1).getByRole("cell").nth(1);
  await usual.locator("[data-exact]").first().waitFor();
  const copied = await usual
    .locator("[data-exact]")
    .first()
    .evaluate((number) => {
      getSelection()?.selectAllChildren(number);
      const event = new ClipboardEvent("copy", { clipboardData: new DataTransfer(), bubbles: true, cancelable: true });
      number.dispatchEvent(event);
      return event.clipboardData?.getData("text/plain");
    });
  expect(copied).toMatch(/^\d[\d,]*\.\d+ ms$/);
  await page.context().close();
});

test("an address that leads nowhere shows a page that leads on", async () => {
  const looked = await open(browser, `${service.url}/nowhere`);
  await looked.page.getByRole("heading", { level: 1, name: "There is nothing at /nowhere" }).waitFor();
  await expectGood({ ...looked, problems: looked.problems.filter((problem) => !problem.includes("404")) });
  await looked.page.getByRole("main").getByRole("link", { name: "Queries" }).click();
  await looked.page.getByRole("heading", { level: 1, name: /queries/ }).waitFor();
  await looked.page.context().close();
});

test("the cause of what became slower is one click from the first page", async () => {
  const looked = await open(browser, service.url);
  const { page } = looked;
  const card = page.getByRole("article").filter({ hasText: "orders/daily-revenue" });
  await card.getByRole("link", { name: "orders/daily-revenue" }).click();
  await page.getByRole("heading", { level: 1, name: /^2\.\dx slower since/ }).waitFor();
  await page.getByText("The filter on valid_until now runs after the join HashJoin #3").waitFor();
  const panel = page.getByRole("region", { name: /^slower .* since/ });
  await panel.getByRole("list", { name: "Causes" }).getByText("Plan change", { exact: true }).waitFor();
  await panel.getByRole("link", { name: /^Compare a typical run since/ }).click();
  await page.getByText("Reads from Scan of price_history instead of Filter", { exact: true }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: /^2\.\dx slower since/ }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: /slower since|queries are slower/ }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/");
  await page.context().close();
});

test("the address holds the filters, and back takes them away again", async () => {
  const { page } = await open(browser, `${service.url}/queries?view=runs`);
  await page.getByRole("link", { name: /^failed/ }).click();
  await page
    .getByText(/tax_rate/)
    .first()
    .waitFor();
  await page
    .getByRole("link", { name: /^billing/ })
    .first()
    .click();
  await page.getByRole("list", { name: "Filters" }).getByText("service: billing").waitFor();
  const given = Object.fromEntries(new URL(page.url()).searchParams);
  expect(given).toEqual({ view: "runs", status: "failed", service: "billing" });
  await page.goBack();
  await page.getByText("service: billing").waitFor({ state: "detached" });
  await page.reload();
  await page.getByText("status: failed").waitFor();
  await page.context().close();
});

test("a filter that matches nothing names the one that removes most", async () => {
  const { page } = await open(browser, `${service.url}/queries?view=runs&service=billing&host=gpu-1`);
  await page.getByText("Nothing matches all filters.").waitFor();
  await page.getByText(/“gpu-1” removes most: without it 4\d\d runs match\./).waitFor();
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
  await page.setViewportSize({ width: 1280, height: 500 });
  await page.keyboard.press("?");
  const keys = page.getByRole("dialog", { name: "Keys" });
  await keys.waitFor();
  expect(await keys.locator(":focus").innerText()).toBe("Close");
  expect(await keys.evaluate((dialog) => [dialog.scrollTop, dialog.scrollHeight > dialog.clientHeight])).toEqual([
    0,
    true,
  ]);
  await page.keyboard.press("Escape");
  await page.context().close();
});

test("g and a letter open a page with the range of this one", { tags: ["firefox"] }, async () => {
  const { page } = await open(browser, `${service.url}/?days=7`);
  for (const [letter, path] of [
    ["n", "/now"],
    ["q", "/queries"],
    ["i", "/issues"],
    ["s", "/settings"],
    ["h", "/"],
  ] as const) {
    await page.keyboard.press("g");
    await page.keyboard.press(letter);
    await page.waitForURL(`${service.url}${path}?days=7`);
  }
  // A letter alone, or in a field, opens nothing.
  await page.keyboard.press("n");
  await page.goto(`${service.url}/queries`);
  await page.getByRole("searchbox", { name: "Search" }).fill("");
  await page.keyboard.type("gn");
  await page.waitForURL(/q=gn/);
  await page.context().close();
});

test.each(SCHEMES)("in %s, Ctrl+K opens what words name", { tags: ["firefox"] }, async (scheme) => {
  for (const width of [1280, 390] as Width[]) {
    const looked = await open(browser, service.url, scheme, width);
    const { page } = looked;
    await page.getByRole("heading", { level: 1, name: /slower/ }).waitFor();
    const dialog = page.getByRole("dialog", { name: "Go to" });
    const field = dialog.getByRole("combobox");
    const choice = (name: string | RegExp) => dialog.getByRole("option", { name, selected: true });
    await page.getByRole("heading", { name: "Where the time went" }).click();
    await page.keyboard.press("Control+k");
    await choice("Home g h").waitFor();
    await field.fill("revenue ORDERS");
    await choice("orders/daily-revenue orders-etl").waitFor();
    await dialog.getByRole("option", { name: "orders/daily-revenue issue: slower" }).waitFor();
    await expectGood(looked);
    await page.keyboard.press("ArrowUp");
    await choice("Search queries for “revenue ORDERS”").waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/labels\/orders%2Fdaily-revenue\?service=orders-etl$/);
    await dialog.waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await field.fill("iss");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await field.fill("zzzz");
    await choice("Search queries for “zzzz”").waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("The search “zzzz” removes most").waitFor();
    await page.context().close();
  }
});

test("a phone has the header in one row, and what does not fit in a menu", { tags: ["firefox"] }, async () => {
  const looked = await open(browser, `${service.url}/settings`, "light", 390);
  const { page } = looked;
  const header = page.getByRole("banner");
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
  expect((await header.boundingBox())?.height).toBeLessThan(52);
  const theme = header.getByRole("button", { name: /^Theme/ });
  expect(await theme.isVisible()).toBe(false);
  await header.getByRole("button", { name: "More" }).click();
  await theme.waitFor();
  const shown = header.getByRole("button").or(header.getByRole("link")).filter({ visible: true });
  const heights = await shown.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
  expect(Math.min(...heights)).toBeGreaterThanOrEqual(44);
  await expectGood(looked);
  await header.getByRole("link", { name: "Open a file" }).click();
  await page.waitForURL(/\/open$/);
  await theme.waitFor({ state: "hidden" });
  await page.context().close();
});

test("theme and zone are kept", async () => {
  const { page } = await open(browser, `${service.url}/queries?view=runs`, "light");
  await page.getByRole("button", { name: "Theme: auto" }).click();
  await page.getByRole("button", { name: "Theme: light" }).click();
  await page.getByRole("button", { name: "Times: Local" }).click();
  await page.reload();
  await page.getByRole("button", { name: "Theme: dark" }).waitFor();
  const exact = await page.locator("time").first().getAttribute("title");
  expect(exact).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{9} UTC$/);
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
  // One an hour for two weeks; the first may have left the range since the history was made, and the last may not have
  // ended by then.
  await expect.poll(() => chart.getAttribute("aria-valuetext")).toMatch(/^33[456] runs$/);
  await chart.focus();
  await page.keyboard.press("End");
  await expect.poll(() => chart.getAttribute("aria-valuetext")).toMatch(/ s on .*, plan B$/);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/queries\/[0-9a-f-]{36}$/);
  await page.context().close();
});

import type { Page } from "playwright-core";
import { afterEach, describe, expect, test } from "vitest";
import { expectGood, open as openPage, SCHEMES, type Width } from "./browser";
import { browser, importCaptures, runPath, service, setStage } from "./captures";

let page: Page;

setStage(importCaptures);
afterEach(() => page.context().close());

async function open(label: string, search = ""): Promise<void> {
  ({ page } = await openPage(browser, service.url + (await runPath(service, label)) + search));
  await page.getByRole("heading", { level: 1 }).waitFor();
}

const firstLine = async (): Promise<string> =>
  (await page.getByRole("heading", { level: 1 }).innerText()).replaceAll("\u00a0", " ");
const hasNode = (id: string): Promise<void> => page.waitForURL((url) => url.searchParams.get("node") === id);

test("says in its first line how it went and where the time is", async () => {
  await open("join/exploding");
  expect(await firstLine()).toMatch(
    /^Finished in 39 ms.* 97 % of the CPU is in EquiJoin #4, which puts out 600x its larger input\.$/,
  );
});

test("what stands beside when it started is whole", { tags: ["firefox"] }, async () => {
  ({ page } = await openPage(browser, service.url + (await runPath(service, "join/exploding")), "light", 1440));
  const place = page.locator(".site .cut");
  await place.filter({ hasText: "worker-1" }).waitFor();
  expect(await place.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBeLessThanOrEqual(0);
});

test("is walked with the keyboard alone", { tags: ["firefox"] }, async () => {
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
  await page.keyboard.press("Escape");
  await page.getByRole("group", { name: /Picture of the plan/ }).focus();
  await page.keyboard.press("ArrowUp");
  await hasNode("4294967298");
  await page.keyboard.press("ArrowDown");
  await hasNode("4294967297");
  await page.keyboard.press("c");
  await page.waitForURL(/tab=compare/);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
});

test("is a treegrid for those who cannot see the picture", async () => {
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
  await page.getByRole("slider", { name: /% of the / }).press("End");
  await page.waitForURL(/show=100/);
  await page.getByText("287 nodes", { exact: true }).waitFor();
});

test("shows the moment that is replayed, and keeps it in the address", async () => {
  // Its nodes worked for longer than its cores can: their time is no CPU time.
  await open("unique/redundant");
  const hottest = page
    .getByRole("region", { name: /Most busy time/ })
    .getByRole("button")
    .first();
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
  await page.getByText("Both ran the same plan, as far as the engine describes it.").waitFor();
  await page.goBack();
  await page.waitForURL(/tab=history/);
});

test("says why it failed, and shows the whole error below", async () => {
  const failed = (await (await fetch(`${service.url}/api/queries?status=failed&limit=1`)).json()) as {
    query_id: string;
    failed: string;
  }[];
  ({ page } = await openPage(browser, `${service.url}/queries/${failed[0]?.query_id}`));
  await page.getByRole("heading", { level: 1, name: /^Failed after [^:]*: / }).waitFor();
  await page.getByRole("button", { name: /Copy the error/ }).waitFor();
  const inWords = (text: string): string => text.replaceAll(/\s+/g, " ");
  const first = inWords((failed[0]?.failed ?? "").trim().split("\n")[0] ?? "");
  expect(inWords(await firstLine())).toContain(first.slice(0, 100));
  expect(inWords(await page.getByRole("main").locator("div.error").first().innerText())).toContain(first);
});

test("that is unknown says so", async () => {
  ({ page } = await openPage(browser, `${service.url}/queries/00000000-0000-7000-8000-000000000000`));
  await page.getByRole("heading", { name: "No run has this id" }).waitFor();
});

const SEARCHES = ["?node=4294967299&logical=1", "?tab=raw&view=table", "?tab=history"];

describe.each(SCHEMES)("in %s", (scheme) => {
  test.each([1280, 390] as Width[])("has no fault that axe finds, %d pixels wide", async (width) => {
    const paths = SEARCHES.map(async (search) => (await runPath(service, "unique/redundant")) + search);
    paths.push(runPath(service, "odd/same-shape-three-times").then((path) => `${path}?tab=compare`));
    for (const path of await Promise.all(paths)) {
      const looked = await openPage(browser, service.url + path, scheme, width);
      page = looked.page;
      await page.getByRole("tabpanel").waitFor();
      if (path.endsWith("compare")) await page.getByRole("row", { name: /^This run/ }).waitFor();
      const shots = process.env["SCREENSHOTS"];
      if (shots !== undefined)
        await page.screenshot({
          path: `${shots}/${scheme}-${width}-run-${path.split("?")[1]?.replace(/\W+/g, "-")}.png`,
        });
      await expectGood(looked);
      await page.context().close();
    }
  });
});

test("422 nodes are drawn whole", async () => {
  await open("wide/concat-60-groupbys", "?show=100");
  await page.getByRole("button", { name: "Fit" }).click();
  await page.locator('svg[data-boxes="422"][data-level="far"]').waitFor();
  expect(new URL(page.url()).searchParams.get("node")).toBeNull();
});

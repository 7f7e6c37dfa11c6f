// Compare: what a run is held against, what is different in words, and both plans side by side.

import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { expectGood, launch, type Looked, open as openPage, type Scheme } from "./browser";
import { joins, sendRun, withLateFilter } from "./plans";
import { Service } from "./service";

let service: Service;
let browser: Browser;
let page: Page;
let looked: Looked;
let now: string;
let early: string;

const NODE = 4_294_967_297;
const HOUR_MS = 3_600_000;

beforeAll(async () => {
  [service, browser] = await Promise.all([Service.start(), launch()]);
  const label = "compare/plans";
  const plan = joins(14);
  for (let at = 3; at > 0; at -= 1) {
    const told = { label, plan, fingerprint: "aaa", version: "1.0", host: "old-1" };
    early = await sendRun(service, { ...told, agoMs: (10 + at) * HOUR_MS });
  }
  const late = { label, plan: withLateFilter(plan), fingerprint: "bbb", version: "1.1", host: "new-1" };
  await sendRun(service, { ...late, agoMs: 5 * HOUR_MS });
  now = await sendRun(service, { ...late, agoMs: HOUR_MS, samples: 8 });
});
afterAll(async () => {
  await browser.close();
  await service.remove();
});
afterEach(() => page.context().close());

async function open(search: string, scheme: Scheme = "light"): Promise<void> {
  looked = await openPage(browser, `${service.url}${now}?tab=compare${search}`, scheme, 1440);
  page = looked.page;
  await page.getByRole("table", { name: "What the difference in wall time is made of" }).waitFor();
}

const before = () => page.getByRole("group", { name: /^Picture of the plan before/ });
const after = () => page.getByRole("group", { name: /^Picture of the plan of this run/ });

test(
  "another plan is chosen by its letter, and the difference is said as a planner would",
  { tags: ["firefox"] },
  async () => {
    await open("");
    await page.getByText("Both ran the same plan, as far as the engine describes it.").waitFor();
    await page.getByRole("button", { name: "Compare with another" }).click();
    await page.getByRole("link", { name: /^Plan A/ }).click();
    await page.waitForURL(/base_plan=aaa/);
    await page.getByText("a typical one of 3 runs that were chosen").waitFor();
    await page.getByRole("button", { name: "The filter on valid_until_1 now runs after the join on key_1" }).click();
    await page.waitForURL((url) => url.searchParams.get("node") === String(NODE + 2));
    expect(await page.getByRole("tabpanel").innerText()).not.toMatch(/\btype \w+ now reads\b/);
  },
);

test("a run, a version, a host and days can be chosen, and runs are found by any of them", async () => {
  await open("");
  await page.getByRole("button", { name: "Compare with another" }).click();
  const found = page.getByRole("table", { name: "Runs to compare with" });
  await found.getByRole("link").first().waitFor();
  expect(await found.getByRole("link").count()).toBe(4);
  await page.getByRole("searchbox", { name: "Find a run to compare with" }).fill("plan a old-1");
  await page.getByText("3 of 4 runs").waitFor();
  await found.getByRole("link").first().click();
  await page.waitForURL((url) => url.searchParams.get("base") === early.split("/").at(-1));
  await page.getByText("the run that was chosen").waitFor();
  await page.getByRole("link", { name: "Version 1.0" }).click();
  await page.waitForURL((url) => url.searchParams.get("base_version") === "1.0" && !url.searchParams.has("base"));
  await page.getByRole("link", { name: "Host new-1" }).click();
  await page.getByText("a typical one of 1 run that were chosen").waitFor();
  await page.getByLabel("Runs from").fill("2020-01-01");
  await page.getByLabel("to", { exact: true }).fill("2020-01-02");
  await page.getByRole("button", { name: "A typical one of them" }).click();
  await page.getByText(/no other finished run of its label and service is of those asked for/).waitFor();
});

test("an address that names the tab leads to it, and back leads to where it was left", async () => {
  await open("");
  const tabs = page.getByRole("tablist", { name: "More about this run" });
  const top = async (): Promise<number> => (await tabs.boundingBox())?.y ?? 0;
  const header = await page.getByRole("banner").boundingBox();
  await expect.poll(top).toBeLessThan(100);
  expect(await top()).toBeGreaterThanOrEqual(header?.height ?? 0);
  const left = await page.evaluate(() => {
    scrollBy(0, -200);
    return scrollY;
  });
  await page.getByRole("link", { name: "Now", exact: true }).click();
  await page.waitForURL(/now/);
  await page.goBack();
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(left);
});

test("the run before and after keep the tab where it is in the window", { tags: ["firefox"] }, async () => {
  await open("");
  const panel = page.getByRole("tabpanel", { name: "Compare" });
  const top = async (): Promise<number> => Math.round((await panel.boundingBox())?.y ?? 0);
  await expect.poll(top).toBeLessThan(150);
  await page.evaluate(() => scrollBy(0, 120));
  const left = await top();
  for (const key of ["[", "[", "]"]) {
    const before = page.url();
    await page.keyboard.press(key);
    await page.waitForURL((url) => url.href !== before && url.searchParams.get("tab") === "compare");
    await page.getByRole("button", { name: "Compare with another" }).waitFor();
    await expect.poll(top).toBe(left);
  }
  // From the top of a page it is the top.
  await page.evaluate(() => scrollTo(0, 0));
  const here = page.url();
  await page.getByRole("link", { name: "Next run" }).click();
  await page.waitForURL((url) => url.href !== here);
  await page.getByRole("button", { name: "Compare with another" }).waitFor();
  await page.waitForTimeout(300);
  expect(await page.evaluate(() => scrollY)).toBe(0);
});

test("both plans pan and zoom together, mark what is different, and select together", async () => {
  await open("&base_plan=aaa");
  await before().locator("svg[data-boxes]").waitFor();
  await before().locator("rect.changed, rect.removed, rect.added").first().waitFor();
  const at = (of: ReturnType<typeof before>): Promise<string | null> =>
    of.locator("svg[data-boxes] > g").getAttribute("transform");
  await before().scrollIntoViewIfNeeded();
  await expect.poll(async () => (await at(before()))?.split("scale")[1]).toBe((await at(after()))?.split("scale")[1]);
  const was = await at(after());
  const box = await before().boundingBox();
  if (!box) throw new Error("no picture");
  await page.mouse.move(box.x + 60, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 100, box.y + 90, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => at(after())).not.toBe(was);
  const panned = await at(after());
  await page.getByRole("region", { name: "Plan before" }).getByRole("button", { name: "Zoom in" }).click();
  await expect.poll(() => at(after())).not.toBe(panned);
  expect((await at(after()))?.split("scale")[1]).toBe((await at(before()))?.split("scale")[1]);
  await after().focus();
  await page.keyboard.press("ArrowDown");
  await page.waitForURL(/node=\d+/);
  await before().locator("rect.selected").waitFor();
  await after().locator("rect.selected").waitFor();
});

test.each(["light", "dark"] as const)("axe finds no fault in %s", async (scheme) => {
  await open("&base_plan=aaa", scheme);
  await page.getByRole("button", { name: "Compare with another" }).click();
  await page.getByRole("table", { name: "Runs to compare with" }).getByRole("link").first().waitFor();
  await before().locator("svg[data-boxes]").waitFor();
  await expectGood(looked);
});

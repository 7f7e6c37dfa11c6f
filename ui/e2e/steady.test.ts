// Pages do not move under the reader's eyes: https://web.dev/articles/cls.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch, open, type Width } from "./browser";
import { started } from "./senders";
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

interface Entry extends PerformanceEntry {
  value: number;
  hadRecentInput: boolean;
  sources: { node: Node | null }[];
}

/** All that moved from the first paint on without a person's doing. */
async function shifts(page: Page): Promise<{ sum: number; moved: string }> {
  const found = await page.evaluate(() => {
    const noted = (window as unknown as { shifts: Entry[] }).shifts.filter(({ hadRecentInput }) => !hadRecentInput);
    return noted.map(({ value, sources }) => {
      const moved = sources.map(({ node }) => (node?.textContent ?? "").trim().slice(0, 40));
      return { value, moved };
    });
  });
  return { sum: found.reduce((sum, { value }) => sum + value, 0), moved: JSON.stringify(found) };
}

/** Opens a page that notes what moves, and waits until it shows this. */
async function watched(path: string, width: Width, shows: string | RegExp): Promise<Page> {
  const { page } = await open(browser, "about:blank", "light", width);
  await page.addInitScript(() => {
    const noted: PerformanceEntry[] = [];
    Object.assign(window, { shifts: noted });
    const observer = new PerformanceObserver((list) => noted.push(...list.getEntries()));
    observer.observe({ type: "layout-shift", buffered: true });
  });
  await page.goto(service.url + path);
  await page.getByText(shows).filter({ visible: true }).first().waitFor();
  // The last answers come after the first of them is shown.
  await page.waitForLoadState("load");
  await page.waitForTimeout(1000);
  return page;
}

const LABEL = "/labels/orders%2Fdaily-revenue?service=orders-etl";
const PAGES: [path: string, shows: string | RegExp, most: number][] = [
  ["/", "Where the time went", 0.02],
  ["/now", "Ended last", 0.1],
  ["/queries", "orders/daily-revenue", 0.1],
  ["/queries?view=runs", "newest first", 0.1],
  ["/queries?view=days", "Median of the day", 0.1],
  ["/queries?view=places", "Environments", 0.1],
  ["/queries?q=zzzz&service=billing", "Nothing matches all filters.", 0.1],
  [LABEL, "Compare the two, node by node", 0.1],
  ["/labels/billing%2Finvoice-totals", "Plans", 0.1],
  ["/open", "Open a recording or a profile", 0.1],
];

test.each(PAGES.flatMap((page) => ([1440, 390] as Width[]).map((width) => [...page, width] as const)))(
  "%s stays where it is while it loads",
  async (path, shows, most, width) => {
    const page = await watched(path, width, shows);
    const { sum, moved } = await shifts(page);
    expect(sum, moved).toBeLessThan(most);
    await page.context().close();
  },
);

test.each([["/now", 0.1], ["/", 0.02]] as const)("%s stays where it is when four queries start", async (path, most) => {
  for (const width of [1440, 390] as Width[]) {
    const page = await watched(path, width, /Ended last|Where the time went/);
    for (const at of [1, 2, 3, 4]) await service.send(...started({ label: `steady/${at}` }));
    const running = (await (await fetch(`${service.url}/api/queries?status=running`)).json()) as unknown[];
    await page.getByRole("link", { name: `Now ${running.length} running` }).waitFor();
    await page.waitForTimeout(1500);
    const { sum, moved } = await shifts(page);
    expect(sum, `${width}: ${moved}`).toBeLessThan(most);
    await page.context().close();
  }
});

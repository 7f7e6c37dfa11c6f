// Names of all kinds: blank, of dots, turned around, far too long, and one label in two services.

import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { expectGood, launch, open, SCHEMES, type Looked, type Width } from "./browser";
import { ended, started } from "./senders";
import { Service } from "./service";

let service: Service;
let browser: Browser;
let page: Page;

const LONG = "s".repeat(245);
const OVERRIDE = "abc\u202efdp.exe";

beforeAll(async () => {
  [service, browser] = await Promise.all([Service.start(), launch()]);
  for (const label of ["   ", "..", ".", OVERRIDE, "שלום/daily"]) await service.send(...ended({ label, runs: 3 }));
  await service.send(...ended({ label: "orders/daily", service: "etl", runs: 30, wallMs: 5000 }));
  await service.send(...ended({ label: "orders/daily", service: "billing", runs: 10, wallMs: 100, host: "billing-1" }));
  await service.send(...ended({ label: "orders/daily", service: "etl", failed: "disk full", runs: 4, agoMs: 200_000 }));
  await service.send(...ended({ label: "long/service", service: LONG, runs: 4, host: LONG }));
});
afterAll(async () => {
  await browser.close();
  await service.remove();
});
afterEach(() => page.context().close());

async function visit(path: string, width: Width = 1440): Promise<Looked> {
  const looked = await open(browser, service.url + path, "light", width);
  page = looked.page;
  return looked;
}
const says = (line: string | RegExp): Promise<void> => page.getByRole("heading", { level: 1, name: line }).waitFor();

test.each(["..", "."])("the label %j has an address that a reload and a link keep", async (label) => {
  await visit("/queries");
  await page.getByRole("table").getByRole("link", { name: label, exact: true }).click();
  await page.getByRole("main").getByText(label, { exact: true }).first().waitFor();
  const address = page.url();
  await says(/^No change is open: .*3 runs in 14 days\. A change can be found from 8 runs on$/);
  const answered = await page.reload();
  expect(answered?.status()).toBe(200);
  expect(page.url()).toBe(address);
  await says(/^No change is open: .*3 runs in 14 days\. A change can be found from 8 runs on$/);
});

test("a label without a mark is a link that can be seen and clicked", async () => {
  await visit("/queries");
  const link = page.getByRole("table").getByRole("link", { name: "(blank)" });
  expect((await link.boundingBox())?.width).toBeGreaterThan(20);
  await link.click();
  await page.waitForURL(/\/labels\/%20%20%20\?/);
  await says(/^No change is open: .*3 runs in 14 days\. A change can be found from 8 runs on$/);
});

test("a label turns no other text around", async () => {
  for (const path of ["/", "/queries", "/queries?view=runs", "/queries?view=days", "/now"]) {
    await visit(path);
    await page.getByText("abc\ufffdfdp.exe").first().waitFor();
    const turned = await page.getByRole("main").evaluate((main) => {
      const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
      const found: string[] = [];
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const text = node.textContent ?? "";
        if (/[\u202a-\u202e\u2066-\u2069]/.test(text)) found.push(text);
        // A label that is read from the right stands in an element of its own.
        if (text.includes("שלום") && node.parentElement?.closest("bdi") === null) found.push(text);
      }
      return found;
    });
    expect(turned, path).toEqual([]);
    if (path !== "/now") await page.context().close();
  }
});

describe("a label in two services is two queries", () => {
  test("in the list, each with its own runs and page", async () => {
    await visit("/queries");
    await says(/^8 queries, .*; orders\/daily \(etl\) took \d+ % of their time$/);
    const rows = page.getByRole("row").filter({ hasText: "orders/daily" });
    expect(await rows.count()).toBe(2);
    const services = (await rows.allInnerTexts()).map((text) => /billing|etl/.exec(text)?.[0]);
    expect(services.sort()).toEqual(["billing", "etl"]);
    await rows.filter({ hasText: "billing" }).getByRole("link").click();
    await page.waitForURL(/\/labels\/orders%2Fdaily\?service=billing$/);
    await page.getByRole("heading", { name: "Its runs 10, wall time on a log scale" }).waitFor();
    const others = page.getByRole("note");
    expect(await others.innerText()).toMatch(/also runs in\s+etl/);
    await others.getByRole("link", { name: "etl" }).click();
    await page.getByRole("heading", { name: "Its runs 34, wall time on a log scale" }).waitFor();
  });

  test("and a page of both says that it merges them", async () => {
    await visit("/labels/orders%2Fdaily");
    await page.getByRole("heading", { name: "Its runs 44, wall time on a log scale" }).waitFor();
    expect(await page.getByRole("note").innerText()).toMatch(/merges 2 services:\s+etl,\s+billing/);
    await page.getByRole("note").getByRole("link", { name: "billing" }).click();
    await page.getByRole("heading", { name: "Its runs 10, wall time on a log scale" }).waitFor();
  });

  test("and the page of a run leads to, and is judged by, those of its own", async () => {
    const answer = await fetch(`${service.url}/api/queries?label=orders%2Fdaily&service=billing&order=oldest`);
    const runs = ((await answer.json()) as { query_id: string }[]).map(({ query_id }) => `/queries/${query_id}`);
    await visit(`${runs[5]}?tab=history`);
    await says(/^Finished in (9|10)\d(\.\d)? ms/);
    expect(
      await page
        .getByText(/^The last 10 runs of/)
        .getByRole("link")
        .getAttribute("href"),
    ).toBe("/labels/orders%2Fdaily?service=billing");
    expect(await page.getByRole("region", { name: "Runs of the label" }).locator("tbody tr").count()).toBe(10);
    for (const [name, at] of [
      ["Previous run", 4],
      ["Next run", 6],
    ] as const) {
      const link = page.getByRole("link", { name }).and(page.locator("[href]"));
      expect(new URL((await link.getAttribute("href")) ?? "", page.url()).pathname).toBe(runs[at]);
    }
    await page.getByRole("main").getByRole("link", { name: "orders/daily" }).first().click();
    await page.waitForURL(/\/labels\/orders%2Fdaily\?service=billing$/);
  });

  test("on the first page, where one of them fails", async () => {
    await visit("/");
    const links = page.getByRole("region", { name: "Where the time went" }).getByRole("link", { name: "orders/daily" });
    await links.first().waitFor();
    expect((await links.evaluateAll((all) => all.map((link) => link.getAttribute("href")))).sort()).toEqual([
      "/labels/orders%2Fdaily?service=billing",
      "/labels/orders%2Fdaily?service=etl",
    ]);
    const lists = ["As usual", "Few runs"].map((name) => page.getByRole("region", { name }));
    expect(await lists[1]?.getByRole("link", { name: "(blank)" }).count()).toBe(1);
  });
});

test.each([1440, 1920, 390] as Width[])("%d pixels wide, no figure of a place touches another", async (width) => {
  const looked = await visit("/queries?view=places", width);
  await page
    .getByRole("row")
    .filter({ hasText: LONG.slice(0, 9) })
    .first()
    .waitFor();
  const rows = await page
    .getByRole("table")
    .getByRole("row")
    .evaluateAll((all) =>
      all.map((row) => {
        const cells = [...row.children].filter((cell) => (cell as HTMLElement).offsetWidth > 0);
        const ink = cells.map((cell) => {
          const range = document.createRange();
          range.selectNodeContents(cell);
          const box = cell.getBoundingClientRect();
          const { left, right } = range.getBoundingClientRect();
          const isCut = getComputedStyle(cell).overflow !== "visible";
          const text = cell.textContent?.trim() ?? "";
          return { text, left: isCut ? box.left : left, right: isCut ? Math.min(right, box.right) : right };
        });
        const shown = ink.filter(({ text }) => text !== "");
        const gaps = shown.slice(1).map((cell, at) => cell.left - (shown[at]?.right ?? 0));
        return {
          text: shown
            .map(({ text }) => text)
            .join("|")
            .slice(0, 60),
          least: Math.min(...gaps),
        };
      }),
    );
  expect(rows.length).toBeGreaterThan(8);
  expect(rows.filter(({ least }) => least < 4)).toEqual([]);
  for (const table of await page.getByRole("table").all()) {
    const panel = await table.evaluate((one) => {
      const box = one.closest(".panel");
      return { content: box?.scrollWidth ?? 0, window: box?.clientWidth ?? 0 };
    });
    expect(panel.content).toBeLessThanOrEqual(panel.window);
  }
  await expectGood(looked);
});

test.each([
  ["/queries?q=zzzz&service=etl", '0 of 6 queries match "zzzz"'],
  ["/queries?q=orders", /^2 of 8 queries match "orders", 44 runs in 14 days; orders\/daily \(etl\) took/],
  ["/queries?q=zzzz&view=days", '0 of 8 queries match "zzzz"'],
  ["/queries?view=runs", "63 runs in 14 days, 4 failed"],
  ["/queries?view=runs&status=failed", "4 runs in 14 days match the filters"],
  ["/queries?view=runs&q=disk", '4 runs in 14 days match "disk"'],
  ["/queries?view=places", /^3 services, 1 environment and 3 hosts; 63 runs in 14 days, \d+ % of their time in \w+$/],
  ["/queries?view=places&q=billing", '2 of 7 services, environments and hosts match "billing"'],
])("the first line of %s is of what is listed", async (path, line) => {
  await visit(path);
  await says(line);
});

test("a search that finds nothing counts queries as queries, and runs as runs", async () => {
  await visit("/queries?q=zzzz&service=billing");
  await page.getByText("The search “zzzz” removes most: without it 1 query matches.").waitFor();
  await page.context().close();
  await visit("/queries?q=zzzz&service=billing&view=runs");
  await page.getByText("The search “zzzz” removes most: without it 10 runs match.").waitFor();
});

test("the address of a label that never ran, and of a run that is unknown, leave no error", async () => {
  const looked = await visit("/labels/none");
  await says("No run in 14 days");
  await page.waitForTimeout(500);
  expect(looked.problems).toEqual([]);
  await page.context().close();
  const run = await visit("/queries/00000000-0000-7000-8000-000000000000");
  await says("No run has this id");
  await page.waitForTimeout(500);
  expect(run.problems).toEqual([]);
});

const PAGES = [
  "/",
  "/now",
  "/queries",
  "/queries?view=runs",
  "/queries?view=days",
  "/queries?view=places",
  "/labels/orders%2Fdaily",
  "/open",
];

test.each(PAGES)("no text of %s is smaller than 12 pixels", async (path) => {
  await service.send(...started({ label: "live/one", service: LONG }));
  await visit(path);
  await page.waitForTimeout(800);
  const small = await page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found: string[] = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = (node.textContent ?? "").trim();
      const size = node.parentElement ? Number.parseFloat(getComputedStyle(node.parentElement).fontSize) : 12;
      if (text !== "" && size < 12) found.push(`${size}: ${text.slice(0, 30)}`);
    }
    return found;
  });
  expect(small).toEqual([]);
});

test.each(SCHEMES)("in %s, the header reaches the edge where there is no scrollbar, too", async (scheme) => {
  ({ page } = await open(browser, `${service.url}/labels/none`, scheme, 1440));
  await says(/No run/);
  const image = (await page.screenshot()).toString("base64");
  await page.goto("about:blank");
  const colours = await page.evaluate(async (image) => {
    const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${image}`)).blob());
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = canvas.getContext("2d");
    context?.drawImage(bitmap, 0, 0);
    const at = (x: number, y: number): string => String(context?.getImageData(x, y, 1, 1).data);
    return [10, 47, 300].map((y) => ({ y, edge: at(bitmap.width - 3, y), beside: at(bitmap.width - 24, y) }));
  }, image);
  expect(colours.filter(({ edge, beside }) => edge !== beside)).toEqual([]);
});

test("the help lists the keys of the picture and of the scrubber", async () => {
  await visit("/");
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keys" });
  const said = (await help.innerText()).replaceAll(/\s+/g, " ");
  expect(said).toMatch(/\+ − 0 zoom.*On the scrubber of a run ← → .* Space play, pause/);
});

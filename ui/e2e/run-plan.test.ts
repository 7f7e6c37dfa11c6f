// The plan of a run: finding, zooming, folding, the table, the icicle, and the timeline under it.

import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { expectGood, launch, type Looked, open as openPage, type Scheme, type Width } from "./browser";
import { joins, sendRun } from "./plans";
import { Service } from "./service";

let service: Service;
let browser: Browser;
let page: Page;
let looked: Looked;
let small: string;
let large: string;

const MIB = 1_048_576;

beforeAll(async () => {
  [service, browser] = await Promise.all([Service.start(), launch()]);
  const usage = (sample: number): object => ({
    process_cpu_ns: sample * 2e9,
    process_memory_bytes: sample * 512 * MIB,
    host_cpu_ns: sample * 3e9,
    host_memory_bytes: (4 + sample) * 1024 * MIB,
    host_memory_total_bytes: 16 * 1024 * MIB,
  });
  const call_site = { filepath: "/srv/etl/revenue.py", lineno: 112, function: "daily" };
  const trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
  const more = { call_site, trace_id, planning_ms: 12, result_rows: 3750, cpu_ms: 8000 };
  small = await sendRun(service, { label: "plan/small", plan: joins(41), fingerprint: "a", usage, more });
  large = await sendRun(service, { label: "plan/large", plan: joins(1001), fingerprint: "b", samples: 2 });
});
afterAll(async () => {
  await browser.close();
  await service.remove();
});
afterEach(() => page.context().close());

async function open(path: string, search = "", scheme: Scheme = "light", width: Width = 1440): Promise<void> {
  looked = await openPage(browser, service.url + path + search, scheme, width);
  page = looked.page;
  await page.getByRole("tabpanel").waitFor();
}

const frame = () => page.getByRole("group", { name: /Picture of the plan/ });
const matches = () => page.getByRole("status", { name: "Matches" });
const transform = (): Promise<string | null> => frame().locator("svg[data-boxes] > g").getAttribute("transform");
const selected = (id: number): Promise<void> => page.waitForURL((url) => url.searchParams.get("node") === String(id));
const boxes = async (): Promise<number> => Number(await frame().locator("svg[data-boxes]").getAttribute("data-boxes"));
const NODE = 4_294_967_297;

test(
  "plan, figures and tabs are above the fold, and the plan takes the width there is",
  { tags: ["firefox"] },
  async () => {
    await open(small);
    const bottom = async (of: ReturnType<typeof frame>): Promise<number> => {
      const box = await of.boundingBox();
      return (box?.y ?? Infinity) + (box?.height ?? 0);
    };
    expect(await bottom(frame())).toBeLessThan(860);
    expect(await bottom(page.getByRole("tab", { name: "Compare" }))).toBeLessThanOrEqual(900);
    const figures = await page.locator("dl.figures").boundingBox();
    expect(figures?.height).toBeLessThan(60);
    await page.context().close();
    await open(small, "", "light", 1920);
    const aside = await page.getByRole("complementary").boundingBox();
    expect((aside?.x ?? 0) + (aside?.width ?? 0)).toBeGreaterThan(1850);
  },
);

test(
  "matches are counted, the others are dimmed, and the camera flies from one to the next",
  { tags: ["firefox"] },
  async () => {
    await open(large);
    await page.keyboard.press("/");
    await page.keyboard.type("valid_until_1");
    // 1, and those of 10 to 19, 100 to 199 and 1000 that are one more than a multiple of three.
    await expect.poll(() => matches().innerText()).toMatch(/^1 of \d+$/);
    const count = Number((await matches().innerText()).split(" ")[2]);
    expect(count).toBeGreaterThan(30);
    await frame().locator(".dim").first().waitFor();
    // Folded nodes say how many of them match.
    const folds = (
      await frame()
        .getByText(/^\d+ found/)
        .allInnerTexts()
    ).map((text) => Number.parseInt(text));
    expect(folds.length).toBeGreaterThan(0);
    await page.keyboard.press("Enter");
    await expect.poll(() => new URL(page.url()).searchParams.get("node")).toMatch(/^\d+$/);
    const first = new URL(page.url()).searchParams.get("node");
    const there = await transform();
    await page.keyboard.press("Enter");
    await expect.poll(() => matches().innerText()).toBe(`2 of ${count}`);
    await expect.poll(transform).not.toBe(there);
    await page.keyboard.press("Shift+Enter");
    await page.waitForURL((url) => url.searchParams.get("node") === first);
    await page.keyboard.press("Shift+Enter");
    await expect.poll(() => matches().innerText()).toBe(`${count} of ${count}`);
    await page.keyboard.type("no such node");
    await expect.poll(() => matches().innerText()).toBe("none");
    await page.keyboard.press("Escape");
    await expect.poll(() => frame().locator(".dim").count()).toBe(0);
  },
);

test("who pans away from a selected node is not brought back, and the map leads anywhere", async () => {
  await open(large, `?show=100&node=${NODE + 2}`);
  await frame().locator("svg[data-boxes]").waitFor();
  const map = page.locator("[data-map]");
  const box = await map.boundingBox();
  if (!box) throw new Error("no map");
  const before = await transform();
  await page.mouse.click(box.x + box.width / 2, box.y + 6);
  await expect.poll(transform).not.toBe(before);
  const there = await transform();
  await page.keyboard.press("?");
  await page.keyboard.press("Escape");
  expect(await transform()).toBe(there);
});

test("far away, boxes are filled with their heat and can be selected", async () => {
  await open(large, "?show=100");
  await page.getByRole("button", { name: "Fit" }).click();
  await frame().locator('svg[data-level="far"]').waitFor();
  // The third node worked 4 of 19 seconds: 21 %. Every other one did less than 1 %.
  expect(await frame().locator("path.area.heat-3").count()).toBe(1);
  await page.getByRole("button", { name: "Hottest" }).click();
  await selected(NODE + 2);
  // The camera flew near enough to read the node.
  await frame().locator('svg[data-level="near"]').waitFor();
  expect(await frame().locator("path.edge.hot").count()).toBeGreaterThan(0);
});

test("what is below a node collapses and expands", async () => {
  await open(small, `?show=100&node=${NODE + 9}`);
  await expect.poll(boxes).toBe(41);
  await frame().focus();
  await page.keyboard.press("x");
  await expect.poll(boxes).toBe(33);
  await frame()
    .getByText(/^9 nodes/)
    .waitFor();
  await page.keyboard.press("x");
  await expect.poll(boxes).toBe(41);
});

test("text is never smaller than 12 pixels", async () => {
  for (const search of ["", "?view=table", "?view=icicle"]) {
    await open(small, search);
    const smallest = await page.evaluate(() => {
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      let [least, what] = [Infinity, ""];
      for (let at = texts.nextNode(); at; at = texts.nextNode()) {
        const parent = at.parentElement;
        if (!at.textContent?.trim() || !parent || parent.closest("script, style, title")) continue;
        const zoom = parent instanceof SVGElement ? (parent.closest<SVGGElement>("g[transform]")?.getCTM()?.a ?? 1) : 1;
        const size = Number.parseFloat(getComputedStyle(parent).fontSize) * zoom;
        if (size < least) [least, what] = [size, at.textContent];
      }
      return { least, what };
    });
    expect(smallest.least, smallest.what).toBeGreaterThanOrEqual(11.99);
    if (search !== "?view=icicle") await page.context().close();
  }
});

test("what a box says is within it", async () => {
  await open(small, "");
  const outside = await page.locator("[data-box]").evaluateAll((boxes) =>
    boxes.flatMap((box) => {
      const { right } = box.getBoundingClientRect();
      const texts = [...box.querySelectorAll("text")];
      return texts.filter((text) => text.getBoundingClientRect().right > right).map((text) => text.textContent);
    }),
  );
  expect(outside).toEqual([]);
  expect(await page.locator("[data-box] text").count()).toBeGreaterThan(50);
});

test("the table is sorted by a column, and a thousand rows are virtual", { tags: ["firefox"] }, async () => {
  await open(large, "?view=table");
  const grid = page.getByRole("treegrid", { name: "Plan" });
  const rows = grid.locator("[data-row]");
  expect(await grid.getAttribute("aria-rowcount")).toBe("1002");
  const right = async (of: Locator): Promise<number> => {
    const box = await of.boundingBox();
    return (box?.x ?? 0) + (box?.width ?? 0);
  };
  const head = await right(grid.getByRole("button", { name: "Share" }));
  expect(Math.abs(head - (await right(rows.first().locator(".value"))))).toBeLessThan(1);
  expect(await rows.count()).toBeLessThan(80);
  await grid.getByRole("button", { name: "CPU" }).click();
  await grid.locator('th[aria-sort="descending"]').waitFor();
  expect(await rows.first().getAttribute("data-row")).toBe(String(NODE + 2));
  await grid.getByRole("button", { name: "Rows out" }).click();
  await grid.getByRole("button", { name: "Rows out" }).click();
  await grid.locator('th[aria-sort="ascending"]').waitFor();
  expect(await rows.first().getAttribute("data-row")).toBe(String(NODE));
  await rows.first().focus();
  await page.keyboard.press("End");
  await expect.poll(() => page.locator("tr:focus").getAttribute("aria-rowindex")).toBe("1002");
  await grid.getByRole("button", { name: "Node" }).click();
  await expect.poll(() => rows.first().getAttribute("aria-level")).toBe("1");
});

test("the icicle is as wide as what worked, and a node fills it", async () => {
  await open(small, "?view=icicle");
  const icicle = page.getByRole("group", { name: /Icicle of the plan/ });
  const widths = await icicle
    .locator("[data-bar]")
    .evaluateAll((bars) => bars.map((bar) => Math.round(bar.getBoundingClientRect().width)));
  expect(Math.max(...widths)).toBe(widths[0]);
  await icicle.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  const id = new URL(page.url()).searchParams.get("node");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Whole plan" }).waitFor();
  await expect.poll(() => icicle.locator("[data-bar]").first().getAttribute("data-bar")).toBe(id);
  await page.getByRole("button", { name: "Whole plan" }).click();
  await expect.poll(() => icicle.locator("[data-bar]").first().getAttribute("data-bar")).not.toBe(id);
});

test(
  "the timeline has an axis, lanes of nodes, what process and host used, and values under the pointer",
  { tags: ["firefox"] },
  async () => {
    await open(small);
    const panel = page.getByRole("tabpanel");
    await panel.scrollIntoViewIfNeeded();
    for (const name of ["Busy threads", "CPU of the process", "Memory of the process", "CPU of the host"]) {
      await panel.getByText(name, { exact: true }).waitFor();
    }
    expect(await panel.locator(".axis .mark").count()).toBeGreaterThan(3);
    await panel.getByRole("button", { name: "Filter #3", exact: true }).waitFor();
    const over = await panel.locator(".over").boundingBox();
    if (!over) throw new Error("no chart");
    await page.mouse.move(over.x + over.width / 3, over.y + 60);
    await panel.locator(".cross").waitFor();
    const values = (await panel.locator(".rows").innerText()).replaceAll("\u00a0", " ");
    expect(values).toMatch(/CPU of the process\s+2\.0/);
    expect(values).toMatch(/CPU of the host\s+3\.0/);
    expect(values).toMatch(/Memory of the process\s+1 GiB/);
    await panel.getByRole("button", { name: "Filter #3", exact: true }).click();
    await selected(NODE + 2);
  },
);

test("where process and host were not told of, the timeline says so", async () => {
  await open(large);
  await page.getByText(/CPU and memory of the process and its host were not sent/).waitFor();
  await page.getByRole("button", { name: /^All [\d.]+( k)? nodes that worked$/ }).waitFor();
});

test("the source line and the trace open by templates of this browser, which must be of a known scheme", async () => {
  await open(small);
  await page.getByRole("button", { name: "open in …" }).first().click();
  const dialog = page.getByRole("dialog", { name: /Links to the source/ });
  const source = dialog.getByLabel("A line of the source");
  await source.fill("javascript:alert({path})");
  await dialog.getByText(/^It must begin with one of http:/).waitFor();
  expect(await dialog.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
  await source.fill("vscode://file/{path}:{line}");
  await dialog.getByLabel("A trace").fill("https://tempo.example/trace/{trace_id}");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.reload();
  const link = page.getByRole("link", { name: "revenue.py:112" });
  expect(await link.getAttribute("href")).toBe("vscode://file//srv/etl/revenue.py:112");
  expect(await page.getByRole("link", { name: "4bf92f35" }).getAttribute("href")).toBe(
    "https://tempo.example/trace/4bf92f3577b34da6a3ce929d0e0e4736",
  );
});

test.each(["light", "dark"] as const)("axe finds no fault in %s", { tags: ["firefox"] }, async (scheme) => {
  for (const search of ["?view=icicle", "?view=table", `?node=${NODE + 2}`]) {
    await open(small, search, scheme);
    await expectGood(looked);
    if (!search.startsWith("?node")) await page.context().close();
  }
});

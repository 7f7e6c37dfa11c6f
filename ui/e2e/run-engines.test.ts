// Runs of several engines: what their counters hold, and what no counter holds.

import type { Page } from "playwright-core";
import { afterEach, expect, test } from "vitest";
import { expectGood, type Looked, open as openPage, type Width } from "./browser";
import {
  browser,
  importCaptures,
  importEngines,
  insightsLines,
  runPath,
  sendInsights,
  service,
  setStage,
} from "./captures";

let page: Page;
let looked: Looked;

setStage(async () => {
  await importCaptures(service);
  await sendInsights(service, "udf");
  await sendInsights(service, "tpch");
  await importEngines(service);
});
afterEach(() => page.context().close());

async function open(label: string, search = "", width: Width = 1280): Promise<void> {
  looked = await openPage(browser, service.url + (await runPath(service, label)) + search, "light", width);
  page = looked.page;
  await page.getByRole("heading", { level: 1 }).waitFor();
  const shots = process.env["SCREENSHOTS"];
  if (shots === undefined) return;
  await page.getByRole("region", { name: "Findings" }).waitFor();
  await page.screenshot({
    path: `${shots}/run-${label.replace("/", "-")}${search.replace(/\W+/g, "-")}.png`,
    fullPage: true,
  });
}

const text = async (): Promise<string> => (await page.getByRole("main").innerText()).replaceAll("\u00a0", " ");

test("time of user code is in no counter: nothing waits, and nothing is said to be saved", async () => {
  await open("ux/slow-udf");
  const line =
    "Finished in 1.69 s. 1.68 s of 1.69 s are in no counter; Select #2 runs Python code and is the likely place.";
  await page.getByRole("heading", { level: 1, name: line }).waitFor();
  await page.getByRole("region", { name: "Findings" }).getByText("1.68 s of 1.69 s in no counter").waitFor();
  expect(await text()).not.toMatch(/wait(s|ed)|saves at most/i);
  expect(await text()).toContain("1.68 s in no counter");
  await page.getByText("Python code, in no counter").waitFor();
  await expectGood(looked);
});

test("an error stands in a block of its own", async () => {
  await open("ux/interrupted-udf");
  await page
    .getByRole("heading", { level: 1, name: /^Cancelled after 2\.22 s\. 2\.2 s of 2\.22 s are in no counter/ })
    .waitFor();
  await page.getByText("python: KeyboardInterrupt:").first().waitFor();
});

test("DataFusion's counters are read: rows of edges, bytes of scans, figures of the first line", async () => {
  await open("tpch/q03");
  const edges = await page
    .locator("path.edge title")
    .evaluateAll((titles) => titles.map((title) => title.textContent ?? ""));
  expect(edges.length).toBeGreaterThan(3);
  expect(edges.filter((title) => !/^[\d.]+( [kM])? rows$/.test(title))).toEqual([]);
  expect(await page.getByRole("heading", { level: 1 }).innerText()).toMatch(
    /% of the busy time is in \w+ #\d+, which (took in|gave out|read|puts out) [\d.]+/,
  );
  // The nodes worked for 152 ms by the clock, of which the threads had a core for 57 ms.
  expect(await text()).toMatch(/CPU time\n56\.6\sms/);
  await page.getByRole("region", { name: "Most busy time" }).waitFor();
  await page.getByText("Share of the run's busy time:").waitFor();
  expect(await text()).toMatch(/Read\n[\d.]+ (KiB|MiB)\nfrom 3 scans/);
});

test("DataFusion's table has rows in and out of every node", async () => {
  await open("tpch/q03", "?view=table");
  const rows = page.getByRole("treegrid").locator("tbody tr");
  await rows.first().waitFor();
  const cells = await rows.evaluateAll((all) =>
    all.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent?.trim() ?? "")),
  );
  for (const [name, , , taken, given] of cells) {
    expect(given, name).toMatch(/^\d/);
    if (!/DataSource/.test(name ?? "")) expect(taken, name).toMatch(/^\d/);
  }
});

test("DuckDB tells the working time of nodes, and of the query what was read and written to disk", async () => {
  await open("duckdb/join");
  await page
    .getByRole("heading", { level: 1, name: /^Finished in [\d.]+ ms\. \d+ % of the busy time is in \w+ #\d, which / })
    .waitFor();
  expect(await text()).toMatch(/Read\n[\d.]+ KiB\nfrom 2 scans/);
  await page.getByText("Share of the run's busy time:").waitFor();
  await expectGood(looked);
  await page.context().close();
  await open("duckdb/sort-on-disk");
  await page
    .getByRole("region", { name: "Findings" })
    .getByText(/^The query spills at least [\d.]+ MiB/)
    .waitFor();
  // A query that writes a table has no result.
  expect(await text()).not.toContain("Result\n");
});

test("what DuckDB does not tell of a query that failed is not said", async () => {
  await open("duckdb/fails");
  await page.getByText("Could not convert string").first().waitFor();
  await page.getByTitle(/^No figure of CPU time, Planning/).waitFor();
  expect(await text()).not.toMatch(/CPU time\n|Planning\n/);
  expect(await text()).not.toContain("of the time");
  await page.locator("[data-box] text", { hasText: "TABLE_SCAN" }).first().waitFor();
});

test("Daft tells rows and the time of tasks, and no working time: shares of it are not shown", async () => {
  await open("daft/join");
  await page.getByRole("heading", { level: 1, name: /^Finished in [\d.]+ ms\.$/ }).waitFor();
  await page.locator("[data-box] text", { hasText: "400 k → 20 rows" }).waitFor();
  await page
    .locator("[data-box] text", { hasText: /rows · tasks [\d.]+ m?s$/ })
    .first()
    .waitFor();
  await page.getByRole("heading", { name: "Time of tasks with waiting" }).waitFor();
  await page.getByRole("button", { name: /^HashJoin #\d [\d.]+ m?s$/ }).waitFor();
  expect(await text()).not.toMatch(/of the time|Share of|the hottest/i);
  expect(await page.locator("[data-box] :is(.share, .track):visible").count()).toBe(0);
  await expectGood(looked);
  await page.context().close();
  await open("daft/python", "?view=table", 390);
  const heads = await page.getByRole("columnheader").allInnerTexts();
  expect(heads.map((head) => head.trim())).toEqual(["Node", "Rows in", "Rows out"]);
  expect(
    await page
      .getByRole("row", { name: /Aggregate/ })
      .getByRole("gridcell")
      .allInnerTexts(),
  ).toContain("1");
  await page.getByRole("region", { name: "Findings" }).getByText("User code (doubled) is called for").waitFor();
});

test("a frame in memory is read from memory, and a sink gives nothing on", async () => {
  await open("ux/slow-udf", "?view=table");
  expect(await text()).toMatch(/Read\nin memory\n1 frame/);
  const cells = (name: string): Promise<string[]> =>
    page.getByRole("row", { name }).getByRole("gridcell").allInnerTexts();
  await page.getByRole("row", { name: /InMemorySink/ }).waitFor();
  expect((await cells("InMemorySink")).slice(3, 5)).toEqual(["4 M", "–"]);
  expect((await cells("InMemorySource")).slice(3, 5)).toEqual(["–", "4 M"]);
});

test("bars begin at one place, counters have one height, and the picture's text is at least 12 pixels", async () => {
  await open("join/three-way", "?view=table&node=4294967297");
  await page.getByRole("treegrid").waitFor();
  const starts = await page
    .locator("[role=treegrid] .meter")
    .evaluateAll((bars) => bars.map((bar) => Math.round(bar.getBoundingClientRect().left)));
  expect(new Set(starts).size).toBe(1);
  const rows = page.locator("aside table tr");
  await rows.first().waitFor();
  const heights = await rows.evaluateAll((all) => all.map((row) => Math.round(row.getBoundingClientRect().height)));
  expect(new Set(heights).size).toBe(1);
  await page.getByRole("button", { name: "Picture" }).click();
  await page.locator("[data-box] text").first().waitFor();
  const sizes = await page
    .locator("[data-box] text")
    .evaluateAll((all) => all.map((one) => Number.parseFloat(getComputedStyle(one).fontSize)));
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(12);
});

test("while it runs, Now says whose work is in no counter", async () => {
  const lines = insightsLines("udf").filter((line) => /"type":"(process|query\.(started|progress))"/.test(line));
  const running = lines.slice(0, 3).map((line) =>
    line
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f-]{17}/g, "01a206b1-0000-7000-8000-00000000000f")
      .replaceAll(/"id":"[0-9a-f-]{36}"/g, '"id":"7d111514-0000-4000-8000-000000000001"')
      .replace(/"started_unix_ns":\d+,"wall/, `"started_unix_ns":${Date.now()}000000,"wall`),
  );
  await service.sendLines(running);
  ({ page } = await openPage(browser, `${service.url}/now`));
  await page.getByText("Select #2 runs Python code, whose work is in no counter").waitFor();
});

test("findings that could not be read are not none", async () => {
  await openPage(browser, service.url).then(({ page: first }) => (page = first));
  const path = await runPath(service, "scan/csv");
  await page.route("**/insights*", (route) => route.fulfill({ status: 500, json: { error: "reading failed" } }));
  await page.goto(service.url + path);
  const findings = page.getByRole("region", { name: "Findings" });
  await findings.getByText("Findings could not be read: reading failed.").waitFor();
  await page.unroute("**/insights*");
  await findings.getByRole("button", { name: "Try again" }).click();
  await findings.getByText(/^None: \d+ rules checked, none fired\.$/).waitFor();
});

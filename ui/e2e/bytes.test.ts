// Bytes of runs: of TPC-H on DataFusion, which counts them, and of a sender that does not.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch, open } from "./browser";
import { sendInsights } from "./captures";
import { ended } from "./senders";
import { Service } from "./service";

let service: Service;
let browser: Browser;

/** Two days that hold the runs of TPC-H. */
const TIME = { since: 1_795_200_000_000_000_000n, until: 1_795_372_800_000_000_000n };
const RANGE = `since=${TIME.since}&until=${TIME.until}`;

beforeAll(async () => {
  [service, browser] = await Promise.all([Service.start(), launch()]);
  await sendInsights(service, "tpch");
  const agoMs = Date.now() - Number(TIME.since / 1_000_000n) - 3_600_000;
  await service.send(...ended({ label: "uncounted", agoMs }));
});
afterAll(async () => {
  await browser.close();
  await service.remove();
});

const NAMES = ["Read", "Spilled", "Memory"];

test("bytes are columns of choice that sort, and what is not known is no 0", async () => {
  const { page, problems } = await open(browser, `${service.url}/queries?view=runs&${RANGE}`);
  await page.getByRole("columnheader", { name: "Rows" }).waitFor();
  for (const name of NAMES) expect(await page.getByRole("columnheader", { name }).count()).toBe(0);
  await page.getByText("Columns", { exact: true }).click();
  for (const name of NAMES) await page.getByRole("checkbox", { name }).check();
  await page.getByRole("columnheader", { name: "Rows" }).waitFor();
  const cells = (at: number): Promise<(string | null)[]> =>
    page
      .locator(`[data-at="${at}"] [role=cell]`)
      .evaluateAll((all) => all.slice(-4, -1).map((cell) => cell.textContent.trim()));
  for (const [mark, order, first] of [
    ["↓", "descending", "tpch/q21"],
    ["↑", "ascending", "tpch/q17"],
  ] as const) {
    await page.getByRole("columnheader", { name: "Read" }).getByRole("link").click();
    await page.locator(`[role=columnheader][aria-sort=${order}]`, { hasText: `Read ${mark}` }).waitFor();
    await page.locator('[data-at="0"]', { hasText: first }).waitFor();
    // In either order the run of which it is not known is the last.
    await page.locator('[data-at="22"]', { hasText: "uncounted" }).waitFor();
    expect(await cells(0)).toEqual([order === "descending" ? "1.32 MiB" : "21.9 KiB", "0 B", "–"]);
    expect(await cells(22)).toEqual(["–", "–", "–"]);
  }
  await page.reload();
  await page.getByRole("columnheader", { name: "Memory" }).waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test("conditions on bytes are completed and keep the runs that they name", async () => {
  const { page } = await open(browser, `${service.url}/queries?view=runs&${RANGE}`);
  const field = page.getByRole("combobox", { name: "Search" });
  const list = page.locator("#words-options option");
  await field.fill("spil");
  await expect.poll(() => list.evaluateAll((all) => all.map((one) => one.getAttribute("value")))).toEqual(["spilled>"]);
  for (const [filter, count] of [
    ["read>1.2MB", 2],
    ["read>1.2MiB", 1],
    ["-read>1.2MB", 21],
    ["spilled=0 read<25kB", 1],
  ] as const) {
    await field.fill(filter);
    const said = async (): Promise<string> => (await page.getByRole("status").allInnerTexts()).join("; ");
    await expect.poll(said).toMatch(new RegExp(`(^|\\W)${count}\\sruns?\\W`));
  }
  await field.fill("memory<1TB");
  await page.getByText("Nothing matches all filters").waitFor();
  await field.fill("read>10G");
  await page.getByRole("alert").filter({ hasText: "is not a number of bytes such as 4096, 500kB" }).waitFor();
  await page.context().close();
});

test("places tell the bytes their runs read", async () => {
  const { page } = await open(browser, `${service.url}/queries?view=places&sort=read&${RANGE}`);
  const hosts = page.getByRole("region", { name: "Hosts" });
  const rows = hosts.locator("tbody tr");
  await rows.first().waitFor();
  const shown = await rows.evaluateAll((all) =>
    all.map((row) =>
      [row.querySelector("th"), row.querySelector("td:last-child")].map((cell) => cell?.textContent.trim()),
    ),
  );
  expect(shown).toEqual([
    ["worker-1", "15.2 MiB"],
    ["etl-1", "–"],
  ]);
  await page.context().close();
});

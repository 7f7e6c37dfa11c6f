// Deploys stand in every chart of time.

import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectGood, open } from "./browser";
import { browser, service, setStage } from "./captures";
import { ended } from "./senders";
import { token } from "./service";

const MINUTE_MS = 60_000;

setStage(async () => {
  await service.send(...ended({ label: "orders/daily", runs: 30, agoMs: 2 * MINUTE_MS, everyMs: 24 * 60 * MINUTE_MS }));
  await service.send(...ended({ label: "web/report", service: "web", runs: 3, agoMs: MINUTE_MS, everyMs: MINUTE_MS }));
  await deployed("etl", "1.4.2", 5 * MINUTE_MS);
  await deployed("web", "7", 3 * MINUTE_MS);
  await deployed("web", "6", 24 * 60 * MINUTE_MS);
});

async function deployed(name: string, version: string, agoMs: number): Promise<void> {
  const answer = await fetch(`${service.url}/v1/deploys`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ service: name, version, unix_ns: (Date.now() - agoMs) * 1e6 }),
  });
  expect(answer.status).toBe(201);
}

/** The texts of the marks in a chart, once there are so many. */
async function marks(chart: Locator, count: number): Promise<(string | null)[]> {
  const titles = chart.locator("path.deploy title");
  await expect.poll(() => titles.count()).toBe(count);
  return titles.allTextContents();
}

async function visit(path: string): Promise<{ page: Page; close: () => Promise<void> }> {
  const looked = await open(browser, service.url + path);
  return {
    page: looked.page,
    close: async () => {
      await expectGood(looked);
      await looked.page.context().close();
    },
  };
}

test("the charts of a query show the deploys of its service", async () => {
  const { page, close } = await visit("/labels/orders%2Fdaily");
  await page.getByText("▲ deploy").waitFor();
  // The scatter of runs, and the series over time.
  expect(await marks(page.locator("main"), 2)).toEqual(["deploy 1.4.2", "deploy 1.4.2"]);
  await close();
});

test("a chart of several services shows the deploys of each, under its name", async () => {
  const { page, close } = await visit("/now");
  const lanes = page.getByRole("region", { name: "The last 15 minutes" });
  expect(await marks(lanes, 2)).toEqual(["deploy etl 1.4.2", "deploy web 7"]);
  await lanes.getByText("▲ deploy").waitFor();
  await close();
});

test("the days show what was deployed on each", async () => {
  const { page, close } = await visit("/queries?view=days");
  const map = page.getByRole("region", { name: "Median time by day" });
  await map.getByTitle("deploys etl 1.4.2 and web 7").waitFor();
  await map.getByTitle("deploy web 6").waitFor();
  await page.getByText("▲ deploy").waitFor();
  await page.goto(`${service.url}/queries?view=days&service=etl`);
  await map.getByTitle("deploy 1.4.2").waitFor();
  expect(await map.getByTitle(/^deploys? /).count()).toBe(1);
  await close();
});

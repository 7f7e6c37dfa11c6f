// Owners of queries on the first page and beside services and hosts, and the routes of messages in the settings.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { expectGood, launch, open, type Looked } from "./browser";
import { slowed } from "./senders";
import { Service } from "./service";

let service: Service;
let browser: Browser;
let page: Page;
let receiver: Server;
const events: { subject: string; data: { sentence: string; members: { owner: string }[] } }[] = [];
const folder = mkdtempSync(join(tmpdir(), "queryscope-owners-"));

function file(port: number): string {
  return `
    group_wait = "0s"
    allow_private = ["127.0.0.1"]
    [receivers.hook]
    type = "webhook"
    url = "http://127.0.0.1:${port}/hook"
    [receivers.gone]
    type = "webhook"
    url = "http://127.0.0.1:${port}/gone"
    [[routes]]
    name = "all"
    receiver = "hook"
    [[routes]]
    name = "orders"
    receiver = "gone"
    labels = ["orders/**"]
    kinds = ["slower"]
    [[owners]]
    label = "**"
    owner = "data-platform"
    [[owners]]
    label = "orders/*"
    owner = "team-orders"
    [cost]
    per_core_hour = 3600
    currency = "EUR"
  `;
}

beforeAll(async () => {
  receiver = createServer((request, answer) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      if (request.url === "/hook") events.push(JSON.parse(body) as (typeof events)[number]);
      answer.writeHead(request.url === "/hook" ? 200 : 410).end("it moved away");
    });
  });
  await new Promise<void>((listening) => receiver.listen(0, "127.0.0.1", listening));
  const path = join(folder, "queryscope.toml");
  writeFileSync(path, file((receiver.address() as AddressInfo).port));
  [service, browser] = await Promise.all([Service.start(undefined, ["--config", path]), launch()]);
  for (const [at, label] of ["orders/daily", "billing/daily"].entries())
    for (const batch of slowed({ label, service: `etl-${at}`, host: `etl-${at}` })) await service.send(...batch);
  await service.changed(["orders/daily", "billing/daily"]);
});
afterAll(async () => {
  await browser.close();
  await service.remove();
  receiver.close();
  rmSync(folder, { recursive: true });
});
afterEach(() => page.context().close());

async function visit(path: string): Promise<Looked> {
  const looked = await open(browser, service.url + path);
  page = looked.page;
  return looked;
}

test("the first page shows the queries of an owner, and keeps the choice", async () => {
  const looked = await visit("/");
  const worse = page.getByRole("region", { name: /^What got worse/ });
  await worse.getByText("billing/daily").waitFor();
  const choice = page.getByLabel("Owner whose queries are shown");
  expect(await choice.locator("option").allInnerTexts()).toEqual(["everybody", "data-platform", "team-orders"]);
  await choice.selectOption("team-orders");
  await expect.poll(() => worse.getByText("billing/daily").count()).toBe(0);
  await worse.getByText("orders/daily").first().waitFor();
  await expectGood(looked);
  await page.reload();
  await worse.getByText("orders/daily").first().waitFor();
  expect(await choice.inputValue()).toBe("team-orders");
  expect(await worse.getByText("billing/daily").count()).toBe(0);
  await page.goto(`${service.url}/issues`);
  const row = page
    .getByRole("list", { name: /^Issues/ })
    .getByRole("listitem")
    .filter({ hasText: "orders/daily" });
  expect(await row.innerText()).toMatch(/of\s+team-orders[^]*a day at stake · found\s+(just now|\d+ (s|min) ago)/);
});

test("services and hosts list owners, and what their CPU time costs", { tags: ["firefox"] }, async () => {
  const looked = await visit("/queries?view=places");
  const owners = page.getByRole("region", { name: "Owners" });
  const cells = (name: string) => owners.getByRole("row").filter({ hasText: name }).getByRole("cell").allInnerTexts();
  await owners.getByText("team-orders").waitFor();
  const told = await cells("team-orders");
  expect(told[0]).toBe("18");
  // Eighteen runs of 0.3 or 0.9 s, on one thread; all of them sent it.
  expect(told.at(-1)).toMatch(/^[89]\.\d\d$/);
  expect(told.at(-2)).toMatch(/^[89](\.\d+)? s$/);
  await owners.getByRole("columnheader", { name: "Cost in EUR" }).waitFor();
  expect(await owners.getByRole("columnheader", { name: "Runs with busy time" }).count()).toBe(0);
  expect((await cells("data-platform"))[0]).toBe("18");
  expect(await owners.getByRole("link", { name: "team-orders" }).count()).toBe(0);
  await page.getByRole("region", { name: "Hosts" }).getByRole("link", { name: "etl-0" }).waitFor();
  await expectGood(looked);
});

test("the settings show each route, what became of its messages, and the rules of owners", async () => {
  await expect.poll(() => events.length).toBe(2);
  expect(events.map(({ data }) => data.members[0]?.owner).toSorted()).toEqual(["data-platform", "team-orders"]);
  const looked = await visit("/settings");
  const routes = page.getByRole("region", { name: "Alert routes" });
  const row = (name: string) => routes.getByRole("row").filter({ has: page.getByRole("cell", { name, exact: true }) });
  await row("all").getByText("all kinds but data grew").waitFor();
  await row("orders").getByText("kind slower; label orders/**").waitFor();
  await row("orders").getByText(/410/).waitFor();
  expect(await row("all").getByRole("cell").allInnerTexts()).toContain("2");
  expect(await row("orders").getByRole("cell").nth(5).innerText()).toBe("1");
  expect(await routes.innerText()).not.toContain("127.0.0.1");
  await routes.getByRole("cell", { name: "orders/*", exact: true }).waitFor();
  await expectGood(looked);
  const folderOfPictures = process.env["LOOK"];
  if (folderOfPictures !== undefined) await page.screenshot({ path: `${folderOfPictures}/routes.png`, fullPage: true });
});

// Notes that people write on a query.

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectGood, open, type Width } from "./browser";
import { browser, service, setStage } from "./captures";
import { ended } from "./senders";

const MINUTE_MS = 60_000;

setStage(async () => {
  await service.send(...ended({ label: "orders/daily", runs: 30, agoMs: 2 * MINUTE_MS, everyMs: 24 * 60 * MINUTE_MS }));
  await service.send(...ended({ label: "orders/daily", service: "web", agoMs: MINUTE_MS }));
});

const notes = (page: Page) => page.getByRole("region", { name: /^Notes/ });

test.each([1280, 390] as Width[])("%d pixels wide, a note is added, marked, edited and deleted", async (width) => {
  const looked = await open(browser, `${service.url}/labels/orders%2Fdaily?service=etl`, "light", width);
  const { page } = looked;
  page.on("dialog", (dialog) => void dialog.accept());
  await notes(page).getByText("Add a note", { exact: true }).click();
  const form = page.getByRole("form", { name: "Add a note" });
  // Not at :00, which a browser leaves out of what it was given.
  const nowMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS + 30_000;
  const yesterday = new Date(nowMs - 24 * 60 * MINUTE_MS).toISOString().slice(0, 19);
  await form.getByLabel("Note").fill("The new join <b>began</b>");
  await form.getByLabel("About").fill(yesterday);
  await form.getByLabel("Your name").fill("Ada");
  await form.getByRole("button", { name: "Add it" }).click();
  const item = notes(page).getByRole("listitem");
  await item.getByText("The new join <b>began</b>").waitFor();
  expect((await item.innerText()).replaceAll(/\s+/g, " ")).toMatch(/ by Ada ✎ ✕ The new join <b>began<\/b>$/);
  expect(await form.getByLabel("Note").inputValue()).toBe("");
  // The scatter of runs, and the series over time.
  const marks = page.locator('g[data-marker="note"] title');
  await expect.poll(() => marks.count()).toBe(2);
  expect(await marks.first().textContent()).toMatch(/^note: The new join <b>began<\/b>, /);
  await page.getByText("✎ note").waitFor();
  await expectGood(looked);
  await page.getByRole("button", { name: /^Edit the note of / }).click();
  const editing = page.getByRole("form", { name: "Edit the note" });
  expect(await editing.getByLabel("Note").inputValue()).toBe("The new join <b>began</b>");
  await editing.getByLabel("Note").fill("The old join");
  await expectGood(looked);
  await editing.getByRole("button", { name: "Save it" }).click();
  await expect.poll(() => item.innerText()).toMatch(/ by\s+Ada\s+· edited [^]* by\s+Ada[^]*The old join$/);
  // On the page of all services it says whose it is, and on that of another it is not.
  await page.goto(`${service.url}/labels/orders%2Fdaily`);
  await item.getByText("etl").waitFor();
  await notes(page).getByText("Choose a service to add a note.").waitFor();
  await page.goto(`${service.url}/labels/orders%2Fdaily?service=web`);
  await notes(page).getByText("Add a note", { exact: true }).waitFor();
  expect(await item.count()).toBe(0);
  // It is there where no run is.
  await page.goto(
    `${service.url}/labels/orders%2Fdaily?service=etl&since=1700000000000000000&until=1700000060000000000`,
  );
  await page.getByRole("button", { name: /^Delete the note of / }).click();
  await expect.poll(() => item.count()).toBe(0);
  await page.context().close();
});

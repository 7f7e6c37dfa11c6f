// Views of the page of queries that people share.

import { expect, test } from "vitest";
import { expectGood, open } from "./browser";
import { browser, service, setStage } from "./captures";
import { ended } from "./senders";

setStage(async () => {
  await service.send(...ended({ label: "orders/daily" }));
});

test("a view is shared with others, and taken away in the settings", async () => {
  const looked = await open(browser, `${service.url}/queries?sort=failed`);
  const { page } = looked;
  page.on("dialog", (dialog) => void dialog.accept());
  await page.evaluate(() => localStorage.setItem("name", "Ada"));
  await page.getByText("Views", { exact: true }).click();
  await page.getByLabel("Name for this view").fill("Most failures");
  await page.getByRole("button", { name: "Share", exact: true }).click();
  await page.getByRole("status").getByText("Shared Most failures").waitFor();
  const shared = page.getByRole("list", { name: "Shared views" });
  await shared.getByRole("link", { name: "Most failures" }).waitFor();
  await expectGood(looked);
  await page.getByLabel("Name for this view").fill("Another");
  await page.getByRole("button", { name: "Share", exact: true }).click();
  await shared.getByRole("button", { name: "Delete Another" }).click();
  await page.getByRole("status").getByText("Deleted Another").waitFor();
  await expect.poll(() => shared.getByRole("link").allInnerTexts()).toEqual(["Most failures"]);
  await page.context().close();

  const other = await open(browser, `${service.url}/queries`);
  other.page.on("dialog", (dialog) => void dialog.accept());
  await other.page.getByText("Views", { exact: true }).click();
  await other.page.getByRole("link", { name: "Most failures" }).click();
  expect(new URL(other.page.url()).search).toBe("?sort=failed");
  await other.page.goto(`${service.url}/settings`);
  const views = other.page.getByRole("region", { name: "Shared views" });
  const row = views.getByRole("row", { name: /Most failures/ });
  expect(await row.getByRole("cell").nth(1).innerText()).toBe("default");
  expect(await row.getByRole("cell").nth(2).innerText()).toBe("Ada");
  await expectGood(other);
  await row.getByRole("button", { name: "Delete Most failures" }).click();
  await views.getByText("No view is shared.").waitFor();
  await other.page.context().close();
});

// What changed: on the first page, on the page of the query, and on that of a run.

import type { Page } from "playwright-core";
import { afterEach, describe, expect, test } from "vitest";
import { expectGood, type Looked, open, SCHEMES, type Width } from "./browser";
import { browser, service, setStage } from "./captures";
import { ended, slowed } from "./senders";

let page: Page;

setStage(async () => {
  for (const batch of slowed({ label: "orders/report" })) await service.send(...batch);
  for (const label of ["billing/a", "billing/b"]) {
    const versions: [string, string] = ["54.1", "55.0"];
    for (const batch of slowed({ label, service: "billing", versions })) await service.send(...batch);
  }
  await service.send(...ended({ label: "orders/steady", runs: 18 }));
  await service.send(...ended({ label: "orders/stopped", failed: "python: KeyboardInterrupt:.", agoMs: 60_000 }));
  await service.changed(["orders/report", "billing/a", "billing/b"]);
});
afterEach(() => page.context().close());

async function visit(path: string, scheme: (typeof SCHEMES)[number] = "light", width: Width = 1280): Promise<Looked> {
  const looked = await open(browser, service.url + path, scheme, width);
  page = looked.page;
  return looked;
}

/** Where to write screenshots: `LOOK=FOLDER npm run e2e changes`. */
const FOLDER = process.env["LOOK"];

describe.each(SCHEMES)("in %s", (scheme) => {
  test.each([1280, 390] as Width[])("%d pixels wide, the first page names what got worse, and why", async (width) => {
    const looked = await visit("/", scheme, width);
    const line = /orders\/report is [23]\.\dx slower since/;
    await page.getByRole("heading", { level: 1, name: line }).waitFor();
    const worse = page.getByRole("region", { name: /^What got worse/ });
    const card = worse.getByRole("article").filter({ hasText: "orders/report" });
    const words = (await card.innerText()).replaceAll(/\s+/g, " ");
    expect(words).toMatch(
      /[23]\.\dx slower since .* \(\d+ ms in \d runs, before \d+ ms in 1\d\)\. Sort .* as long for each row\./,
    );
    expect(words).toMatch(/a day more than before, at its rate of runs; [^;]* so far/);
    const group = worse.getByRole("article").filter({ hasText: "2 queries of billing" });
    await group.getByText("All changed with the engine: 55.0, before 54.1.").waitFor();
    expect(await group.getByRole("link").allInnerTexts()).toEqual(expect.arrayContaining(["billing/a", "billing/b"]));
    await page.getByText("1 run cancelled, which is no failure").waitFor();
    await page.getByText("No run failed.").waitFor();
    await expectGood(looked);
    if (FOLDER !== undefined) await page.screenshot({ path: `${FOLDER}/home-${scheme}-${width}.png`, fullPage: true });
  });

  test.each([1280, 390] as Width[])(
    "%d pixels wide, the page of the query says it in full",
    { tags: ["firefox"] },
    async (width) => {
      const looked = await visit("/labels/orders%2Freport?service=etl", scheme, width);
      const line = /^[23]\.\dx slower since .* \(\d+ ms in \d runs, before \d+ ms in 1\d\).* .*Sort .* for each row\.$/;
      await page.getByRole("heading", { level: 1, name: line }).waitFor();
      const panel = page.getByRole("region", { name: /^slower .* since/ });
      const causes = panel.getByRole("list", { name: "Causes" });
      const shares = (await causes.innerText()).match(/\d+(?:\.\d+)? %/g) ?? [];
      const sum = shares.reduce((total, share) => total + Number.parseFloat(share), 0);
      expect(sum, shares.join()).toBeGreaterThan(98);
      expect(sum, shares.join()).toBeLessThan(102);
      await causes.getByText("Slower per row").waitFor();
      await page.getByText(/median before the change,/).waitFor();
      await expectGood(looked);
      if (FOLDER !== undefined)
        await page.screenshot({ path: `${FOLDER}/query-${scheme}-${width}.png`, fullPage: true });
      await panel.getByRole("link", { name: /^Compare a typical run since with one before/ }).click();
      await page.getByRole("table", { name: "What the difference in wall time is made of" }).waitFor();
    },
  );

  test("the page of a run since the change says so, and compares it with before", async () => {
    const list = await fetch(`${service.url}/api/queries?label=orders%2Freport&limit=1`);
    const [newest] = (await list.json()) as { query_id: string }[];
    const looked = await visit(`/queries/${newest?.query_id}`, scheme);
    await page
      .getByRole("heading", { level: 1, name: /^Finished in .*, [23]\.\dx its usual time \(.*, n = 1\d\)/ })
      .waitFor();
    await page.getByText(/Its query is [23]\.\dx slower.* since/).waitFor();
    await expectGood(looked);
    if (FOLDER !== undefined) await page.screenshot({ path: `${FOLDER}/run-${scheme}.png` });
    await page.getByRole("link", { name: "Compare with before" }).click();
    await page.getByText(/a typical one of 1\d runs before the change of its query/).waitFor();
    await page.getByRole("link", { name: "See the change" }).click();
    await page.getByRole("region", { name: /^slower .* since/ }).waitFor();
  });
});

test("a query without a change says on what runs", async () => {
  await visit("/labels/orders%2Fsteady?service=etl");
  await page.getByRole("heading", { level: 1, name: /^(As usual|No change is open): .*18 runs in 14 days$/ }).waitFor();
});

test("the list marks what changed, and shows it alone", async () => {
  await visit("/queries");
  const row = page.getByRole("row").filter({ hasText: "orders/report" });
  await row
    .getByText(/[23]\.\dx slower/)
    .filter({ visible: true })
    .waitFor();
  await row.getByText("since change").waitFor();
  await page.goto(`${service.url}/queries?view=days`);
  const changed = page.getByRole("row").filter({ hasText: "orders/report" });
  await changed
    .getByTitle(/median .*\. [23]\.\dx slower since .* \(\d+ ms in \d runs, before \d+ ms in 1\d\)$/)
    .waitFor();
  // Whose runs are all of today have none to be held against.
  const steady = page.getByRole("row").filter({ hasText: "orders/steady" });
  await steady
    .getByTitle(/, too few earlier runs to judge it$/)
    .first()
    .waitFor();
  await page.goto(`${service.url}/queries?only=changed`);
  await page.getByRole("heading", { level: 1, name: /^3 of 5 queries changed/ }).waitFor();
});

test("a cancelled run is cancelled, and did not fail", { tags: ["firefox"] }, async () => {
  await visit("/queries?view=runs&label=orders%2Fstopped");
  await page.getByRole("row").getByText("cancelled").filter({ visible: true }).waitFor();
  const failed = page.getByRole("row").locator(".fail, .failed");
  expect(await failed.count()).toBe(0);
  await page.getByRole("row").getByRole("link", { name: "orders/stopped" }).click();
  await page.getByRole("heading", { level: 1, name: /^Cancelled after/ }).waitFor();
  expect(await page.locator("h1 .failed").count()).toBe(0);
  await page.goto(`${service.url}/queries`);
  const counted = page.getByRole("row").filter({ hasText: "orders/stopped" });
  await counted.getByTitle("1 cancelled").waitFor();
  expect(await counted.locator(".fail").count()).toBe(0);
});

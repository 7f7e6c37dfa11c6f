import { expect, test } from "vitest";
import { expectGood, open, SCHEMES, type Width } from "./browser";
import { browser, service, setStage } from "./captures";
import { token } from "./service";

setStage();

const LOOKS = SCHEMES.flatMap((scheme) => ([1280, 390] as Width[]).map((width) => [scheme, width] as const));

test.each(LOOKS)("an empty service in %s, %d pixels wide", async (scheme, width) => {
  const pages = [
    ["/", "Waiting for the first query"],
    ["/now", "Nothing is running"],
    ["/queries", /No query with a label ran/],
    ["/queries?view=runs", "No run started in 14 days"],
    ["/open", "Open a recording or a profile"],
  ] as const;
  for (const [path, says] of pages) {
    const looked = await open(browser, service.url + path, scheme, width);
    await looked.page.getByRole("heading", { level: 1, name: says }).waitFor();
    await expectGood(looked);
    await looked.page.context().close();
  }
});

test("an empty service shows what to paste, and a test query makes it a dashboard", async () => {
  const looked = await open(browser, service.url);
  const { page } = looked;
  await page.getByRole("heading", { name: "Waiting for the first query" }).waitFor();
  await page.getByLabel("Token").fill("qs_wrong");
  const program = page.getByRole("region", { name: "Program that sends a query" });
  expect(await program.innerText()).toContain(`"${service.url}"`);
  expect(await program.innerText()).toContain('token="qs_wrong"');
  await expectGood(looked);
  // It does not say that it waited for 0 ms.
  expect(await page.getByRole("main").innerText()).not.toMatch(/for 0 ms/);
  await page.getByText(/This page has waited for [1-9]/).waitFor();
  await page.getByRole("button", { name: "Send a test query" }).click();
  await page.getByText("The service does not know this token.").waitFor();
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Send a test query" }).click();
  await page
    .getByRole("heading", { level: 1, name: "No change for the worse was found; 1 query ran in 14 days" })
    .waitFor();
  await page.context().close();
});

test("a label without runs says so and what to do", async () => {
  const { page } = await open(browser, `${service.url}/labels/none`);
  await page.getByRole("heading", { level: 1, name: "No run in 14 days" }).waitFor();
  await page.context().close();
});

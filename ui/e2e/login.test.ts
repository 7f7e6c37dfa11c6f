import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectGood, launch, open } from "./browser";
import { BINARY, Service } from "./service";

const PASSWORD = "correct horse battery";

let service: Service;
let browser: Browser;

const user = (...args: string[]): Buffer =>
  execFileSync(BINARY, ["user", ...args, "--data", service.data], { input: `${PASSWORD}\n` });

beforeAll(async () => {
  [service, browser] = await Promise.all([Service.start(undefined, ["--login"]), launch()]);
  user("add", "ada", "--role", "editor");
});

afterAll(async () => {
  await browser.close();
  await service.remove();
});

async function logIn(page: Page, password = PASSWORD): Promise<void> {
  await page.getByLabel("User").fill("ada");
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

test("a page asks for a login, comes back after it, and a user logs out", async () => {
  const looked = await open(browser, `${service.url}/queries?view=runs`);
  const { page } = looked;
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  await expectGood(looked);
  await logIn(page, "a wrong password");
  await page.getByRole("alert").getByText("do not belong together").waitFor();
  // Chromium notes the status of a page that is no success.
  looked.problems.length = 0;
  await logIn(page);
  await page.getByRole("heading", { level: 1, name: "No run started in 14 days" }).waitFor();
  expect(page.url()).toBe(`${service.url}/queries?view=runs`);
  await page.getByText("signed in as ada").waitFor();
  await expectGood(looked);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  await page.goto(`${service.url}/now`);
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  await page.context().close();
});

test("a page that is open when its session ends asks for a login", async () => {
  const { page } = await open(browser, `${service.url}/now`);
  await logIn(page);
  await page.getByRole("heading", { level: 1, name: "Nothing is running" }).waitFor();
  await page.getByText("signed in as ada").waitFor();
  user("password", "ada");
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  expect(page.url()).toBe(`${service.url}/login?next=%2Fnow`);
  await logIn(page);
  await page.getByRole("heading", { level: 1, name: "Nothing is running" }).waitFor();
  await page.context().close();
});

test("a page that is open when its session has been idle for too long asks for a login", async () => {
  const { page } = await open(browser, `${service.url}/now`);
  await logIn(page);
  await page.getByRole("heading", { level: 1, name: "Nothing is running" }).waitFor();
  // As if 13 hours had passed since the last request of the page, which follows a stream alone.
  const store = join(service.data, "queryscope.db");
  const age = "UPDATE login_session SET used_unix_ms = used_unix_ms - 13 * 3600000";
  execFileSync("python3", ["-c", `import sqlite3\nwith sqlite3.connect("${store}") as db: db.execute("${age}")`]);
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  expect(page.url()).toBe(`${service.url}/login?next=%2Fnow`);
  expect((await page.request.get(`${service.url}/api/queries`)).status()).toBe(401);
  await page.context().close();
});

test("an open service asks nobody and shows nobody", async () => {
  const own = await Service.start();
  const { page } = await open(browser, `${own.url}/now`);
  await page.getByRole("heading", { level: 1, name: "Nothing is running" }).waitFor();
  expect(await page.getByText(/signed in|Sign out|Open to the network/).count()).toBe(0);
  await page.context().close();
  await own.remove();
});

test("a page that somebody may not open says why, and a page without a session is the one for logging in", async () => {
  const flags = ["--trusted-proxy", "127.0.0.1", "--proxy-user-header", "X-User", "--proxy-groups-header", "X-Groups"];
  const own = await Service.start(undefined, flags);
  for (const [groups, says] of [
    ["staff", "none of your groups gives a role here"],
    ["queryscope-viewer:etl", undefined],
  ] as const) {
    const context = await browser.newContext({ extraHTTPHeaders: { "X-User": "ada", "X-Groups": groups } });
    // Playwright gives these headers to pages and not to workers: one would be asked to log in.
    await context.addInitScript(() => Reflect.deleteProperty(window, "SharedWorker"));
    const page = await context.newPage();
    for (const path of ["/", "/now", "/queries", "/issues", "/labels/x", "/queries/x", "/open", "/settings"]) {
      const answer = await page.goto(`${own.url}${path}`);
      expect(answer?.status(), path).toBe(says === undefined ? 200 : 403);
      if (says !== undefined) await page.getByText(says).waitFor();
    }
    await context.close();
  }
  await own.remove();
  const { page } = await open(browser, `${service.url}/settings`);
  for (const path of ["/", "/now", "/queries", "/issues", "/labels/x", "/queries/x", "/open", "/settings"]) {
    await page.goto(`${service.url}${path}`);
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  }
  for (const path of ["/metrics", "/api/overview", "/api/service", "/api/openapi.json"]) {
    expect((await page.request.get(`${service.url}${path}`)).status(), path).toBe(401);
  }
  expect((await page.request.get(`${service.url}/v1/health`)).status()).toBe(200);
  await page.context().close();
});

import { execFileSync } from "node:child_process";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectGood, launch, open, type Looked } from "./browser";
import { ended } from "./senders";
import { BINARY, Service, token as sending } from "./service";

const PASSWORD = "correct horse battery";

let service: Service;
let browser: Browser;

const user = (...args: string[]): Buffer =>
  execFileSync(BINARY, ["user", ...args, "--data", service.data], { input: `${PASSWORD}\n` });

beforeAll(async () => {
  [service, browser] = await Promise.all([Service.start(undefined, ["--login", "--keep-days", "30"]), launch()]);
  user("add", "ada", "--role", "admin");
  user("add", "bob", "--project", "etl");
  user("add", "lee", "--role", "admin", "--project", "etl");
});

afterAll(async () => {
  await browser.close();
  await service.remove();
});

async function settingsOf(name: string, width?: 390): Promise<Looked> {
  const looked = await open(browser, `${service.url}/settings`, "light", width ?? 1280);
  const { page } = looked;
  page.on("dialog", (dialog) => void dialog.accept());
  await page.getByLabel("User").fill(name);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
  return looked;
}

const status = async (path: string, token: string): Promise<number> =>
  (await fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${token}` } })).status;

const section = (page: Page, name: string) => page.getByRole("region", { name });

test("an administrator makes a token, which is shown once, and revokes it", { tags: ["firefox"] }, async () => {
  const looked = await settingsOf("ada");
  const { page } = looked;
  const tokens = section(page, "Tokens");
  const form = tokens.getByRole("form", { name: "Make a token" });
  await form.getByLabel("Name").fill("grafana");
  await form.getByLabel("Scope").selectOption("read");
  await form.getByLabel("Expires").selectOption("in 30 days");
  await form.getByRole("button", { name: "Make a token" }).click();
  await tokens.getByText("The token grafana, shown this once:").waitFor();
  const token = await tokens.locator("code").innerText();
  await expect.poll(() => status("/api/queries", token)).toBe(200);
  expect(await status("/api/tokens", token)).toBe(403);
  const row = tokens.getByRole("row", { name: /grafana/ });
  expect(await row.getByRole("cell").nth(2).innerText()).toBe("all projects");
  await expectGood(looked);
  await page.reload();
  await row.waitFor();
  expect(await page.content()).not.toContain(token);
  await row.getByRole("button", { name: "Revoke grafana" }).click();
  await tokens.getByRole("status").getByText("Revoked the token grafana").waitFor();
  await expect.poll(() => status("/api/queries", token)).toBe(401);
  await section(page, "Log of access").getByText("made the token grafana").waitFor();
  await page.context().close();
});

test("an administrator adds a user, changes the role and the password, and removes the user", async () => {
  const { page } = await settingsOf("ada");
  const users = section(page, "Users");
  const said = (text: string): Promise<void> => users.getByRole("status").getByText(text).waitFor();
  const form = users.getByRole("form", { name: "Add a user" });
  await form.getByLabel("Name").fill("kim");
  await form.getByLabel("Password").fill(PASSWORD);
  await form.getByLabel("Project").fill("etl");
  await form.getByRole("button", { name: "Add a user" }).click();
  await said("Added kim");
  await users.getByLabel("Role of kim").selectOption("editor");
  await said("kim is an editor now");
  expect(await users.getByRole("row", { name: /kim/ }).getByRole("cell").nth(2).innerText()).toBe("etl");
  await users.getByRole("button", { name: "Password of kim" }).click();
  await users.getByLabel("Another password of kim").fill("another good password");
  await users.getByRole("button", { name: "Change it" }).click();
  await said("kim has another password");
  await users.getByRole("button", { name: "Remove kim" }).click();
  await said("Removed kim");
  // The last administrator stays.
  await users.getByLabel("Role of ada").selectOption("viewer");
  await said("ada is the last administrator of all projects");
  expect(await users.getByLabel("Role of ada").inputValue()).toBe("admin");
  await page.context().close();
});

test("an administrator of one project manages what is of that project", async () => {
  const looked = await settingsOf("lee");
  const { page } = looked;
  const tokens = section(page, "Tokens");
  await tokens.getByText("No token of etl is stored.").waitFor();
  const form = tokens.getByRole("form", { name: "Make a token" });
  expect(await form.getByLabel("Project").inputValue()).toBe("etl");
  await form.getByLabel("Name").fill("nightly");
  await form.getByRole("button", { name: "Make a token" }).click();
  const row = tokens.getByRole("row", { name: /nightly/ });
  expect(await row.getByRole("cell").nth(2).innerText()).toBe("etl");
  const users = section(page, "Users");
  await users.getByLabel("Role of lee").waitFor();
  expect(await users.getByLabel("Role of ada").count()).toBe(0);
  expect(await users.getByRole("form").getByLabel("Project").isEditable()).toBe(false);
  // What is of all projects is for administrators of all.
  expect(await page.getByRole("region").count()).toBe(5);
  await expectGood(looked);
  await row.getByRole("button", { name: "Revoke nightly" }).click();
  await tokens.getByRole("status").getByText("Revoked the token nightly").waitFor();
  await page.context().close();
});

test("an administrator ends a session, and its page asks for a login", async () => {
  const { page: other } = await settingsOf("bob");
  const { page } = await settingsOf("ada");
  const sessions = section(page, "Sessions");
  await sessions.getByRole("button", { name: "End the session of bob" }).first().click();
  await sessions.getByRole("status").getByText("Ended a session of bob").waitFor();
  await other.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  await page.context().close();
  await other.context().close();
});

test("a user of one project is told what is for administrators", async () => {
  const looked = await settingsOf("bob");
  const { page } = looked;
  await page.getByText("bob is a viewer of etl.").waitFor();
  await page.getByText("Tokens, users and sessions are for administrators").waitFor();
  await section(page, "Senders")
    .getByText(/^No sender that you may see was heard since /)
    .waitFor();
  await section(page, "Shared views").getByText("No view is shared.").waitFor();
  expect(await page.getByRole("region").count()).toBe(2);
  await expectGood(looked);
  await page.context().close();
});

test("senders are shown with what was refused, what they dropped, and a clock that is off", async () => {
  const post = async (lines: string[]): Promise<number> => {
    const headers = {
      authorization: `Bearer ${sending}`,
      "user-agent": "some-sender/1.2",
      "queryscope-dropped": "1234",
    };
    return (await fetch(`${service.url}/v1/events`, { method: "POST", headers, body: lines.join("\n") })).status;
  };
  const lines = ended({ label: "x", agoMs: -600_000 }).map((event) => JSON.stringify(event));
  expect(await post(lines)).toBe(202);
  // Another process of the same service, host and library is in its row.
  expect(await post(ended({ label: "x", runs: 3, agoMs: -60_000 }).map((event) => JSON.stringify(event)))).toBe(202);
  expect(await post([...lines.slice(0, 1), "no event"])).toBe(400);
  const looked = await settingsOf("ada", 390);
  const { page } = looked;
  const row = section(page, "Senders").getByRole("row", { name: /some-sender/ });
  await row.waitFor();
  const [service_, host, agent, processes, heard, ...rest] = await row.getByRole("cell").allInnerTexts();
  expect([service_, host, agent, processes]).toEqual(["etl", "etl-1", "some-sender 1.2", "2"]);
  expect(heard).toMatch(/\d\d:\d\d/);
  expect(rest).toEqual(["4", "1", "2,468", expect.stringMatching(/^clock ahead by at least \d/)]);
  expect(await row.getByRole("cell").nth(6).getAttribute("title")).toMatch(/^line 2: the line is not JSON/);
  await expectGood(looked);
  await page.context().close();
});

test("the settings fit a phone and say how the service is set up", { tags: ["firefox"] }, async () => {
  const looked = await settingsOf("ada", 390);
  const { page } = looked;
  const about = section(page, "Service");
  await about.getByText("runs of 30 days are kept").waitFor();
  await about.getByText("users who log in, and tokens for reading").waitFor();
  await section(page, "Users").getByLabel("Role of ada").waitFor();
  await section(page, "Log of access").getByRole("table").waitFor();
  await expectGood(looked);
  await page.context().close();
});

test("an open service warns where others can reach it", async () => {
  const open_ = await Service.start(undefined, ["--bind", "0.0.0.0:0"]);
  const looked = await open(browser, `${open_.url}/settings`);
  const { page } = looked;
  await page.getByRole("alert").getByText("Reading is open beyond this machine").waitFor();
  await page.getByText("everybody who reaches this address may read all").waitFor();
  await expectGood(looked);
  await page.context().close();
  await open_.remove();
});

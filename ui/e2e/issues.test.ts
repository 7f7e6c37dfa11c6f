// Issues: on the first page, on the page of each, and in the list of all.

import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { expectGood, launch, open, SCHEMES, type Looked, type Width } from "./browser";
import { ended, slowed, started } from "./senders";
import { Service } from "./service";

let service: Service;
let browser: Browser;
let page: Page;

const LABELS = ["orders/report", "orders/second", "orders/third"];

beforeAll(async () => {
  [service, browser] = await Promise.all([Service.start(), launch()]);
  // They run at their own speeds, by their own hours: none is grouped with another.
  const hosts = ["etl-1", "etl-2", "etl-3"];
  for (const [at, label] of LABELS.entries()) {
    for (const batch of slowed({ label, service: `etl-${at}`, host: hosts[at] ?? "etl-1", version: "55.0" }))
      await service.send(...batch);
  }
  // Too little is at stake for an issue: told as a change.
  await service.send(...ended({ label: "tiny", runs: 12, wallMs: 0.05, agoMs: 140 * 60_000, everyMs: 20 * 60_000 }));
  await service.send(...ended({ label: "tiny", runs: 6, wallMs: 0.5, agoMs: 20 * 60_000, everyMs: 20 * 60_000 }));
  await service.changed([...LABELS, "tiny"]);
});
afterAll(async () => {
  await browser.close();
  await service.remove();
});
afterEach(() => page.context().close());

async function visit(path: string, scheme: (typeof SCHEMES)[number] = "light", width: Width = 1280): Promise<Looked> {
  const looked = await open(browser, service.url + path, scheme, width);
  page = looked.page;
  return looked;
}

interface Known {
  id: string;
  label: string;
  state: string;
}

async function issueOf(label: string): Promise<Known> {
  const answer = await fetch(`${service.url}/api/issues?label=${encodeURIComponent(label)}`);
  const { issues } = (await answer.json()) as { issues: Known[] };
  const [issue] = issues;
  if (issue === undefined) throw new Error(`no issue of ${label}`);
  return issue;
}

async function act(label: string, what: string, body: object = {}): Promise<number> {
  const { id } = await issueOf(label);
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${service.url}/api/issues/${id}/${what}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  return answer.status;
}

/** Where to write screenshots: `LOOK=FOLDER npm run e2e issues`. */
const FOLDER = process.env["LOOK"];

describe.each(SCHEMES)("in %s", (scheme) => {
  test.each([1280, 390] as Width[])("%d pixels wide, the first page lists them once", async (width) => {
    const looked = await visit("/", scheme, width);
    const worse = page.getByRole("region", { name: /^What got worse/ });
    const card = worse.getByRole("listitem").filter({ hasText: "orders/report" });
    await card.getByRole("link", { name: /^[23]\.\dx slower$/ }).waitFor();
    const { id } = await issueOf("orders/report");
    expect(await card.getByRole("link", { name: /slower$/ }).getAttribute("href")).toBe(`/issues/${id}`);
    expect(await page.locator(".main").getByRole("link", { name: "orders/report" }).count()).toBe(1);
    // Below the floor there is no issue: it is told as a change, without a link to one.
    const tiny = worse.getByRole("listitem").filter({ hasText: "tiny" });
    expect(await tiny.getByRole("link").evaluateAll((links) => links.map((link) => link.getAttribute("href")))).toEqual(
      ["/labels/tiny?service=etl&environment=test"],
    );
    await expectGood(looked);
    if (FOLDER !== undefined) await page.screenshot({ path: `${FOLDER}/home-${scheme}-${width}.png`, fullPage: true });
  });

  test.each([1280, 390] as Width[])("%d pixels wide, the page of one says all of it", async (width) => {
    const { id } = await issueOf("orders/report");
    const looked = await visit(`/issues/${id}`, scheme, width);
    expect(await page.getByText("Also open of this query").count()).toBe(0);
    await page.getByRole("heading", { level: 1, name: /^orders\/report is [23]\.\dx slower since/ }).waitFor();
    await page.getByRole("list", { name: "Causes" }).getByText("Slower per row").waitFor();
    await page.getByText("A typical run before").waitFor();
    const chart = page.getByRole("slider", { name: /^Median, 95th percentile and runs over time/ });
    await chart.waitFor();
    // Its query is hours old: the axis of the 14 days begins with its first run.
    await chart
      .locator("text")
      .filter({ hasText: /^\d\d:\d\d$/ })
      .first()
      .waitFor();
    for (const kind of ["slower", "issue"]) expect(await chart.locator(`[data-marker=${kind}]`).count()).toBe(1);
    await page
      .getByRole("region", { name: /^History/ })
      .getByText("Opened")
      .waitFor();
    await page.getByRole("button", { name: "Mute", exact: true }).click();
    await page.getByRole("form", { name: "Mute" }).waitFor();
    await expectGood(looked);
    if (FOLDER !== undefined) await page.screenshot({ path: `${FOLDER}/issue-${scheme}-${width}.png`, fullPage: true });
    await page.getByRole("link", { name: "Compare the two" }).click();
    await page.getByRole("table", { name: "What the difference in wall time is made of" }).waitFor();
  });

  test.each([1280, 390] as Width[])("%d pixels wide, the list has filters", async (width) => {
    const looked = await visit("/issues", scheme, width);
    await page.getByRole("heading", { level: 1, name: /^3 unresolved issues, .* a day at stake$/ }).waitFor();
    await expectGood(looked);
    if (FOLDER !== undefined) await page.screenshot({ path: `${FOLDER}/list-${scheme}-${width}.png`, fullPage: true });
    await page.getByLabel("service").selectOption("etl-1");
    await page.getByRole("heading", { level: 1, name: /^1 unresolved issue, / }).waitFor();
    await page
      .getByRole("list", { name: /^Issues/ })
      .getByText("orders/second")
      .waitFor();
    await page.getByLabel("kind").selectOption("failing");
    await page.getByRole("heading", { level: 1, name: "No unresolved issue" }).waitFor();
    expect(new URL(page.url()).search).toBe("?service=etl-1&kind=failing");
  });
});

test("people acknowledge, note, mute, resolve and reopen it, under the name that the browser keeps", async () => {
  const { id } = await issueOf("orders/second");
  const looked = await visit(`/issues/${id}`);
  const history = page.getByRole("region", { name: /^History/ });
  await page.getByLabel(/^Your name/).fill("Ada");
  await page.getByLabel("Comment or note").fill("the new join");
  await page.getByRole("button", { name: "Acknowledge" }).click();
  await history.getByText("Acknowledged by Ada").waitFor();
  await history.getByText("the new join").waitFor();
  expect(await page.getByRole("button", { name: "Acknowledge" }).count()).toBe(0);
  await page.reload();
  expect(await page.getByLabel(/^Your name/).inputValue()).toBe("Ada");
  await page.getByLabel("Comment or note").fill("see the deploy of Monday");
  await page.getByRole("button", { name: "Add as a note" }).click();
  await history.getByText("see the deploy of Monday").waitFor();
  await history.getByText("Note by Ada").waitFor();

  await page.getByRole("button", { name: "Mute", exact: true }).click();
  await page.getByLabel("until it gets worse").check();
  await page.getByLabel(/by a factor of/).fill("3");
  await page.getByRole("button", { name: "Mute it" }).click();
  await page.getByText("muted until it is 3.0x worse").waitFor();
  expect((await issueOf("orders/second")).state).toBe("muted");
  await page.getByRole("button", { name: "Mute anew" }).click();
  await page.getByLabel("until another version of the engine").check();
  await page.getByRole("button", { name: "Mute it" }).click();
  await page.getByText("muted until another version of the engine than 55.0 runs").waitFor();
  await history.getByText("Muted anew by Ada").waitFor();

  // A muted one is folded away on the first page, and the first line does not name it.
  await page.goto(service.url);
  await page.getByText("1 muted or resolved issue", { exact: true }).click();
  await page.getByText(/muted until another version of the engine/).waitFor();
  expect(await page.getByRole("heading", { level: 1 }).innerText()).not.toContain("orders/second");
  await page.goBack();

  await page.getByRole("button", { name: "Resolve" }).click();
  await page.getByRole("heading", { level: 1, name: /^orders\/second: slower, resolved/ }).waitFor();
  await page.getByRole("button", { name: "Reopen" }).click();
  await history.getByText("Reopened by Ada").waitFor();
  await expectGood(looked);
});

test("what others do is seen at once, and what the state does not allow is said", async () => {
  const { id } = await issueOf("orders/third");
  await visit(`/issues/${id}`);
  await page.getByRole("button", { name: "Acknowledge" }).waitFor();
  expect(await act("orders/third", "acknowledge", { by: "Grace" })).toBe(200);
  await page.getByText("Acknowledged by Grace").waitFor();
  // Somebody is faster.
  await page.route("**/resolve", async (route) => {
    expect(await act("orders/third", "resolve", { by: "Grace" })).toBe(200);
    await route.continue();
  });
  await page.getByRole("button", { name: "Resolve" }).click();
  await page.getByRole("status").getByText("Not done: the issue is resolved already.").waitFor();
  await page.getByText("Resolved by Grace").waitFor();
  await page.route("**/reopen", (route) =>
    route.fulfill({ status: 503, contentType: "application/json", body: '{"error":"the store is away"}' }),
  );
  await page.getByRole("button", { name: "Reopen" }).click();
  await page.getByRole("status").getByText("Not done: the store is away.").waitFor();
  await page.unroute("**/reopen");
  await page.getByRole("button", { name: "Reopen" }).click();
  await page.getByRole("status").getByText("Reopened.").waitFor();
});

test("what others do before the page follows the service is shown too", async () => {
  const { id } = await issueOf("orders/third");
  await visit("/issues");
  // The page follows by itself, and only once the other person is done.
  await page.addInitScript(() => Reflect.deleteProperty(window, "SharedWorker"));
  let follow = (): void => {};
  const done = new Promise<void>((resolve) => (follow = resolve));
  await page.route("**/api/live", (route) => done.then(() => route.continue()));
  await page.goto(`${service.url}/issues/${id}`);
  await page.getByRole("button", { name: "Resolve" }).waitFor();
  expect(await act("orders/third", "resolve", { by: "Hopper" })).toBe(200);
  follow();
  await page.getByText("Resolved by Hopper").waitFor();
  expect(await act("orders/third", "reopen", { by: "Hopper" })).toBe(200);
});

test("an answer that takes longer than news take to come is shown all the same", async () => {
  const { id } = await issueOf("orders/third");
  await visit("/issues");
  await page.route(`**/api/issues/${id}`, async (route) => {
    await new Promise((then) => setTimeout(then, 3000));
    await route.continue().catch(() => undefined);
  });
  const news = setInterval(() => void service.send(...started({ label: "news" })), 300);
  try {
    await page.goto(`${service.url}/issues/${id}`);
    await page.getByRole("button", { name: "Resolve" }).waitFor({ timeout: 20_000 });
  } finally {
    clearInterval(news);
  }
});

test("keys move between issues and act on them", async () => {
  await visit("/issues");
  const rows = page.getByRole("list", { name: /^Issues/ }).getByRole("listitem");
  await rows.nth(2).waitFor();
  const focused = (): Promise<string | null | undefined> =>
    page.evaluate(() => document.activeElement?.closest("li")?.querySelector("a")?.textContent?.trim());
  const labels = await rows.evaluateAll((all) => all.map((row) => row.querySelector("a")?.textContent?.trim()));
  await page.keyboard.press("j");
  expect(await focused()).toBe(labels[0]);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  expect(await focused()).toBe(labels[1]);
  const label = labels[1] ?? "";
  await act(label, "reopen");
  await page.keyboard.press("a");
  await page.getByRole("status").getByText(`Acknowledged: ${label}.`).waitFor();
  await page.keyboard.press("m");
  await page.getByRole("form", { name: "Mute" }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/issues/${(await issueOf(label)).id}`);
  await page.keyboard.press("r");
  await page.getByRole("heading", { level: 1, name: /: slower, resolved/ }).waitFor();
  expect(await act(label, "reopen")).toBe(200);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).getByText("acknowledge").waitFor();
  await page.keyboard.press("Escape");
  await page.goBack();
  await rows.first().waitFor();
  await page.keyboard.press("k");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: / is .* slower since/ }).waitFor();
});

test("issues are found by their words, which the address keeps", async () => {
  await visit("/issues");
  const rows = page.getByRole("list", { name: /^Issues/ }).getByRole("listitem");
  await rows.nth(2).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("ORDERS/second");
  await expect.poll(() => rows.count()).toBe(1);
  expect(new URL(page.url()).searchParams.get("q")).toBe("ORDERS/second");
  await page.reload();
  await rows.first().waitFor();
  expect(await rows.count()).toBe(1);
  await page.getByRole("searchbox", { name: "Find an issue" }).fill("zzzz");
  await page.getByRole("heading", { level: 1, name: "No issue matches" }).waitFor();
});

test("those that are marked are acknowledged together", async () => {
  const marked = ["orders/report", "orders/third"];
  for (const label of marked) await act(label, "reopen");
  const looked = await visit("/issues");
  for (const label of marked) await page.getByRole("checkbox", { name: `Mark ${label}` }).check();
  await page.getByRole("button", { name: "Acknowledge 2" }).click();
  await expect.poll(() => page.getByRole("button", { name: /^Acknowledge/ }).count()).toBe(0);
  for (const label of marked) expect((await issueOf(label)).state).toBe("acknowledged");
  expect(await page.getByRole("checkbox", { checked: true }).count()).toBe(0);
  await expectGood(looked);
  // What the state does not allow is said, and stays marked.
  await page.getByRole("checkbox", { name: "Mark orders/third" }).check();
  await page.getByRole("button", { name: "Acknowledge 1" }).click();
  await page.getByRole("status").getByText("Not done: ").waitFor();
  expect(await page.getByRole("checkbox", { checked: true }).count()).toBe(1);
});

test("a notification tells of an issue that opens, once asked for", async () => {
  await visit("/issues");
  // What the browser would show is noted.
  await page.addInitScript(() => {
    const shown: string[] = [];
    function Noted(title: string, { body }: { body: string }): void {
      shown.push(`${title}\n${body}`);
    }
    Noted.permission = "default";
    Noted.requestPermission = (): Promise<string> => {
      Noted.permission = "granted";
      return Promise.resolve("granted");
    };
    Object.assign(window, { Notification: Noted, shown });
  });
  await page.reload();
  const shown = (): Promise<string[]> => page.evaluate(() => (window as unknown as { shown: string[] }).shown);
  expect(await shown()).toEqual([]);
  await page.getByRole("button", { name: "Notify me of new issues" }).click();
  await page.getByRole("button", { name: "Notifications are on", pressed: true }).waitFor();
  for (const batch of slowed({ label: "orders/new", service: "new" })) await service.send(...batch);
  await page.waitForFunction(() => (window as unknown as { shown: string[] }).shown.length > 0);
  expect((await shown())[0]).toMatch(/^orders\/new is [23]\.\dx slower\n.* a day at stake\nnew/);
});

test("an issue that is not there says so", async () => {
  await visit("/issues/issue-slower-0");
  await page.getByText("There is no such issue.").waitFor();
  await page.getByRole("link", { name: "All issues" }).click();
  await page.getByRole("heading", { level: 1, name: /issues, / }).waitFor();
});

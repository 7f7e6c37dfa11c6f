// Pages do not move under the reader's eyes: https://web.dev/articles/cls.

import { randomUUID } from "node:crypto";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { open, type Width } from "./browser";
import { browser, captureLines, service, setStage } from "./captures";
import { started } from "./senders";

setStage((service) => service.fillWithDemo());

interface Entry extends PerformanceEntry {
  value: number;
  hadRecentInput: boolean;
  sources: { node: Node | null }[];
}

/** All that moved from the first paint on without a person's doing. */
async function shifts(page: Page): Promise<{ sum: number; moved: string }> {
  const found = await page.evaluate(() => {
    const noted = (window as unknown as { shifts: Entry[] }).shifts.filter(({ hadRecentInput }) => !hadRecentInput);
    return noted.map(({ value, sources }) => {
      const moved = sources.map(({ node }) => (node?.textContent ?? "").trim().slice(0, 40));
      return { value, moved };
    });
  });
  return { sum: found.reduce((sum, { value }) => sum + value, 0), moved: JSON.stringify(found) };
}

/** Answers come in any order and late: each this much later, by turns. */
const LATE_MS = [0, 600, 300];

/** Opens a page that notes what moves, and waits until it shows this. */
async function watched(path: string, width: Width, shows: string | RegExp): Promise<Page> {
  const { page } = await open(browser, "about:blank", "light", width);
  await page.addInitScript(() => {
    const noted: PerformanceEntry[] = [];
    Object.assign(window, { shifts: noted });
    const observer = new PerformanceObserver((list) => noted.push(...list.getEntries()));
    observer.observe({ type: "layout-shift", buffered: true });
  });
  let asked = 0;
  await page.route(/\/api\//, async (route) => {
    await new Promise((then) => setTimeout(then, LATE_MS[asked++ % LATE_MS.length]));
    await route.continue();
  });
  await page.goto(service.url + path);
  await page.getByText(shows).filter({ visible: true }).first().waitFor();
  // The last answers come after the first of them is shown.
  await page.waitForLoadState("load");
  await page.waitForTimeout(1000);
  return page;
}

const LABEL = "/labels/orders%2Fdaily-revenue?service=orders-etl";
const PAGES: [path: string, shows: string | RegExp, most: number][] = [
  ["/", "Where the time went", 0.02],
  ["/now", "Ended last", 0.05],
  ["/queries", "orders/daily-revenue", 0.05],
  ["/queries?view=runs", "newest first", 0.05],
  ["/queries?view=days", "Median of the day", 0.05],
  ["/queries?view=places", "Environments", 0.05],
  ["/queries?q=zzzz&service=billing", "Nothing matches all filters.", 0.05],
  [LABEL, /^Compare a typical run since/, 0.05],
  ["/labels/billing%2Finvoice-totals", "Plans", 0.05],
  ["/issues", "Issues", 0.05],
  ["/open", "Open a recording or a profile", 0.05],
  ["/settings", /^Tokens and users are managed/, 0.05],
];

test.each(PAGES.flatMap((page) => ([1440, 390] as Width[]).map((width) => [...page, width] as const)))(
  "%s stays where it is while it loads",
  async (path, shows, most, width) => {
    const page = await watched(path, width, shows);
    const { sum, moved } = await shifts(page);
    expect(sum, moved).toBeLessThan(most);
    await page.context().close();
  },
);

/** The newest run of the demo in this state. */
async function newest(search: string): Promise<string> {
  const response = await fetch(`${service.url}/api/queries?limit=1&${search}`);
  const [run] = (await response.json()) as { query_id: string }[];
  if (run === undefined) throw new Error(`no run with ${search}`);
  return `/queries/${run.query_id}`;
}

/** A run that goes on: of a plan with earlier runs, some samples in. */
async function running(): Promise<string> {
  const now = BigInt(Date.now());
  const [process = "", ...lines] = captureLines("unique/redundant");
  const { query_id: captured } = JSON.parse(lines[0] ?? "") as { query_id: string };
  const streamId = randomUUID();
  const retold = (id: string, agoMs: bigint): string[] => {
    const start = `"started_unix_ns":${(now - agoMs) * 1_000_000n}`;
    return lines.map((line) => line.replaceAll(captured, id).replaceAll(/"started_unix_ns":\d+/g, start));
  };
  const earlier = [1, 2, 3, 4, 5, 6].flatMap((at) => retold(randomUUID(), BigInt(at) * 60_000n));
  const id = randomUUID();
  const going = retold(id, 1000n).filter((line) => !line.includes('"query.finished"'));
  const all = [process.replace(/"id":"[^"]*"/, `"id":"${streamId}"`), ...earlier, ...going];
  // A stream numbers its events from 1 on.
  await service.sendLines(all.map((line, at) => line.replace(/"seq":\d+/, `"seq":${at + 1}`)));
  return `/queries/${id}`;
}

/** The first issue of the demo. */
async function issue(): Promise<string> {
  const response = await fetch(`${service.url}/api/issues?limit=1`);
  const { issues } = (await response.json()) as { issues: { id: string }[] };
  if (issues[0] === undefined) throw new Error("no issue");
  return `/issues/${issues[0].id}`;
}

const SLOWER = "label=orders%2Fdaily-revenue&status=finished";
const RUNS: [what: string, path: () => Promise<string>, shows: string | RegExp][] = [
  ["run of a slower plan", () => newest(SLOWER), "Compare with before"],
  ["run beside those before", async () => `${await newest(SLOWER)}?tab=compare`, "Compare with before"],
  ["run with its history", async () => `${await newest(SLOWER)}?tab=history`, "Compare with before"],
  // Of this query each run fails since yesterday; runs of others may have been cancelled.
  ["run that failed", () => newest("label=billing%2Finvoice-totals&status=failed"), /^Failed after/],
  ["run that runs", running, /^Running for/],
  ["issue", issue, /^History/],
];

test.each(RUNS.flatMap((run) => ([1440, 390] as Width[]).map((width) => [...run, width] as const)))(
  "the page of a %s stays where it is while it loads",
  async (_, path, shows, width) => {
    const page = await watched(await path(), width, shows);
    const { sum, moved } = await shifts(page);
    expect(sum, moved).toBeLessThan(0.05);
    await page.context().close();
  },
);

test.each([
  ["/now", 0.05],
  ["/", 0.02],
] as const)("%s stays where it is when four queries start", async (path, most) => {
  for (const width of [1440, 390] as Width[]) {
    const page = await watched(path, width, /Ended last|Where the time went/);
    for (const at of [1, 2, 3, 4]) await service.send(...started({ label: `steady/${at}` }));
    const running = (await (await fetch(`${service.url}/api/queries?status=running`)).json()) as unknown[];
    await page.getByRole("link", { name: `Now ${running.length} running` }).waitFor();
    await page.waitForTimeout(1500);
    const { sum, moved } = await shifts(page);
    expect(sum, `${width}: ${moved}`).toBeLessThan(most);
    await page.context().close();
  }
});

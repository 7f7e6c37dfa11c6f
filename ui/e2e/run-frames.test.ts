// Panning and zooming over a thousand nodes, by Chromium's own trace.

import { expect, test } from "vitest";
import { open } from "./browser";
import { browser, service, setStage } from "./captures";
import { joins, sendRun } from "./plans";

setStage();

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  ts: number;
  /** CPU time of the thread, in microseconds: what others do on the machine is not in it. */
  tdur?: number;
  args?: { name?: string };
}

/** So long may a frame take at 60 a second, with what the browser itself needs. */
const FRAME_MS = 20;
const STEPS = 40;

test("a thousand nodes are panned and zoomed without work of more than 20 ms a frame", async () => {
  const path = await sendRun(service, { label: "plan/large", plan: joins(1001), fingerprint: "b", samples: 2 });
  const { page } = await open(browser, `${service.url}${path}?show=100`, "light", 1440);
  const frame = page.getByRole("group", { name: /Picture of the plan/ });
  await frame.locator('svg[data-boxes="1001"]').waitFor();
  const box = await frame.boundingBox();
  if (!box) throw new Error("no picture");
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const drawn = (): Promise<void> =>
    page.evaluate(() => new Promise<void>((then) => requestAnimationFrame(() => then())));

  const session = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  await session.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: { includedCategories: ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"] },
  });
  const pan = async (): Promise<void> => {
    await page.mouse.move(x, y);
    await page.mouse.down();
    for (let at = 1; at <= STEPS; at += 1) {
      await page.mouse.move(x + at * 9, y + at * 4);
      await drawn();
    }
    await page.mouse.up();
  };
  await pan();
  await page.keyboard.down("Control");
  for (let at = 0; at < STEPS; at += 1) {
    await page.mouse.wheel(0, at < STEPS / 2 ? 60 : -60);
    await drawn();
  }
  await page.keyboard.up("Control");
  await page.getByRole("button", { name: "Fit" }).click();
  await frame.locator('svg[data-level="far"]').waitFor();
  await pan();
  const ended = new Promise((then) => session.once("Tracing.tracingComplete", then));
  await session.send("Tracing.end");
  await ended;

  // Work of the page's main thread between two frames: every task of it by its CPU time.
  const isMain = ({ ph, name, args }: TraceEvent): boolean =>
    ph === "M" && name === "thread_name" && args?.name === "CrRendererMain";
  const mains = new Set(events.filter(isMain).map(({ pid, tid }) => `${pid} ${tid}`));
  const tasks = events
    .filter(({ name }) => name === "RunTask")
    .filter(({ pid, tid, tdur }) => tdur !== undefined && mains.has(`${pid} ${tid}`));
  const frames = events.filter(({ name }) => name === "BeginMainThreadFrame" || name === "BeginMainFrame").length;
  const over = tasks.filter(({ tdur }) => (tdur ?? 0) > FRAME_MS * 1000);
  const longest = tasks.reduce((most, { tdur }) => Math.max(most, tdur ?? 0), 0) / 1000;
  const tooLong = `${over.length} tasks over ${FRAME_MS} ms`;
  console.log(`${frames} frames of 1,001 nodes: ${tooLong}, longest ${longest} ms of CPU`);
  expect(tasks.length).toBeGreaterThan(3 * STEPS);
  // Where the level of detail changes, or new parts come into sight, a frame draws anew.
  expect(over.length).toBeLessThanOrEqual(0.05 * 3 * STEPS);
});

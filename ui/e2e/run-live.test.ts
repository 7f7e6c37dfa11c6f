import type { Page } from "playwright-core";
import { afterEach, expect, test } from "vitest";
import { open } from "./browser";
import { browser, captureLines, importCaptures, service, setStage, startAgain } from "./captures";

let page: Page;

setStage(importCaptures);
afterEach(() => page.context().close());

test("a running query is followed to its end, across a cut stream and a restart, without a reload", async () => {
  const [process = "", ...events] = captureLines("unique/redundant");
  const id = "01a1faa8-0000-76d1-a172-5b8e27e16a1f";
  const stream = "210de94c-0000-43f0-9cd3-2604c74dbeea";
  const lines = [process, ...events].map((line) =>
    line
      .replaceAll(/210de94c-[0-9a-f-]+/g, stream)
      .replaceAll(/01a1faa8-3f2b-[0-9a-f-]+/g, id)
      .replaceAll("unique/redundant", "live/one")
      .replace(/"started_unix_ns":\d+,"wall/, `"started_unix_ns":${Date.now()}000000,"wall`),
  );
  const [first = "", started = "", ...rest] = lines;
  await service.sendLines([first, started]);
  ({ page } = await open(browser, `${service.url}/queries/${id}`));
  // It counts on by the clock while no event comes.
  await page.getByRole("heading", { name: /^Running for \d/ }).waitFor();
  await page.getByRole("heading", { name: /^Running for (?:[4-9]|\d\d)\b/ }).waitFor();

  await service.sendLines([first, rest[0] ?? ""]);
  await page.getByRole("heading", { name: /% of the CPU so far is in MultiScan #1/ }).waitFor();

  await service.stop();
  await page.getByText("The stream of this query is lost").waitFor();
  await startAgain();
  await service.sendLines([first, ...rest.slice(1)]);
  await page.getByRole("heading", { name: /^Finished in 1\.87 s.* GroupBy #3/ }).waitFor({ timeout: 30_000 });
  await page.getByRole("tab", { name: "Raw events" }).click();
  await page.getByText(`${lines.length} lines, as they were sent`).waitFor();
});

test("an event that comes late takes its place without being there twice", async () => {
  const [process = "", started = "", ...rest] = captureLines("unique/redundant").map((line) =>
    line
      .replaceAll(/210de94c-[0-9a-f-]+/g, "210de94c-0000-43f0-9cd3-2604c74dbeeb")
      .replaceAll(/01a1faa8-3f2b-[0-9a-f-]+/g, "01a1faa8-0000-76d1-a172-5b8e27e16a2f"),
  );
  await service.sendLines([process, rest[0] ?? ""]);
  ({ page } = await open(browser, `${service.url}/queries/01a1faa8-0000-76d1-a172-5b8e27e16a2f?tab=raw`));
  await page.getByText("2 lines, as they were sent").waitFor();
  await service.sendLines([process, started]);
  await page.getByText("3 lines, as they were sent").waitFor();
  const events = page.getByRole("listbox", { name: "Events" }).getByRole("option");
  expect((await events.allInnerTexts()).map((text) => text.split("\n")[1])).toEqual([
    "process",
    "started",
    expect.stringContaining("sample"),
  ]);
  await page.getByRole("heading", { name: /so far is in MultiScan #1/ }).waitFor();
});

test("a running query is judged by the earlier runs of its plan, and says nothing without enough of them", async () => {
  const id = (i: number): string => `01a1faa8-000${i}-76d1-a172-5b8e27e16a3f`;
  const lines = (i: number): string[] =>
    captureLines("unique/redundant").map((line) =>
      line
        .replaceAll(/210de94c-[0-9a-f-]+/g, `210de94c-000${i}-43f0-9cd3-2604c74dbeec`)
        .replaceAll(/01a1faa8-3f2b-[0-9a-f-]+/g, id(i))
        .replaceAll("unique/redundant", "live/judged"),
    );
  const now = (line: string): string =>
    line.replace(/"started_unix_ns":\d+,"wall/, `"started_unix_ns":${Date.now()}000000,"wall`);
  const run = async (i: number): Promise<void> => {
    const [process = "", started = ""] = lines(i);
    await service.sendLines([process, now(started)]);
    ({ page } = await open(browser, `${service.url}/queries/${id(i)}`));
  };
  await run(7);
  await page.getByRole("heading", { name: /^Running for/ }).waitFor();
  expect(await page.getByText(/the last \d+ runs/).count()).toBe(0);
  await page.context().close();

  for (let i = 1; i <= 6; i += 1) await service.sendLines(lines(i));
  await run(8);
  await page.getByText("Already longer than 6 of the last 6 runs of its query").waitFor();
});

test("a running query whose work is in no counter says so", async () => {
  const id = "01a1faa8-0000-76d1-a172-5b8e27e16a4f";
  const schema = (name: string): string => `engine-telemetry/${name}@1`;
  const node = { id: 1, kind: "map", role: "map", inputs: [], properties: { user_code: "score" } };
  const plan = { physical: [node], logical: [] };
  const started_unix_ns = Date.now() * 1e6;
  const profile = { schema: schema("profile"), query_id: id, label: "live/code", started_unix_ns, wall_ms: 1, plan };
  const of = { schema: schema("events"), query_id: id };
  const process = { ...of, seq: 1, type: "process", id: "210de94c-0000-43f0-9cd3-2604c74dbeed", host: "h" };
  const lines = [
    { ...process, query_id: undefined },
    { ...of, seq: 2, type: "query.started", profile },
    { ...of, seq: 3, type: "query.progress", elapsed_ms: 10, nodes: {} },
    { ...of, seq: 4, type: "query.progress", elapsed_ms: 8010, nodes: {} },
  ];
  await service.sendLines(lines.map((line) => JSON.stringify(line)));
  ({ page } = await open(browser, `${service.url}/queries/${id}`));
  await page.getByText("map #1 runs user code (score), whose work is in no counter").waitFor();
  // Counters stand still, which tells nothing of work that none counts.
  expect(await page.getByText("No counter has changed").count()).toBe(0);
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { expectGood, open } from "./browser";
import { browser, captureFiles, captureLines, importCaptures, runPath, service, setStage } from "./captures";

const RECORDING = captureFiles().find((file) => file.endsWith("031.jsonl.gz")) ?? "";

setStage(importCaptures);

test("a file is opened without being stored", async () => {
  const looked = await open(browser, `${service.url}/open`);
  const { page } = looked;
  const asked: string[] = [];
  page.on("request", (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await page.getByLabel("Choose a file").setInputFiles(RECORDING);
  await page.getByRole("heading", { name: /^Finished in 1\.87 s/ }).waitFor();
  expect(asked.filter((request) => request.startsWith("POST") || request.includes("/api/queries"))).toEqual([]);
  await expectGood(looked);
  await page.context().close();
});

test("a file is opened where it is dropped, on any page", async () => {
  const { page } = await open(browser, service.url);
  await page.getByRole("heading").first().waitFor();
  await page.evaluate(
    (bytes) => {
      const files = new DataTransfer();
      files.items.add(new File([new Uint8Array(bytes)], "mine.jsonl.gz"));
      for (const type of ["dragover", "drop"])
        window.dispatchEvent(new DragEvent(type, { dataTransfer: files, bubbles: true, cancelable: true }));
    },
    [...readFileSync(RECORDING)],
  );
  await page.getByRole("heading", { name: /^Finished in 1\.87 s/ }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/open");
  await page.context().close();
});

/** The whole profile at the end of a query. */
function profile(): object {
  return (JSON.parse(captureLines("unique/redundant").at(-1) ?? "") as { profile: object }).profile;
}

const BROKEN: [string, () => Buffer, RegExp][] = [
  [
    "notes.txt",
    () => Buffer.from("hello"),
    /notes\.txt cannot be shown: it holds no run that this page knows .*; line 1: /,
  ],
  ["empty.jsonl", () => Buffer.alloc(0), /it is empty/],
  [
    "later.json",
    () => Buffer.from(JSON.stringify({ ...profile(), schema: "polars-telemetry/profile@2" })),
    /it is polars-telemetry\/profile@2, and this page knows events@1 and profile@1/,
  ],
  [
    "cut.jsonl",
    () => Buffer.from(captureLines("unique/redundant").join("\n").slice(0, -2000)),
    /1 line could not be read; shown is the rest/,
  ],
  [
    "cut.jsonl.gz",
    () => gzipSync(captureLines("unique/redundant").join("\n")).subarray(0, -500),
    /its compressed part is cut off or broken: shown is what comes before/,
  ],
  [
    "torn.jsonl.gz",
    () => readFileSync(RECORDING).subarray(0, 200),
    /its compressed part is cut off or broken, and holds no run before that/,
  ],
];

test.each(BROKEN)("%s says what is wrong with it", async (name, content, says) => {
  const looked = await open(browser, service.url);
  const { page } = looked;
  await page.getByRole("link", { name: "Open a file" }).click();
  await page
    .getByLabel("Choose a file")
    .setInputFiles({ name, mimeType: "application/octet-stream", buffer: content() });
  await page.getByText(says).waitFor();
  await expectGood(looked);
  await page.context().close();
});

test("a profile document is opened, and what is shown is not stored", async () => {
  const { page } = await open(browser, `${service.url}/open`);
  await page
    .getByLabel("Choose a file")
    .setInputFiles({
      name: "mine.json",
      mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify(profile(), null, 1)),
    });
  await page.getByRole("heading", { name: /^Finished in 1\.87 s\. 69 % of the busy time is in GroupBy #3/ }).waitFor();
  await page.getByText("No sample of it was sent: one span is all there is.").waitFor();
  await page.context().close();
});

test("a file of profiles is opened, and each of its queries can be chosen", async () => {
  const { page } = await open(browser, `${service.url}/open`);
  const other = { ...profile(), query_id: "01a1faa8-1bd9-77b2-97ab-860dd7026599", label: "another", wall_ms: 61_000 };
  const lines = [profile(), other].map((each) => JSON.stringify(each)).join("\n");
  await page
    .getByLabel("Choose a file")
    .setInputFiles({ name: "profiles.jsonl.gz", mimeType: "application/gzip", buffer: gzipSync(lines) });
  await page.getByRole("heading", { name: /^Finished in 1\.87 s\. 69 % of the busy time is in GroupBy #3/ }).waitFor();
  await page.getByLabel("2 runs").selectOption({ label: "another, 61 s" });
  await page.getByRole("heading", { name: /^Finished in 61 s/ }).waitFor();
  await page.context().close();
});

test("a shared run opens without a network, replays, and holds nothing that was masked", async () => {
  const secret = /orders\.parquet|workload\.py|worker-1|orders-etl|unique\/redundant/;
  const { page } = await open(browser, service.url + (await runPath(service, "unique/redundant")));
  await page.getByRole("button", { name: "Share" }).click();
  const dialog = page.getByRole("dialog", { name: "Share this run as a file" });
  await dialog.getByText("What leaves").waitFor();
  expect(await dialog.innerText()).not.toMatch(secret);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    dialog.getByRole("button", { name: "Save the file" }).click(),
  ]);
  const file = join(service.data, "shared.html");
  await download.saveAs(file);
  await page.context().close();
  expect(readFileSync(file, "utf8")).not.toMatch(secret);

  const offline = await browser.newContext({ offline: true });
  const shared = await offline.newPage();
  const problems: string[] = [];
  shared.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  shared.on("request", (request) => !request.url().startsWith("file:") && problems.push(`asks ${request.url()}`));
  await shared.goto(`file://${file}`);
  await shared
    .getByRole("heading", { name: /^Finished in 1\.87 s\. 69 % of the busy time is in GroupBy #3/ })
    .waitFor();
  await shared.getByText("Deduplication removes no rows").first().waitFor();
  await shared.getByRole("slider", { name: "Moment of the run" }).press("ArrowLeft");
  await shared.getByText("until then").waitFor();
  await expectGood({ page: shared, problems });
  await offline.close();
});

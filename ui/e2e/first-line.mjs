// Prints the first line of a run's page: `node first-line.mjs URL`. For the tests of real senders (tests/e2e).

import { chromium } from "playwright-core";

const [url] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu"],
});
try {
  const page = await browser.newPage();
  await page.goto(url);
  const line = await page.getByRole("heading", { level: 1, name: /\. ./ }).innerText();
  console.log(line.replaceAll("\u00a0", " "));
} finally {
  await browser.close();
}

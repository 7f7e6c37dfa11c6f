// Prints, as JSON, what the HTML of a notebook's output shows, without a network. For the tests of the Python package.
//   node ui/e2e/notebook-output.mjs FILE

import { chromium } from "playwright-core";

const [file] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu"],
});
try {
  const context = await browser.newContext({ offline: true, viewport: { width: 1100, height: 800 } });
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("dialog", (dialog) => {
    problems.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => !/^(file|about|data):/.test(request.url()) && problems.push(`asks ${request.url()}`));
  await page.goto(`file://${file}`);
  const frame = page.frameLocator("iframe");
  const heading = await frame.getByRole("heading", { level: 1 }).innerText();
  const text = await frame.locator("main").innerText();
  const scripts = await frame.locator("main img, main script").count();
  if (process.env["SCREENSHOT"]) await page.screenshot({ path: process.env["SCREENSHOT"] });
  console.log(JSON.stringify({ heading, text, scripts, problems }).replaceAll("\u00a0", " "));
} finally {
  await browser.close();
}

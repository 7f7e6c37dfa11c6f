// Prints, as JSON, what an empty service's page tells a newcomer to install and to run.
//   node ui/e2e/page-snippet.mjs URL TOKEN

import { chromium } from "playwright-core";

const [url, token] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu"],
});
try {
  const page = await browser.newPage();
  await page.goto(url);
  await page.getByLabel("Token").fill(token);
  const text = (name) => page.getByRole("region", { name }).locator("code").innerText();
  const install = await text("Command that installs the package");
  const program = await text("Program that sends a query");
  console.log(JSON.stringify({ install, program }));
} finally {
  await browser.close();
}

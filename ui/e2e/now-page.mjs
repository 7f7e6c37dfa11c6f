// Prints what the page of running queries shows once it names a label. For the tests of the Python package.
//   node ui/e2e/now-page.mjs URL LABEL

import { chromium } from "playwright-core";

const [url, label] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu"],
});
try {
  const page = await browser.newPage();
  await page.goto(`${url}/now`);
  await page.getByRole("main").getByText(label).first().waitFor();
  console.log((await page.getByRole("main").innerText()).replaceAll("\u00a0", " "));
} finally {
  await browser.close();
}

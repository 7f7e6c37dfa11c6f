// Every page for those who zoom and those who want no motion.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectGood, launch, open } from "./browser";
import { importCaptures, runPath } from "./captures";
import { Service } from "./service";

let service: Service;
let browser: Browser;

beforeAll(async () => {
  [service, browser] = await Promise.all([Service.start(), launch()]);
  await importCaptures(service);
});

afterAll(async () => {
  await browser.close();
  await service.remove();
});

const PAGES = ["/", "/now", "/queries", "/queries?view=runs", "/queries?view=places", "/issues", "/settings", "run"];

test.each(PAGES)("zoomed to 200 %, %s is whole, and nothing in it moves", { tags: ["firefox"] }, async (path) => {
  const address = path === "run" ? await runPath(service, "join/exploding") : path;
  const looked = await open(browser, service.url + address, "light", 1280, 2);
  const { page } = looked;
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.waitForTimeout(500);
  expect(await page.evaluate(() => [devicePixelRatio, innerWidth])).toEqual([2, 640]);
  await expectGood(looked);
  const moving = await page.evaluate(() => {
    const timed = [...document.querySelectorAll("*")].filter((element) => {
      const { animationName, transitionDuration } = getComputedStyle(element);
      return animationName !== "none" || Number.parseFloat(transitionDuration) > 0;
    });
    return [...timed.map(({ className }) => String(className)), ...document.getAnimations().map(({ id }) => id)];
  });
  expect(moving).toEqual([]);
  await page.context().close();
});

// Every page for those who zoom and those who want no motion.

import { expect, test } from "vitest";
import { expectGood, open } from "./browser";
import { browser, importCaptures, runPath, service, setStage } from "./captures";

setStage(importCaptures);

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

test("a list in a dark page has a dark scrollbar", { tags: ["firefox"] }, async () => {
  const { page } = await open(browser, `${service.url}/queries?view=runs`, "dark", 1440);
  const list = page.locator("[data-scroll]").first();
  await list.getByRole("link").first().waitFor();
  const box = await list.boundingBox();
  const clip = { x: (box?.x ?? 0) + (box?.width ?? 0) - 12, y: (box?.y ?? 0) + 60, width: 10, height: 200 };
  const image = (await page.screenshot({ clip })).toString("base64");
  const brightest = await page.evaluate(async (image) => {
    const bytes = Uint8Array.from(atob(image), (letter) => letter.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    context?.drawImage(bitmap, 0, 0);
    const { data } = context?.getImageData(0, 0, bitmap.width, bitmap.height) ?? { data: [255] };
    return Math.max(...data.filter((_, at) => at % 4 === 0));
  }, image);
  expect(brightest).toBeLessThan(220);
  await page.context().close();
});

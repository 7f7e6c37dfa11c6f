// A browser, looked at the way a person would, and by axe: Chromium, or Firefox where BROWSER=firefox.

import { createRequire } from "node:module";
import { chromium, firefox, type Browser, type Page } from "playwright-core";
import { expect } from "vitest";

const FIREFOX = process.env["BROWSER"] === "firefox";
const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const FIREFOX_ESR = process.env["FIREFOX"] ?? "/usr/bin/firefox-esr";
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** Nothing that is waited for takes longer on a machine that is busy otherwise. */
const WAIT_MS = 60_000;
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

export type Scheme = "light" | "dark";
/** What tests of both schemes look at: a second Firefox takes seconds, so few tests ask for a dark one. */
export const SCHEMES: readonly Scheme[] = FIREFOX ? ["light"] : ["light", "dark"];
export const WIDTHS = { 1280: 900, 390: 844, 1440: 900, 1920: 1080 } as const;
export type Width = keyof typeof WIDTHS;

export function launch(): Promise<Browser> {
  return FIREFOX ? launchFirefox("light") : chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
}

/** Playwright drives Debian's Firefox by WebDriver BiDi: scheme and motion are those of the whole browser. */
function launchFirefox(scheme: Scheme): Promise<Browser> {
  return firefox.launch({
    channel: "moz-firefox",
    executablePath: FIREFOX_ESR,
    firefoxUserPrefs: { "ui.systemUsesDarkTheme": scheme === "dark" ? 1 : 0, "ui.prefersReducedMotion": 1 },
  });
}

const dark = new Map<Browser, Promise<Browser>>();

/** The browser itself, or in Firefox a dark one beside it, which ends with it. */
function ofScheme(browser: Browser, scheme: Scheme): Promise<Browser> | Browser {
  if (!FIREFOX || scheme === "light") return browser;
  let other = dark.get(browser);
  if (other === undefined) {
    other = launchFirefox(scheme);
    dark.set(browser, other);
    browser.once("disconnected", () => void other?.then((one) => one.close()));
  }
  return other;
}

export interface Looked {
  page: Page;
  /** What went wrong in the page: errors, refused sources, requests to elsewhere. */
  problems: string[];
}

/** A new window. Every error in it is noted, and so is every request that leaves the service. */
export async function open(
  browser: Browser,
  url: string,
  scheme: Scheme = "light",
  width: Width = 1280,
  zoom = 1,
): Promise<Looked> {
  const context = await (
    await ofScheme(browser, scheme)
  ).newContext({
    // A page that is zoomed has fewer of its own pixels, and each takes more of the screen.
    viewport: { width: width / zoom, height: WIDTHS[width] / zoom },
    deviceScaleFactor: zoom,
    colorScheme: scheme,
    reducedMotion: "reduce",
    timezoneId: "UTC",
  });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  const own = new URL(url).origin;
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("request", (request) => {
    if (!request.url().startsWith(own) && !/^(data|blob):/.test(request.url())) problems.push(`asks ${request.url()}`);
  });
  await page.goto(url);
  return { page, problems };
}

interface Axe {
  run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }>;
}

/** Nothing that axe finds, nothing wider than the window, no error. */
export async function expectGood({ page, problems }: Looked): Promise<void> {
  // Injected by the protocol: the page's own policy allows no script but its own.
  const { readFile } = await import("node:fs/promises");
  await page.evaluate(await readFile(AXE, "utf8"));
  const violations = await page.evaluate(async () => (await (window as unknown as { axe: Axe }).axe.run()).violations);
  const said = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary ?? ""}`),
  );
  expect(said).toEqual([]);
  const overflow = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth - clientWidth;
  });
  expect(overflow, "the page is wider than the window").toBeLessThanOrEqual(0);
  expect(problems).toEqual([]);
}

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { KEYS, PAGES } from "./keys";

test("the help lists every key that the documentation of the run page names", () => {
  const page = readFileSync(new URL("../../../docs/reference/run-page.md", import.meta.url), "utf8");
  const section = /^## Keys$([^#]*)/m.exec(page)?.[1] ?? "";
  const keys = section.replaceAll(/`(t|base\w*)`/g, "");
  const named = [...keys.matchAll(/`([^`]+)`/g)].map(([, key]) => key?.replace("-", "−"));
  expect(named.length).toBeGreaterThan(8);
  const listed = new Set(KEYS.flatMap(({ keys }) => keys.flatMap(([key]) => key.split(" "))));
  expect(named.filter((key) => key !== undefined && !listed.has(key))).toEqual([]);
  const dashboard = readFileSync(new URL("../../../docs/reference/dashboard.md", import.meta.url), "utf8");
  for (const [letter, name] of PAGES) expect(dashboard).toContain(`\`g ${letter}\` ${name}`);
  for (const word of ["←", "→", "Space"]) expect(listed).toContain(word);
});

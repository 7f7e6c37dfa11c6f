import { expect, test } from "vitest";
import { baseAsked, type BaseName } from "./base";

const asked = (given: Partial<Record<BaseName, string>>) => baseAsked((name) => given[name]);

test("a run that is named goes before everything else", () => {
  expect(asked({ base: "01a1", base_plan: "f" })).toEqual({ base: "01a1" });
});

test("a plan, a version, a host and days ask for a typical run of theirs", () => {
  expect(asked({ base_plan: "f", base_version: "1.0", base_host: "h" })).toMatchObject({
    base_fingerprint: "f",
    base_program_version: "1.0",
    base_host: "h",
  });
  const { base_since: since, base_until: until } = asked({ base_from: "2026-11-18", base_to: "2026-11-18" });
  expect((until ?? 0n) - (since ?? 0n)).toBe(86_399_999_000_000n);
});

test("what is no day is passed over", () => {
  expect(asked({ base_from: "yesterday", base_to: "2026-99-99" })).toMatchObject({
    base_since: undefined,
    base_until: undefined,
  });
});

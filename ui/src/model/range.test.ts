import { expect, test } from "vitest";
import {
  between,
  coveredBy,
  endsMs,
  moved,
  parametersOf,
  PRESETS,
  rangeName,
  rangeOf,
  rangeText,
  zoomedOut,
} from "./range";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = 100 * DAY;
const of = (parameters: Record<string, string>): ReturnType<typeof rangeOf> => rangeOf((name) => parameters[name]);
const said = (time: bigint): string => `h${Number(time / 1_000_000n) / HOUR}`;

test("what the address says is the range, and 14 days where it says nothing or nonsense", () => {
  for (const wrong of [{}, { days: "15" }, { hours: "x" }, { since: "soon" }, { since: "9", until: "9" }] as const) {
    if (!("until" in wrong)) expect(of(wrong)).toEqual({ name: "days", count: 14 });
  }
  expect(of({ hours: "6" })).toEqual({ name: "hours", count: 6 });
  expect(of({ days: "7", since: "5", until: "9" })).toEqual({ since: 5n, until: 9n });
  expect(of({ since: "5" })).toEqual({ since: 5n, until: undefined });
  const until = BigInt(NOW) * 1_000_000n;
  expect(of({ until: String(until) })).toEqual({ since: until - BigInt(14 * DAY) * 1_000_000n, until });
});

test("a range comes back from its parameters, and takes away those of another", () => {
  for (const range of [...PRESETS, between(5, 9, NOW), between(5, NOW, NOW)]) {
    const parameters = parametersOf(range);
    expect(rangeOf((name) => parameters[name as keyof typeof parameters])).toEqual(range);
    expect(Object.keys(parameters)).toEqual(["days", "hours", "since", "until"]);
  }
  expect(Object.values(parametersOf({ name: "days", count: 14 })).every((value) => value === undefined)).toBe(true);
});

test("zooming out doubles the range, never beyond now or 90 days", () => {
  expect(zoomedOut(between(10 * HOUR, 12 * HOUR, NOW), NOW)).toEqual(between(9 * HOUR, 13 * HOUR, NOW));
  expect(endsMs(zoomedOut(between(NOW - 2 * HOUR, NOW - HOUR / 4, NOW), NOW), NOW)).toEqual([NOW - 3.5 * HOUR, NOW]);
  expect(zoomedOut({ name: "days", count: 7 }, NOW)).toEqual({ name: "days", count: 14 });
  expect(zoomedOut({ name: "days", count: 90 }, NOW)).toEqual({ name: "days", count: 90 });
});

test("moving keeps the length and ends now at the latest", () => {
  expect(endsMs(moved({ name: "days", count: 1 }, -1, NOW), NOW)).toEqual([NOW - 2 * DAY, NOW - DAY]);
  expect(endsMs(moved(between(NOW - 3 * HOUR, NOW - HOUR, NOW), 1, NOW), NOW)).toEqual([NOW - 2 * HOUR, NOW]);
});

test("days are asked for as days, everything else by its ends", () => {
  expect(coveredBy({ name: "days", count: 7 }, NOW)).toEqual({ days: 7 });
  expect(coveredBy({ name: "days", count: 1 }, NOW)).toEqual({ since: BigInt(NOW - 24 * HOUR) * 1_000_000n });
  expect(coveredBy({ name: "hours", count: 1 }, NOW)).toEqual({ since: BigInt(NOW - HOUR) * 1_000_000n });
  expect(coveredBy(between(5, 9, NOW), NOW)).toEqual({ since: 5_000_000n, until: 9_000_000n });
});

test("it is said in words", () => {
  const range = between(2 * HOUR, 5 * HOUR, NOW);
  expect(rangeText(range, said)).toBe("from h2 to h5");
  expect(rangeText(between(2 * HOUR, NOW, NOW), said)).toBe("since h2");
  expect(rangeText({ name: "hours", count: 1 }, said)).toBe("in 1 hour");
  expect(rangeName({ name: "days", count: 1 }, said)).toBe("Last 24 hours");
  expect(rangeName({ name: "days", count: 14 }, said)).toBe("Last 14 days");
  expect(rangeName(range, said)).toBe("h2 – h5");
});

import { expect, test } from "vitest";
import type { Version } from "../api/client";
import { lastWords, letterOf, plansOf } from "./plans";

const version = (fingerprint: string, first: bigint, usual: number): Version => ({
  fingerprint,
  first_started_unix_ns: first,
  last_started_unix_ns: first,
  usual_wall_ms: usual,
  runs: 1,
  failed: 0,
  cancelled: 0,
  unfinished: 0,
  rules: [],
  latest_query_id: "q",
});

test("plans are lettered in the order they first ran, each held against the one before", () => {
  const plans = plansOf([version("new", 1795206683609778764n, 30), version("old", 1795206683609778763n, 10)]);
  expect(
    plans.map(({ letter, version, ratio, before }) => [letter, version.fingerprint, ratio, before?.letter]),
  ).toEqual([
    ["A", "old", undefined, undefined],
    ["B", "new", 3, "A"],
  ]);
});

test("plans are held against each other by their runs from before an open change", () => {
  // Since the change, every run takes four times as long, and B has run more often since.
  const all = [
    { ...version("a", 1n, 12), runs: 20 },
    { ...version("b", 2n, 40), runs: 20 },
    { ...version("c", 3n, 50), runs: 5 },
  ];
  const earlier = [
    { ...version("a", 1n, 10), runs: 18 },
    { ...version("b", 2n, 10), runs: 5 },
    // Four say nothing of what was usual.
    { ...version("c", 3n, 10), runs: 4 },
  ];
  expect(plansOf(all, earlier).map(({ usualMs, ratio, isBefore }) => [usualMs, ratio, isBefore])).toEqual([
    [10, undefined, true],
    [10, 1, true],
    [50, 5, false],
  ]);
});

test("a newer run with a plan that is not listed takes 'ran last' from the listed ones", () => {
  const listed = { ...version("a", 1n, 10), last_started_unix_ns: 5n };
  const words = (fingerprint: string | null, started_unix_ns: bigint): string =>
    lastWords(listed, { fingerprint, started_unix_ns });
  expect(lastWords(listed, undefined)).toBe("ran last");
  // Versions are read apart from the runs: a newer run of this very plan may be among the runs first.
  expect([words("a", 5n), words("a", 9n), words("b", 4n)]).toEqual(["ran last", "ran last", "ran last"]);
  expect([words("b", 9n), words(null, 9n)]).toEqual(["ran last of these", "ran last of these"]);
});

test("letters do not end at Z", () => expect([0, 25, 26, 27, 52].map(letterOf)).toEqual(["A", "Z", "AA", "AB", "BA"]));

test("colours end before letters", () =>
  expect(
    plansOf(Array.from({ length: 8 }, (_, at) => version(`${at}`, BigInt(at), 1))).map(({ colour }) => colour),
  ).toEqual([0, 1, 2, 3, 4, 5, "other", "other"]));

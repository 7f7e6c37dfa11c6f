import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { clockWords, libraryName, together } from "./senders";

const sender = (about: Partial<Schemas["Sender"]>): Schemas["Sender"] => ({
  batches: 1,
  duplicates: 0,
  events: 5,
  first_unix_ns: 1n,
  last_unix_ns: 2n,
  project: "default",
  refused: 0,
  service: "etl",
  host: "etl-1",
  agent: "some/1",
  ...about,
});

test("processes of one service, host and library are one row, with sums and the clock that is most ahead", () => {
  const refusal = { reason: "too large", status: 413, unix_ns: 3n };
  const rows = together([
    sender({ last_unix_ns: 9n, clock_behind_ms: 20 }),
    sender({ host: "etl-2", dropped: 3 }),
    sender({ last_unix_ns: 4n, events: 7, refused: 2, last_refusal: refusal, clock_behind_ms: -5000 }),
    sender({ last_unix_ns: 3n, events: 0, clock_behind_ms: 86_400_000 }),
    sender({ host: "etl-2", dropped: 4 }),
    // What it does not say is no sum of others.
    sender({ host: "etl-2" }),
  ]);
  const told = rows.map(({ host, count, events, refused, dropped }) => [host, count, events, refused, dropped]);
  expect(told).toEqual([
    ["etl-1", 3, 12, 2, undefined],
    ["etl-2", 2, 10, 0, 7],
    ["etl-2", 1, 5, 0, undefined],
  ]);
  expect([rows[0]?.last_unix_ns, rows[0]?.last_refusal, rows[0]?.clock_behind_ms]).toEqual([9n, refusal, -5000]);
});

test("only events from the future say that a clock is off", () => {
  const words = [undefined, null, 999, 1500, -90_000, 86_400_000].map((ms) => clockWords({ clock_behind_ms: ms }));
  expect(words).toEqual([
    "",
    "",
    "",
    "newest start or end dated 1.5 s before receipt",
    "clock ahead by at least 90 s",
    "newest start or end dated 24 h before receipt",
  ]);
  const late = together([sender({ clock_behind_ms: -20 }), sender({ clock_behind_ms: 86_400_000 })]);
  expect(late.map(clockWords)).toEqual(["newest start or end dated 24 h before receipt"]);
});

test("a library has its version beside its name", () =>
  expect(["queryscope-client/0.1.0", "python/3.13 aiohttp/3.9", "a/b", undefined].map(libraryName)).toEqual([
    "queryscope-client 0.1.0",
    "python 3.13 aiohttp 3.9",
    "a/b",
    "–",
  ]));

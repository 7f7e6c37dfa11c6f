import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { clockWords, together } from "./senders";

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

test("processes of one service, host and library are one row, with sums and the clock that is most off", () => {
  const refusal = { reason: "too large", status: 413, unix_ns: 3n };
  const rows = together([
    sender({ last_unix_ns: 9n, clock_behind_ms: 20 }),
    sender({ host: "etl-2", dropped: 3 }),
    sender({ last_unix_ns: 4n, events: 7, refused: 2, last_refusal: refusal, clock_behind_ms: -5000 }),
    sender({ host: "etl-2", dropped: 4 }),
    // What it does not say is no sum of others.
    sender({ host: "etl-2" }),
  ]);
  const told = rows.map(({ host, count, events, refused, dropped }) => [host, count, events, refused, dropped]);
  expect(told).toEqual([
    ["etl-1", 2, 12, 2, undefined],
    ["etl-2", 2, 10, 0, 7],
    ["etl-2", 1, 5, 0, undefined],
  ]);
  expect([rows[0]?.last_unix_ns, rows[0]?.last_refusal, rows[0]?.clock_behind_ms]).toEqual([9n, refusal, -5000]);
});

test("a clock that is off by a second or more is told", () => {
  const words = [undefined, null, 999, 1500, -90_000, 86_400_000].map((ms) => clockWords({ clock_behind_ms: ms }));
  expect(words).toEqual(["", "", "", "1.5 s behind at most", "90 s ahead at least", "its events are 24 h old"]);
});

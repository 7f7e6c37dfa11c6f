import { expect, test } from "vitest";
import { muteOf } from "./mute";

const NOW = Date.UTC(2026, 10, 24, 12);

test("a form says until when", () => {
  expect(muteOf({ until: "time", span: 0, at: "" }, NOW, "utc")).toEqual({
    until_unix_ns: BigInt(NOW + 3_600_000) * 1_000_000n,
  });
  expect(muteOf({ until: "time", span: 4, at: "2026-11-25T08:00" }, NOW, "utc")).toEqual({
    until_unix_ns: BigInt(Date.UTC(2026, 10, 25, 8)) * 1_000_000n,
  });
  const local = new Date(2026, 10, 25, 8).getTime();
  expect(muteOf({ until: "time", span: 4, at: "2026-11-25T08:00" }, NOW, "local")).toEqual({
    until_unix_ns: BigInt(local) * 1_000_000n,
  });
  expect(muteOf({ until: "time", span: 4, at: "" }, NOW, "utc")).toBeUndefined();
  expect(muteOf({ until: "worse", times: 2 }, NOW, "utc")).toEqual({ times_worse: 2 });
  expect(muteOf({ until: "worse", times: Number.NaN }, NOW, "utc")).toBeUndefined();
  expect(muteOf({ until: "program" }, NOW, "utc")).toEqual({ until_other: "program" });
});

import { expect, test } from "vitest";
import { toSteps } from "./chart";
import { sayCounter } from "./say-counter";

test("busy threads are steps under a top of 1, 2, 4, 8", () => {
  const steps = toSteps(
    [
      { fromMs: 0, untilMs: 50, threads: 1 },
      { fromMs: 50, untilMs: 100, threads: 3 },
    ],
    100,
    200,
    40,
  );
  expect(steps).toEqual({ line: "M0 30H100L100 10H200", area: "M0 30H100L100 10H200V40H0Z", most: 4 });
});

test("nothing is drawn of nothing", () => {
  expect(toSteps([], 0, 200, 40)).toEqual({ line: "", area: "", most: 1 });
});

test("a counter is said in the unit its name tells, and copied with every digit", () => {
  const said = (name: string, value: number | bigint): string[] => Object.values(sayCounter(name, value));
  expect(said("total_poll_time_ns", 1_500_000_000)).toEqual([
    "total poll time",
    "1.5 s",
    "1,500,000,000 ns",
    "1500000000",
  ]);
  expect(said("io_total_bytes_received", 2048)).toEqual(["io total bytes received", "2 KiB", "2,048 bytes", "2048"]);
  expect(said("rows_sent", 9007199254740993n)).toEqual([
    "rows sent",
    "9.01 P",
    "9,007,199,254,740,993",
    "9007199254740993",
  ]);
});

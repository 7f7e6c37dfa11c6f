import { expect, test } from "vitest";
import { isEven, mostOf, timeMarks, toSteps, wholeBytes, wholeThreads } from "./chart";
import { sayCounter } from "./say-counter";

test("spans are steps under the top edge", () => {
  const steps = toSteps(
    [
      { fromMs: 0, untilMs: 50, value: 1 },
      { fromMs: 50, untilMs: 100, value: 3 },
    ],
    100,
    4,
    200,
    40,
  );
  expect(steps).toEqual({ line: "M0 30H100L100 10H200", area: "M0 30H100L100 10H200V40H0Z" });
});

test("nothing is drawn of nothing", () => {
  expect(toSteps([], 0, 1, 200, 40)).toEqual({ line: "", area: "" });
});

test("more spans than pixels are joined to their means", () => {
  const spans = Array.from({ length: 1000 }, (_, i) => ({ fromMs: i, untilMs: i + 1, value: i % 2 }));
  const { line } = toSteps(spans, 1000, 1, 100, 10);
  expect(line.split("H").length).toBe(101);
  expect(line.startsWith("M0 5H1L1 5H2")).toBe(true);
});

test("a scale ends with a whole number of threads or bytes", () => {
  expect([0, 1, 1.04, 3, 8.2].map(wholeThreads)).toEqual([1, 1, 1, 4, 16]);
  expect([0, 2 ** 20, 3 * 2 ** 20].map(wholeBytes)).toEqual([2 ** 20, 2 ** 20, 2 ** 22]);
  expect(mostOf([])).toBe(0);
  const [low, high] = [1, 2].map((value) => ({ fromMs: 0, untilMs: 1, value }));
  expect(low && high && [isEven([low]), isEven([low, low]), isEven([low, high])]).toEqual([true, true, false]);
});

test("the axis of time has about as many marks as asked for, at round times", () => {
  expect(timeMarks(2200, 6)).toEqual([0, 500, 1000, 1500, 2000]);
  expect(timeMarks(76_200, 6)).toEqual([0, 15_000, 30_000, 45_000, 60_000, 75_000]);
  expect(timeMarks(0.05, 5)).toEqual([0, 0.01, 0.02, 0.03, 0.04, 0.05]);
  expect(timeMarks(0, 5)).toEqual([]);
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

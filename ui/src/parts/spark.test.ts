import { expect, test } from "vitest";
import { spark } from "./spark";

test("values stand between zero and the largest, the last one marked", () => {
  const { line, last } = spark([0, null, 10], null, 25, 15);
  expect(line).toBe("M2.5 12.5L22.5 3.0");
  expect(last?.x).toBe(22.5);
});

test("the band has room also above all values", () => {
  const { band, line } = spark([1], [10, 20], 25, 15);
  expect(band?.y).toBeGreaterThan(2.5);
  expect((band?.y ?? 0) + (band?.height ?? 0)).toBeLessThan(12.5);
  expect(line).toMatch(/^M2\.5 12\.0$/);
});

test("nothing known is no line", () =>
  expect(spark([null, null], null, 25, 15)).toMatchObject({ line: "", last: undefined, band: undefined }));

test("one value alone stands in the middle", () => expect(spark([null, 7], null, 25, 15).last?.y).toBe(7.5));

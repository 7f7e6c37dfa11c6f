import { expect, test } from "vitest";
import { readRecording } from "../../model/run/run";
import { whyNothing } from "./opened.svelte";

test("a file that shows no query says why", () => {
  expect(whyNothing(readRecording(""))).toBe("it is empty");
  expect(whyNothing(readRecording('{\n "schema": "polars-telemetry/profile@2"\n}'.replaceAll("\n", "")))).toBe(
    "it is polars-telemetry/profile@2, and this page knows events@1 and profile@1",
  );
  expect(whyNothing(readRecording("hello\nworld"))).toMatch(
    /^it holds no run that this page knows \(events@1 and profile@1\); line 1: ./,
  );
});

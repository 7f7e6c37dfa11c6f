import { expect, test } from "vitest";
import type { QuerySummary } from "../api/client";
import { groupFailures, likeness } from "./failures";

const failed = (text: string | null, label: string | null, at: bigint): QuerySummary => ({
  query_id: `${at}`,
  stream_id: "s",
  project: "p",
  host: "h",
  status: "failed",
  warnings: 0,
  rules: [],
  started_unix_ns: at,
  failed: text,
  label,
});

test("numbers and ids make no difference, words do", () => {
  const text = "lost part 17 of 01a1faa8-1bd9-77b2-97ab-860dd7026506 after 2.5 s\nat x";
  expect(likeness(text)).toBe("lost part # of # after # s");
  expect(likeness("key deadbeef01 gone")).toBe("key # gone");
  expect(likeness("defaced feedback")).toBe("defaced feedback");
});

test("the most frequent cause comes first and keeps its newest run", () => {
  const groups = groupFailures([
    failed("disk 2 full", "b", 9n),
    failed("no column", "a", 8n),
    failed("disk 1 full", null, 7n),
    failed(null, "c", 6n),
  ]);
  const said = groups.map(({ last, ...group }) => ({ ...group, last: last.query_id }));
  expect(said).toEqual([
    { line: "disk 2 full", runs: 2, labels: ["b", "no label"], firstAt: 7n, last: "9" },
    { line: "no column", runs: 1, labels: ["a"], firstAt: 8n, last: "8" },
  ]);
});

test("a label that fails in two services is two queries", () => {
  const in_ = (service: string | null): QuerySummary => ({ ...failed("disk full", "a", 1n), service });
  expect(groupFailures([in_("x"), in_("y"), in_("x"), in_(null)])[0]?.labels).toEqual(["a · x", "a · y", "a"]);
});

test("a cancelled run is no failure", () =>
  expect(groupFailures([failed("cancelled", "a", 1n), failed("python: KeyboardInterrupt:.", "a", 2n)])).toEqual([]));

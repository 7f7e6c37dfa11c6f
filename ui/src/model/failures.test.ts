import { expect, test } from "vitest";
import type { QuerySummary } from "../api/client";
import type { Change } from "./change";
import { change } from "./change-example";
import { failureSince, groupFailures, headOf, likeness, reasonOf } from "./failures";

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
  expect(likeness("Error processing some rows:\n\n  ValueError: bad amount 42\n  ValueError: bad amount 42")).toBe(
    "Error processing some rows: ValueError: bad amount #",
  );
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

test("why runs fail since a change is told by the newest run since that failed", () => {
  const at = (started_unix_ns: bigint, failed: string | null, more: Partial<QuerySummary> = {}): QuerySummary =>
    ({ started_unix_ns, failed, project: "p", label: "a", service: "etl", ...more }) as QuerySummary;
  const failing = change({ kind: "failing" });
  const said = (of: Change, runs: readonly QuerySummary[]): unknown => failureSince(of, runs)?.failed;
  const elsewhere = [
    at(30n, "d", { environment: "test" }),
    at(30n, "s", { service: "other" }),
    at(30n, "l", { label: "b" }),
  ];
  const runs = [...elsewhere, at(20n, "Query was cancelled"), at(15n, null), at(10n, "new"), at(9n, "old")];
  expect(said(failing, runs)).toBe("new");
  expect(said({ ...failing, project: "q" }, runs)).toBeUndefined();
  expect(said(failing, [at(8n, "before")])).toBeUndefined();
});

test("of a long error its first lines are shown, and what is left out is counted", () => {
  expect(headOf(" disk full\n  at b\n")).toEqual({ head: "disk full\n  at b", left: "" });
  const lines = (count: number, text: string): string => Array<string>(count).fill(text).join("\n");
  expect(headOf(lines(200, "x"))).toEqual({ head: lines(200, "x"), left: "" });
  expect(headOf(lines(201, "x"))).toEqual({ head: lines(200, "x"), left: "1 line" });
  expect(headOf(lines(68_928, "x")).left).toBe("68.7 k lines");
  // One line of its own, and lines that are long.
  expect(headOf("y".repeat(20_000)).left).toBe("");
  expect(headOf("y".repeat(50_000))).toEqual({ head: `${"y".repeat(20_000)}…`, left: "30 k characters" });
  const { head, left } = headOf(lines(10, "y".repeat(7000)));
  expect([head.length, left]).toEqual([20_001, "7 lines"]);
});

test("the reason of a failure is the first line of its error, cut where it is long", () => {
  expect(reasonOf("disk full\nwhile writing")).toBe("disk full.");
  expect(reasonOf('column "amount" is missing: ["x"]')).toBe('column "amount" is missing: ["x"]');
  expect(reasonOf("Error processing some rows:\n\n  ValueError: bad amount 42")).toBe(
    "Error processing some rows: ValueError: bad amount 42.",
  );
  expect(reasonOf("x".repeat(200))).toBe(`${"x".repeat(119)}…`);
  expect(reasonOf(" ")).toBe("");
});

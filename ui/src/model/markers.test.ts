import { expect, test } from "vitest";
import { changeMarkers, issueMarkers, noteMarkers } from "./markers";
import type { Change } from "./change";

test("changes are marked where they began, by their kind", () => {
  const change = (kind: Change["kind"]): Change => ({ id: kind, kind, since_unix_ns: 5n }) as Change;
  expect(changeMarkers([change("failing"), change("data_grew")])).toEqual([
    { id: "failing", at: 5n, kind: "failing", words: "failing since" },
    { id: "data_grew", at: 5n, kind: "slower", words: "data grew since" },
  ]);
});

test("issues are marked where they were opened, and where they were resolved", () => {
  const issue = { id: "i", kind: "slower", opened_unix_ns: 5n, moved_unix_ns: 9n } as const;
  const at = (state: "open" | "resolved"): unknown =>
    issueMarkers([{ ...issue, state }]).map(({ at, kind }) => [at, kind]);
  expect(at("open")).toEqual([[5n, "issue"]]);
  expect(at("resolved")).toEqual([
    [5n, "issue"],
    [9n, "over"],
  ]);
});

test("notes are marked at their moment, a long one by its beginning", () => {
  const note = { id: "n", unix_ns: 5n, text: "the new join" } as Parameters<typeof noteMarkers>[0][0];
  expect(noteMarkers([note, { ...note, text: "x".repeat(300) }])).toEqual([
    { id: "n", at: 5n, kind: "note", words: "note: the new join" },
    { id: "n", at: 5n, kind: "note", words: `note: ${"x".repeat(200)}…` },
  ]);
});

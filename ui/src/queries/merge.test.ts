import { expect, test } from "vitest";
import type { QuerySummary, Status } from "../api/client";
import { mergeNewest } from "./merge";

const row = (id: string, status: Status = "finished"): QuerySummary => ({
  query_id: id,
  stream_id: "s",
  project: "p",
  host: "h",
  status,
  started_unix_ns: 1n,
  warnings: 0,
  rules: [],
});
const said = (rows: readonly QuerySummary[]): string =>
  rows.map(({ query_id, status }) => `${query_id}:${status[0]}`).join(" ");

test("new rows come on top, known ones take their new state and keep their place", () =>
  expect(said(mergeNewest([row("b", "running"), row("a")], [row("c"), row("b")]))).toBe("c:f b:f a:f"));

test("a page that shares nothing replaces all", () =>
  expect(said(mergeNewest([row("a")], [row("z"), row("y")]))).toBe("z:f y:f"));

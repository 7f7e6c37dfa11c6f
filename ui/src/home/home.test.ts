import { expect, test } from "vitest";
import type { Change } from "../model/change";
import type { Issue } from "../model/issue";
import { ofOwner } from "./home";

const change = (id: string): Change => ({ id }) as Change;
const issue = (id: string, about: string | null, owner: string | null): Issue =>
  ({ id, change: about, owner }) as Issue;

test("an owner sees the issues of their queries, and the changes these are about", () => {
  const changes = [change("c1"), change("c2"), change("c3")];
  const issues = [
    issue("i1", "c1", "ada"),
    issue("i2", "c2", "bob"),
    issue("i3", null, "ada"),
    issue("i4", null, null),
  ];
  const ids = (owner: string) => {
    const mine = ofOwner({ changes, issues }, owner);
    return [mine.changes.map(({ id }) => id).join(), mine.issues.map(({ id }) => id).join()];
  };
  expect(ids("")).toEqual(["c1,c2,c3", "i1,i2,i3,i4"]);
  expect(ids("ada")).toEqual(["c1", "i1,i3"]);
  expect(ids("nobody")).toEqual(["", ""]);
});

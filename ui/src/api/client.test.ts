import { expect, test } from "vitest";
import { address, nextCursor } from "./client";

test("addresses escape what labels may hold and leave out what is not asked", () => {
  expect(address("/api/queries/{id}", { id: "a/b?c" })).toBe("/api/queries/a%2Fb%3Fc");
  expect(address("/api/queries", {}, { label: "orders/daily & more", service: "", host: undefined })).toBe(
    "/api/queries?label=orders%2Fdaily+%26+more&service=",
  );
  expect(address("/api/queries", {}, { since: 1795206683609778763n })).toBe("/api/queries?since=1795206683609778763");
});

test("the next page is named by its cursor", () => {
  expect(nextCursor('</api/queries?limit=2&cursor=ab%3D>; rel="next"')).toBe("ab=");
  expect(nextCursor('</api/queries?cursor=x>; rel="prev"')).toBeUndefined();
  expect(nextCursor(null)).toBeUndefined();
});

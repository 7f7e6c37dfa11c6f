import { expect, test } from "vitest";
import { loginAddress } from "./login";

test("a login leads back to the page that was open", () => {
  expect(loginAddress("/", "")).toBe("/login");
  expect(loginAddress("/queries", "?label=a%20b&view=runs")).toBe(
    "/login?next=%2Fqueries%3Flabel%3Da%2520b%26view%3Druns",
  );
});

import { expect, test } from "vitest";
import { active, asked, culprit, type Filters } from "./filters";

test("nanoseconds of an address are exact, what is no number or no state is left out", () => {
  expect(asked({ since: "1795206683609778763", until: "soon", status: "odd" })).toMatchObject({ since: 1795206683609778763n, until: undefined, status: undefined });
  expect(asked({ service: "" }).service).toBe("");
});

test("an empty filter is one: it asks for those without a value", () => expect(active({ service: "", q: undefined, host: "h" })).toEqual(["service", "host"]));

test("the filter that removes most is named", async () => {
  const signal = new AbortController().signal;
  const counts = (filters: Filters): Promise<number> => Promise.resolve(filters.host === undefined ? 120 : filters.status === undefined ? 7 : 0);
  expect(await culprit({ host: "h", status: "failed", service: "s" }, signal, counts)).toEqual({ filter: "host", without: 120 });
  expect(await culprit({ service: "s" }, signal, () => Promise.resolve(0))).toBeUndefined();
});

import { expect, test } from "vitest";
import { ambiguousLabels, nameInText, shownName } from "./names";

test.each(["", "   ", "\t\n", "\u200b", "\u2800", "\u3164"])("a name without a mark, %j, says so", (name) => {
  expect(shownName(name)).toBe("(blank)");
});

test("a character that reorders text is visible and reorders nothing", () => {
  expect(shownName("abc\u202efdp.exe")).toBe("abc\ufffdfdp.exe");
  expect(shownName("\u2066a\u2069")).toBe("\ufffda\ufffd");
  expect(shownName("\u202e")).toBe("\ufffd");
});

test("a name that is read from the right is isolated in a sentence, others stay as they are", () => {
  expect(nameInText("orders/daily")).toBe("orders/daily");
  expect(nameInText("שלום/daily")).toBe("\u2068שלום/daily\u2069");
});

test("a label is ambiguous where queries of several services have it", () => {
  const of = (label: string | null, service?: string | null): object => ({ label, service });
  expect([...ambiguousLabels([of("a", "x"), of("b", "x"), of("a", "y"), of("a", "z")])]).toEqual(["a"]);
  expect([...ambiguousLabels([of("a", "x"), of("a", "x"), of(null, "x"), of(null, "y")])]).toEqual([]);
  expect([...ambiguousLabels([of("a"), of("a", null)])]).toEqual([]);
  expect([...ambiguousLabels([of("a", null), of("a", "x")])]).toEqual(["a"]);
});

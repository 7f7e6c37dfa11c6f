import { expect, test } from "vitest";
import { parseExact } from "./json";

test("nanoseconds keep every digit", () => {
  expect(parseExact('{"started_unix_ns": 1795206683609778763, "wall_ms": 372.7242}')).toEqual({
    started_unix_ns: 1795206683609778763n,
    wall_ms: 372.7242,
  });
  expect(parseExact("[1795206683609778763,-9007199254740993]")).toEqual([1795206683609778763n, -9007199254740993n]);
});

test("a time is a bigint whatever its size, and null where it is not known", () => {
  expect(parseExact('{"a_unix_ns":5,"b_unix_ns":null,"c":5}')).toEqual({ a_unix_ns: 5n, b_unix_ns: null, c: 5 });
  expect(parseExact('{"a_unix_ns":null,"days":[5]}')).toEqual({ a_unix_ns: null, days: [5] });
});

test("what a double holds is a number", () => {
  const text =
    '{"a":9007199254740991,"b":1795206683609778763.5,"c":1e300,"d":-0,"e":12345678901234567e2,' +
    '"f":0.2925150077372483,"g":-0.12345678901234567e-5}';
  expect(parseExact(text)).toEqual(JSON.parse(text));
});

test("text is text, also when it looks like a number", () => {
  const text =
    '{"failed":"at 1795206683609778763 \\"started_unix_ns\\": 1795206683609778763","1795206683609778763":"\\\\"}';
  expect(parseExact(text)).toEqual(JSON.parse(text));
});

test("what is not JSON is refused", () => expect(() => parseExact('{"a":')).toThrow(SyntaxError));

// Nanoseconds since 1970 need 61 bits, a double holds 53: they are read as bigints.

const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
const INTEGER = /^-?\d+$/;
const SAFE_DIGITS = 15;

/**
 * Parses JSON without rounding: a number that a double cannot hold is a bigint, and so is every field whose name ends
 * in `unix_ns`, whatever its size.
 *
 * Throws a `SyntaxError` when the text is not JSON.
 */
export function parseExact(text: string): unknown {
  const mark = `${Math.random().toString(36).slice(2)}:`;
  let name = "";
  let isMarked = false;
  const marked = text.replace(STRING_OR_NUMBER, (token) => {
    if (token.startsWith('"')) {
      name = token;
      return token;
    }
    const isTime = name.endsWith('unix_ns"');
    name = "";
    if (!INTEGER.test(token)) return token;
    if (!isTime && (token.length <= SAFE_DIGITS || Number.isSafeInteger(Number(token)))) return token;
    isMarked = true;
    return `"${mark}${token}"`;
  });
  if (!isMarked) return JSON.parse(text) as unknown;
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  );
}

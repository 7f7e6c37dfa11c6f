import { expect, test } from "vitest";
import { sharedPage } from "./page";

test("what a query holds cannot break out of the file", () => {
  const evil = '{"label":"</script><script>alert(1)</script><!--"}';
  const page = sharedPage('"><img src=x>', [evil], { script: 'document.write("</script>")', style: "" }, "abc");
  expect(page.match(/<script/g)).toHaveLength(2);
  expect(page.match(/<\/script>/g)).toHaveLength(2);
  expect(page).not.toContain("<img");
  const [, stored = ""] = /type="application\/x-ndjson">\n(.*)\n<\/script>/.exec(page) ?? [];
  expect(JSON.parse(stored)).toEqual(JSON.parse(evil));
});

test("the file allows its own script alone", () => {
  expect(sharedPage("t", [], { script: "", style: "" }, "abc")).toContain("default-src 'none'; script-src 'nonce-abc'");
});

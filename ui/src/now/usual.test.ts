import { afterEach, expect, test, vi } from "vitest";
import { usualOf } from "./usual";

afterEach(() => vi.unstubAllGlobals());

function answers(...bodies: (object | Error)[]): string[] {
  const asked: string[] = [];
  vi.stubGlobal("fetch", (url: string) => {
    asked.push(url);
    const body = bodies.shift() ?? { queries: [] };
    return body instanceof Error ? Promise.reject(body) : Promise.resolve(new Response(JSON.stringify(body)));
  });
  return asked;
}

test("one query is asked for at a time, once a minute, by label and service", async () => {
  const asked = answers({ queries: [{ label: "a", usual_wall_ms: 5 }] }, {}, { queries: [] });
  const query = { label: "a", service: "s" };
  expect((await usualOf(query, 1000))?.usual_wall_ms).toBe(5);
  expect((await usualOf(query, 60_999))?.usual_wall_ms).toBe(5);
  await expect(usualOf({ label: "a", service: null }, 2000)).rejects.toThrow();
  expect(await usualOf(query, 61_000)).toBeUndefined();
  expect(asked.map((url) => new URL(url, "http://localhost").searchParams.get("service"))).toEqual(["s", "", "s"]);
  expect(asked[0]).toBe("/api/overview?label=a&service=s");
});

test("an answer that did not come is asked for again", async () => {
  answers(new TypeError("away"), { queries: [{ label: "b" }] });
  await expect(usualOf({ label: "b", service: "s" })).rejects.toThrow("does not answer");
  expect((await usualOf({ label: "b", service: "s" }))?.label).toBe("b");
});

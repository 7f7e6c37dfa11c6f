import { afterEach, expect, test, vi } from "vitest";
import { isKnownRun } from "./known-run";

afterEach(() => vi.unstubAllGlobals());

function answers(body: object | undefined): void {
  vi.stubGlobal("fetch", async () => {
    if (body === undefined) throw new TypeError();
    return Promise.resolve(new Response(JSON.stringify(body)));
  });
}

test("a run is known by its own id, not by a label that names it", async () => {
  answers([{ query_id: "01a1" }]);
  expect(await isKnownRun("01A1")).toBe(true);
  expect(await isKnownRun("01a1ffff")).toBe(false);
  answers([]);
  expect(await isKnownRun("01a1")).toBe(false);
});

test("a service that does not answer says nothing of a run", async () => {
  answers(undefined);
  expect(await isKnownRun("01a1")).toBe(true);
});

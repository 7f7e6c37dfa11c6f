import { expect, test } from "vitest";
import { current, generate } from "../../scripts/api-types.mjs";

test("the types are those of schemas/openapi.json (else: npm run types)", async () => {
  expect(await current()).toBe(await generate());
}, 30_000);

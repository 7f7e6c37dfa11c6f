import { expect, test } from "vitest";
import { kept } from "./routes";

const all = { projects: [], services: [], labels: [], kinds: [], owners: [] };

test("what a route keeps is said in words", () => {
  expect(kept(all)).toBe("all kinds but data grew");
  expect(kept({ ...all, projects: ["etl", "web"], labels: ["orders/**"] })).toBe(
    "all kinds but data grew; project etl or web; label orders/**",
  );
  expect(kept({ ...all, kinds: ["slower", "data_grew"], owners: ["ada"] })).toBe("kind slower or data grew; owner ada");
});

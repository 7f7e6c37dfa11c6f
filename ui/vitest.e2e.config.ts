import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["e2e/**/*.test.ts"],
    // Each file has a browser and a service of its own. Most of its time it waits.
    maxWorkers: 2,
    testTimeout: 240_000,
    hookTimeout: 360_000,
    expect: { poll: { timeout: 60_000 } },
  },
});

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["e2e/**/*.test.ts"],
    // One browser and one service at a time: the machine that tests may be small.
    fileParallelism: false,
    testTimeout: 240_000,
    hookTimeout: 360_000,
    expect: { poll: { timeout: 60_000 } },
  },
});

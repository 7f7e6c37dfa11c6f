import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["e2e/**/*.test.ts"],
    // One browser and one service at a time: two on two cores make each test slower, and all hardly faster.
    fileParallelism: false,
    testTimeout: 240_000,
    hookTimeout: 360_000,
    expect: { poll: { timeout: 60_000 } },
  },
});

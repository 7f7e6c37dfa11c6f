import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["e2e/**/*.test.ts"],
    // One browser and one service at a time: two on two cores make each test slower, and all hardly faster.
    fileParallelism: false,
    tags: [{ name: "firefox", description: "runs in Firefox, too" }],
    testTimeout: 240_000,
    hookTimeout: 360_000,
    expect: { poll: { timeout: 60_000 } },
  },
});

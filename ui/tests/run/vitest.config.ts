import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: join(import.meta.dirname, "../.."),
  test: { include: ["tests/run/**/*.e2e.ts"], testTimeout: 60_000, hookTimeout: 120_000, fileParallelism: false },
});

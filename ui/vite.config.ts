import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";
import { stampSources } from "./scripts/sources.mjs";

const collector = process.env["QUERYSCOPE_URL"] ?? "http://127.0.0.1:7766";

export default defineConfig({
  plugins: [svelte(), stampSources()],
  server: { host: "127.0.0.1", proxy: { "/api": collector, "/v1": collector } },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
    // All that shows a run in one chunk without imports: a shared file carries it as it is (src/run/share).
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: "run", test: /src\/run\/share\/viewer\.ts$/ }] } } },
  },
  worker: { format: "es" },
  test: { include: ["src/**/*.test.ts"] },
});

import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

const collector = process.env["QUERYSCOPE_URL"] ?? "http://127.0.0.1:7766";

export default defineConfig({
  plugins: [svelte()],
  server: {
    host: "127.0.0.1",
    proxy: { "/api": collector, "/v1": collector },
  },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  worker: { format: "es" },
  test: { include: ["src/**/*.test.ts"] },
});

import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";
import { stampSources } from "./scripts/sources.mjs";

const collector = process.env["QUERYSCOPE_URL"] ?? "http://127.0.0.1:7766";

/** All that shows a run in one chunk without imports: a shared file carries it as it is (src/run/share). */
const RUN = { name: "run", test: /src\/run\/share\/viewer\.ts$/ };
/** Pages that few open first, in one chunk that is loaded when one is opened; what other pages share is not in it. */
const LATER = {
  name: "later",
  test: /src\/(issues\/|settings\/|frame\/MissingRun)/,
  includeDependenciesRecursively: false,
};

export default defineConfig({
  plugins: [svelte(), stampSources()],
  server: { host: "127.0.0.1", proxy: { "/api": collector, "/v1": collector } },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
    // One file of styles packs better than one for each page.
    cssCodeSplit: false,
    rolldownOptions: { output: { codeSplitting: { groups: [RUN, LATER] } } },
  },
  worker: { format: "es" },
  test: { include: ["src/**/*.test.ts"] },
});

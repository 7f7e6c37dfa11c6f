import { svelte } from "@sveltejs/vite-plugin-svelte";
import { minify } from "terser";
import type { Plugin } from "vite";
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

/** Of the scripts that Vite's minifier leaves, terser makes a percent fewer bytes once packed. */
const minifyAgain: Plugin = {
  name: "minify-again",
  apply: "build",
  async generateBundle(_options, bundle) {
    for (const part of Object.values(bundle)) {
      if (part.type !== "chunk") continue;
      const { code } = await minify(part.code, { module: true, ecma: 2020, compress: { passes: 3 } });
      part.code = code ?? part.code;
    }
  },
};

export default defineConfig({
  plugins: [svelte(), minifyAgain, stampSources()],
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

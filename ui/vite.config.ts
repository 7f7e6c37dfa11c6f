import { svelte } from "@sveltejs/vite-plugin-svelte";
import { minify } from "terser";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { stampSources } from "./scripts/sources.mjs";

const collector = process.env["QUERYSCOPE_URL"] ?? "http://127.0.0.1:7766";

/** All that shows a run in one chunk without imports: a shared file carries it as it is (src/run/share). */
const RUN = { name: "run", test: /src\/run\/share\/viewer\.ts$/ };
/** All else but what is loaded when it is opened: pages of a run or a file, and those that few open first. */
const REST = {
  name: "index",
  test: /^(?!.*\/src\/(run\/(?!open\/)|later|issues\/|settings\/|frame\/(MissingRun|GoTo)))/,
  includeDependenciesRecursively: false,
};

/** That in one chunk: each further one would list again what it takes of the others. */
const LATER = {
  name: "later",
  test: /\/src\/(run|later|issues|settings|frame)/,
  includeDependenciesRecursively: false,
};

/** The first page needs the chunk of runs, too: both are loaded at once. */
const loadTogether: Plugin = {
  name: "load-together",
  apply: "build",
  transformIndexHtml: {
    order: "post",
    handler: (_html, { chunk }) =>
      chunk?.imports.map((file) => ({
        tag: "link",
        attrs: { rel: "modulepreload", crossorigin: true, href: `/${file}` },
        injectTo: "head",
      })),
  },
};

/** What pages loaded later import is loaded by then: the import itself is enough. */
const importAlone: Plugin = {
  name: "import-alone",
  apply: "build",
  enforce: "pre",
  load: (id) => (id.includes("vite/preload-helper") ? "export const __vitePreload = (load) => load();" : undefined),
};

/** Of the scripts that Vite's minifier leaves, terser makes two percent fewer bytes once packed. */
const minifyAgain: Plugin = {
  name: "minify-again",
  apply: "build",
  async generateBundle(_options, bundle) {
    for (const part of Object.values(bundle)) {
      if (part.type !== "chunk") continue;
      // Declarations of functions side by side pack better where there are many components. `unsafe` takes String
      // and Array for those of the browser.
      const compress = {
        passes: 3,
        unsafe: true,
        sequences: false,
        unsafe_arrows: true,
        lhs_constants: false,
        hoist_funs: part.name !== RUN.name,
      };
      const format = { quote_style: 1 } as const;
      const { code } = await minify(part.code, { module: true, ecma: 2020, compress, format });
      part.code = code ?? part.code;
    }
  },
};

export default defineConfig({
  plugins: [svelte(), importAlone, minifyAgain, loadTogether, stampSources()],
  server: { host: "127.0.0.1", proxy: { "/api": collector, "/v1": collector } },
  build: {
    target: "es2022",
    // Those that know light-dark(), which would take other bytes for each colour. Scripts ask for versions as new.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: true,
    // One file of styles packs better than one for each page.
    cssCodeSplit: false,
    rolldownOptions: { output: { codeSplitting: { groups: [RUN, REST, LATER] } } },
  },
  worker: { format: "es" },
  test: { include: ["src/**/*.test.ts"] },
});

import js from "@eslint/js";
import svelte from "eslint-plugin-svelte";
import globals from "globals";
import { defineConfig } from "eslint/config";
import ts from "typescript-eslint";
import svelteConfig from "./svelte.config.js";

const PAGES = ["home", "issues", "now", "queries", "query", "run"];

const MODEL = ["api", "live", "model", "route"];
const COMPONENTS = ["frame", "parts"];

/** A page imports model and components, never another page's folder; the model imports no component. */
const layers = [...MODEL, ...COMPONENTS, ...PAGES].map((folder) => {
  const above = MODEL.includes(folder) ? [...COMPONENTS, ...PAGES] : PAGES.filter((page) => page !== folder);
  const regex = `^(\\.\\./)+(${above.join("|")})/`;
  const message = `src/${folder} imports nothing from there: shared code belongs in src/model or src/parts.`;
  return {
    files: [`src/${folder}/**`],
    rules: { "no-restricted-imports": ["error", { patterns: [{ regex, message }] }] },
  };
});

export default defineConfig(
  { ignores: ["dist", "test-results", "src/api/schema.ts"] },
  js.configs.recommended,
  ts.configs.strict,
  svelte.configs.recommended,
  { languageOptions: { globals: { ...globals.browser, ...globals.node } } },
  { files: ["**/*.svelte", "**/*.svelte.ts"], languageOptions: { parserOptions: { parser: ts.parser, svelteConfig } } },
  {
    rules: {
      "max-len": ["error", { code: 120 }],
      eqeqeq: ["error", "always", { null: "ignore" }],
      // Collections here are replaced whole ($state.raw), or hold nothing that is shown.
      "svelte/prefer-svelte-reactivity": "off",
    },
  },
  layers,
);

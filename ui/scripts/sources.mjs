// What the pages are built from: `crates/dashboard/build/sources.rs` computes the same to see whether they are current.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const WATCHED = [
  "index.html",
  "package-lock.json",
  "package.json",
  "public",
  "src",
  "svelte.config.js",
  "tsconfig.json",
  "vite.config.ts",
];

function filesOf(root, path) {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path)).flatMap((name) => filesOf(root, `${path}/${name}`));
}

export function digest(root) {
  const files = WATCHED.flatMap((path) => filesOf(root, path)).filter((path) => !path.endsWith(".test.ts"));
  const hash = createHash("sha256");
  for (const path of files.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))) {
    const bytes = readFileSync(join(root, path));
    hash.update(`${path}\n${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex");
}

/** Notes beside what was built what it was built from: as it was before, so that a change meanwhile is seen. */
export function stampSources() {
  const root = resolve(import.meta.dirname, "..");
  let before;
  return {
    name: "stamp-sources",
    apply: "build",
    buildStart() {
      before ??= digest(root);
    },
    closeBundle() {
      writeFileSync(join(root, "dist", "sources.sha256"), `${before}\n`);
    },
  };
}

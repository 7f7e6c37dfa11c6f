// Writes the page that the Python package shows a run with, from what was built: `node scripts/notebook-page.mjs FILE`.
// It is a shared file (src/run/share) with `{{title}}`, `{{events}}` and `{{nonce}}` where a run's own come.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { runnerImport } from "vite";

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("usage: node scripts/notebook-page.mjs FILE");
const assets = new URL("../dist/assets/", import.meta.url);
const names = await readdir(assets).catch(() => []);

/** The file that a part of the dashboard was built to. */
async function built(part, kind) {
  const found = names.filter((name) => new RegExp(`^${part}-[\\w-]{8}\\.${kind}$`).test(name));
  if (found.length !== 1)
    throw new Error(`ui/dist has ${found.length} files ${part}-*.${kind}: build the dashboard anew`);
  return readFile(new URL(found[0], assets), "utf8");
}

const { module: share } = await runnerImport(new URL("../src/run/share/page.ts", import.meta.url).pathname);
const viewer = { script: await built("run", "js"), style: await built("style", "css") };
const page = share.sharedPage("{{title}}", ["{{events}}"], viewer, "{{nonce}}");
for (const [mark, times] of [
  ["{{title}}", 1],
  ["{{events}}", 1],
  ["{{nonce}}", 2],
]) {
  const found = page.split(mark).length - 1;
  if (found !== times) throw new Error(`the page has ${mark} ${found} times instead of ${times}`);
}
await writeFile(file, page);

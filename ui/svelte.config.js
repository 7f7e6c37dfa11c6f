// Runes everywhere: state is what says so, in every component. Classes of scoped styles have short names, as they are
// in every element of every template: the place of their file among all of them.
import { readdirSync } from "node:fs";
import { join } from "node:path";

const files = readdirSync(join(import.meta.dirname, "src"), { recursive: true });
const components = files.filter((file) => file.endsWith(".svelte")).sort();

function cssHash({ filename, hash, css }) {
  const place = components.findIndex((file) => filename.endsWith(`src/${file}`));
  return `s${place < 0 ? hash(css) : place.toString(36)}`;
}

// Nobody asks a page for the version of Svelte.
export default { compilerOptions: { runes: true, discloseVersion: false, cssHash } };

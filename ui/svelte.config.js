// Runes everywhere: state is what says so, in every component. Classes of scoped styles have short names: they are in
// every element of every template. Two different styles with one name would mix.
const HASH_CHARS = 3;
const named = new Map();

function cssHash({ hash, css }) {
  const full = hash(css);
  for (let chars = HASH_CHARS; ; chars += 1) {
    const name = `s${full.slice(0, chars)}`;
    const other = named.get(name) ?? css;
    named.set(name, other);
    if (other === css) return name;
  }
}

// Nobody asks a page for the version of Svelte.
export default { compilerOptions: { runes: true, discloseVersion: false, cssHash } };

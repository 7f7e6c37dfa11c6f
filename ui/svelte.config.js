// Runes everywhere: state is what says so, in every component. Classes of scoped styles have short names: they are in
// every element of every template.
const HASH_CHARS = 5;

export default { compilerOptions: { runes: true, cssHash: ({ hash, css }) => `s-${hash(css).slice(0, HASH_CHARS)}` } };

// Runes everywhere: state is what says so, in every component.
export default { compilerOptions: { runes: true } };

/** What became of a node, where two plans stand side by side. */
export type Mark = "changed" | "added" | "removed";

/** How a mark is said beside what is outlined. */
export const MARKS = { changed: "≠ changed", added: "+ added", removed: "− removed" } as const;

/** What became of a node, where two plans stand side by side. */
export type Mark = "changed" | "added" | "removed";

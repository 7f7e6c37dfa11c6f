import type { Plugin } from "vite";

export function digest(root: string): string;
export function stampSources(): Plugin;

import type { Parameters } from "../../route/route";

/** Where choices are kept: the address, or memory in a file that was shared. */
export interface Choices {
  get(name: string): string | undefined;
  set(change: Parameters, how?: { replace?: boolean }): void;
}

export const TABS = ["timeline", "compare", "history", "raw"] as const;
export type Tab = (typeof TABS)[number];

/** How the plan is shown. */
export const SHAPES = ["picture", "table", "icicle"] as const;
export type Shape = (typeof SHAPES)[number];

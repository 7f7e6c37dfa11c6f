// The columns of the list of runs: which there are, how wide, and which a person wants, kept in this browser.

const KEY = "run-columns";

export const SORTS = ["started", "wall", "cpu", "rows", "read", "spilled", "memory", "warnings"] as const;
export type Sort = (typeof SORTS)[number];

export interface Column {
  id: string;
  name: string;
  width: string;
  title?: string;
  sort?: Sort;
  isFigure?: boolean;
  /** Whether it stays on a narrow screen. */
  isNarrow?: boolean;
}

/** Beside status and query, which are always there. */
export const COLUMNS = [
  { id: "service", name: "Service", width: "minmax(5.5rem, 1fr)" },
  { id: "environment", name: "Environment", width: "minmax(5.5rem, 1fr)" },
  { id: "host", name: "Host", width: "minmax(5rem, 1fr)" },
  { id: "version", name: "Version", width: "minmax(5rem, 1fr)" },
  { id: "started", name: "Started", width: "7.25rem", sort: "started" },
  { id: "wall", name: "Wall time", width: "6rem", sort: "wall", isFigure: true, isNarrow: true },
  {
    id: "cpu",
    name: "Busy time",
    width: "6.25rem",
    title: "CPU time, or of some engines the time that threads were busy",
    sort: "cpu",
    isFigure: true,
  },
  { id: "rows", name: "Rows", width: "4.5rem", sort: "rows", isFigure: true },
  { id: "read", name: "Read", width: "5.5rem", sort: "read", isFigure: true },
  { id: "spilled", name: "Spilled", width: "5.5rem", sort: "spilled", isFigure: true },
  { id: "memory", name: "Memory", width: "5.5rem", sort: "memory", isFigure: true },
  { id: "warnings", name: "Warnings", width: "5.75rem", sort: "warnings", isFigure: true },
] as const satisfies readonly Column[];
export type ColumnId = (typeof COLUMNS)[number]["id"];

/** Left out unless a kept text has them with a "+": texts of earlier versions do not know them. */
const LATER: readonly string[] = ["read", "spilled", "memory"];
const HIDDEN: readonly string[] = ["environment", "version", ...LATER];

/** Those of a kept text that are to be left out. */
export function hiddenOf(kept: string | null): readonly string[] {
  try {
    const given: unknown = JSON.parse(kept ?? "");
    if (!Array.isArray(given)) return HIDDEN;
    const isHidden = (id: string): boolean => given.includes(id) || (LATER.includes(id) && !given.includes(`+${id}`));
    return COLUMNS.map(({ id }) => id).filter(isHidden);
  } catch {
    return HIDDEN;
  }
}

function read(): readonly string[] {
  try {
    return hiddenOf(localStorage.getItem(KEY));
  } catch {
    return HIDDEN;
  }
}

class RunColumns {
  #hidden = $state.raw(read());

  has(id: ColumnId): boolean {
    return !this.#hidden.includes(id);
  }

  get shown(): readonly (Column & { id: ColumnId })[] {
    return COLUMNS.filter(({ id }) => this.has(id));
  }

  toggle(id: ColumnId): void {
    this.#hidden = this.has(id) ? [...this.#hidden, id] : this.#hidden.filter((other) => other !== id);
    try {
      const shownLater = LATER.filter((later) => !this.#hidden.includes(later)).map((later) => `+${later}`);
      localStorage.setItem(KEY, JSON.stringify([...this.#hidden, ...shownLater]));
    } catch {
      // A browser that keeps nothing has them until the page goes.
    }
  }
}

export const runColumns = new RunColumns();

// Views a person saved: a name and an address, kept in this browser.

const KEY = "views";
const MOST = 50;

export interface SavedView {
  name: string;
  search: string;
}

function read(): SavedView[] {
  try {
    const given: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(given) ? given.filter(isView) : [];
  } catch {
    return [];
  }
}

function isView(value: unknown): value is SavedView {
  const { name, search } = (value ?? {}) as Partial<SavedView>;
  return typeof name === "string" && typeof search === "string";
}

class SavedViews {
  #views = $state.raw(read());

  get all(): readonly SavedView[] {
    return this.#views;
  }

  /** Saves under a name; one saved before under it goes. */
  save(name: string, search: string): void {
    this.#write([...this.#views.filter((view) => view.name !== name), { name, search }].slice(-MOST));
  }

  remove(name: string): void {
    this.#write(this.#views.filter((view) => view.name !== name));
  }

  #write(views: SavedView[]): void {
    this.#views = views;
    try {
      localStorage.setItem(KEY, JSON.stringify(views));
    } catch {
      // A browser that keeps nothing has them until the page goes.
    }
  }
}

export const savedViews = new SavedViews();

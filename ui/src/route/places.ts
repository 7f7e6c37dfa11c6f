// Where a reader was on a page: back leads to the same place of it, and to the row that was opened.
//
// Browsers restore the scroll of a page before its rows are there, and never that of a list within it. So the
// place is kept by the entry of the history, and taken again once the page is long enough.

/** Pages are given so long to become as long as they were. */
const PATIENCE_MS = 6000;
/** Places of so many entries are kept. */
const KEPT = 60;
const STORED = "queryscope places";

interface Place {
  y: number;
  /** Scrolled within lists, in the order of the page. */
  lists: number[];
  /** The link that was followed or focused. */
  link: string | undefined;
}

type Kept = [key: string, place: Place][];

function read(): Kept {
  try {
    return JSON.parse(sessionStorage.getItem(STORED) ?? "[]") as Kept;
  } catch {
    return [];
  }
}

/** `crypto.randomUUID` is not there on plain HTTP. */
const freshKey = (): string => `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;

const lists = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>("[data-scroll]")];

export class Places {
  #kept: Kept = read();
  #key = "";
  #stop: (() => void) | undefined;
  /** Whether the entry has a place of its own: it was gone back to, or stays where the one before was. */
  #isRestored = false;
  /** Where the element that stays stood in the window. */
  #top = 0;

  /** Takes over the scroll from the browser, at the entry that is shown now. */
  begin(): void {
    history.scrollRestoration = "manual";
    const { key } = (history.state ?? {}) as { key?: string };
    this.#key = key ?? freshKey();
    if (key === undefined) history.replaceState({ key: this.#key }, "");
    else this.restore();
    addEventListener("pagehide", () => this.save());
  }

  /** What the next entry of the history is to be called. */
  next({ replace }: { replace: boolean }): { key: string } {
    if (!replace) {
      this.save();
      this.#stop?.();
      this.#key = freshKey();
      this.#isRestored = false;
    }
    return { key: this.#key };
  }

  /** Keeps the place of the entry that is left. */
  save(): void {
    const link = document.activeElement?.closest<HTMLElement>("main a[href]")?.getAttribute("href") ?? undefined;
    const place: Place = { y: scrollY, lists: lists().map(({ scrollTop }) => scrollTop), link };
    this.#kept = [...this.#kept.filter(([key]) => key !== this.#key), [this.#key, place] as Kept[number]].slice(-KEPT);
    try {
      sessionStorage.setItem(STORED, JSON.stringify(this.#kept));
    } catch {
      // What cannot be stored is known until the page is loaded anew.
    }
  }

  /** The reader went back or forth: `history.state` is that of the entry that comes. */
  move(): void {
    this.save();
    this.#key = ((history.state ?? {}) as { key?: string }).key ?? "";
    this.restore();
  }

  /** Goes to the place of this entry as soon as there is one to go to. */
  restore(): void {
    const place = this.#kept.find(([key]) => key === this.#key)?.[1];
    this.#isRestored = place !== undefined;
    this.#until(() => place === undefined || goTo(place));
  }

  /**
   * Brings what the address names to the top of the window, but for an entry that has a place of its own. Not before
   * it was drawn with what it loads: browsers count what moves in the frame of a scroll as a shift of the page.
   */
  bring(element: HTMLElement): void {
    if (this.#isRestored) return;
    let isDrawn = false;
    this.#until(() => {
      if (isDrawn) element.scrollIntoView();
      const isThere = isDrawn;
      isDrawn = isDrawnIn(element);
      return isThere;
    });
  }

  /**
   * The page that comes is one like this, and has what is called `id` where it stands here. The window is as long as
   * it was until that is drawn, so that the browser does not scroll it.
   */
  stay(id: string): void {
    const was = document.getElementById(id);
    const isTop = scrollY === 0;
    // Without it, the page before this one was left in the same way, and before it was there.
    if (was) this.#top = was.getBoundingClientRect().top;
    document.body.style.minHeight = `${document.body.scrollHeight}px`;
    this.#isRestored = true;
    let isDrawn = false;
    this.#until(() => {
      const is = document.getElementById(id);
      if (!is || is === was) return false;
      if (!isTop) scrollBy(0, is.getBoundingClientRect().top - this.#top);
      const isThere = isDrawn;
      isDrawn = isDrawnIn(is);
      return isThere;
    });
  }

  /** Moves at each frame until it is there, unless the reader goes somewhere first. */
  #until(move: () => boolean): void {
    this.#stop?.();
    const until = performance.now() + PATIENCE_MS;
    let frame = 0;
    const events = ["wheel", "touchstart", "pointerdown", "keydown"] as const;
    const stop = (): void => {
      cancelAnimationFrame(frame);
      for (const name of events) removeEventListener(name, stop);
      this.#stop = undefined;
      // Not before a key that stopped it had its say: it may be the next one that stays.
      setTimeout(() => this.#stop ?? document.body.style.removeProperty("min-height"));
    };
    const step = (): void => {
      if (move() || performance.now() > until) return stop();
      frame = requestAnimationFrame(step);
    };
    for (const name of events) addEventListener(name, stop, { passive: true });
    this.#stop = stop;
    frame = requestAnimationFrame(step);
  }
}

/** Whether an element has more than the sign that it loads. */
function isDrawnIn(element: HTMLElement): boolean {
  return element.querySelector(":scope > [role=status]") === null;
}

/** As far as the page is there; whether all of it is. */
function goTo({ y, lists: wanted, link }: Place): boolean {
  const found = lists();
  let isThere = wanted.every((top, at) => {
    const list = found[at];
    if (list === undefined) return top === 0;
    if (Math.abs(list.scrollTop - top) > 1) list.scrollTop = top;
    return Math.abs(list.scrollTop - top) <= 1;
  });
  if (Math.abs(scrollY - y) > 1) scrollTo(0, y);
  isThere = Math.abs(scrollY - y) <= 1 && isThere;
  if (!isThere || link === undefined) return isThere;
  const to = [...document.querySelectorAll<HTMLElement>("main a[href]")].find(
    (one) => one.getAttribute("href") === link,
  );
  to?.focus({ preventScroll: true });
  return to !== undefined;
}

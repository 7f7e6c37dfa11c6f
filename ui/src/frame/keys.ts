// The keys of the dashboard.

/** Pages that `g` and the letter open, and the kinds of pages that are a part of each. */
export const PAGES: readonly [letter: string, name: string, to: string, ...kinds: string[]][] = [
  ["h", "Home", "/", "home"],
  ["i", "Issues", "/issues", "issues", "issue"],
  ["n", "Now", "/now", "now"],
  ["q", "Queries", "/queries", "queries", "query", "run"],
  ["s", "Settings", "/settings"],
  ["o", "Open a file", "/open"],
];
/** So many of them are in the header. */
export const IN_HEADER = 4;

/** Every key, in groups, as the help lists them. */
export const KEYS = [
  {
    where: "Everywhere",
    keys: [
      ["/", "find on this page"],
      ["Ctrl+K ⌘K", "open a page, query or issue by its name"],
      ...PAGES.map(([letter, name]) => [`g ${letter}`, name] as const),
      ["?", "this help"],
      ["t", "time range"],
      ["Esc", "close"],
    ],
  },
  {
    where: "In lists",
    keys: [
      ["↑ ↓", "next row"],
      ["Enter", "open"],
      ["PgUp PgDn", "a page up, down"],
      ["Home End", "first, last"],
    ],
  },
  {
    where: "On a chart",
    keys: [
      ["← →", "previous, next run"],
      ["Home End", "first, last run"],
      ["Enter", "open"],
      ["+ −", "zoom in, out around the run or the middle"],
      ["drag", "zoom in; Esc lets it be"],
    ],
  },
  {
    where: "In issues",
    keys: [
      ["j k", "next, previous issue"],
      ["Enter", "open"],
      ["a", "acknowledge"],
      ["m", "mute"],
      ["r", "resolve"],
      ["n", "write a note"],
    ],
  },
  {
    where: "In a run",
    keys: [
      ["← ↑ → ↓", "next node"],
      ["h", "next hottest node"],
      ["f", "next finding"],
      ["x", "collapse, expand what is below the node"],
      ["+ − 0", "zoom in, out, all of the plan"],
      ["c", "compare"],
      ["[ ]", "previous, next run"],
    ],
  },
  {
    where: "On the scrubber of a run",
    keys: [
      ["← →", "previous, next sample"],
      ["Space", "play, pause"],
    ],
  },
] as const;

/** Whether a key is meant for the page: it is pressed alone, and neither in a field nor over a dialog. */
export function isForPage(event: KeyboardEvent): boolean {
  const isWithOther = event.ctrlKey || event.metaKey || event.altKey;
  return !(event.defaultPrevented || isWithOther || isTyping(event.target) || document.querySelector("dialog[open]"));
}

/** Whether what is pressed is meant for a field; sliders and boxes take no letters. */
function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !/^(range|checkbox|radio|button|file)$/.test(target.type);
  return target instanceof HTMLElement && (target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName));
}

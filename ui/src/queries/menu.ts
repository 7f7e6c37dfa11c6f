// A menu behind a button: a `details` that Esc closes, and a click elsewhere or on one of its links.

/** For `{@attach}`. */
export function menu(details: HTMLDetailsElement): () => void {
  const onEvent = ({ target, key }: Partial<KeyboardEvent>): void => {
    const isEsc = key === "Escape";
    if (!details.open || (key === undefined ? isInside(target as Element) : !isEsc)) return;
    details.open = false;
    if (isEsc) details.querySelector("summary")?.focus();
  };
  const isInside = (target: Element): boolean => details.contains(target) && !target.closest("a");
  addEventListener("keydown", onEvent);
  addEventListener("click", onEvent);
  return () => {
    removeEventListener("keydown", onEvent);
    removeEventListener("click", onEvent);
  };
}

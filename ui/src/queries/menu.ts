// A menu behind a button: a `details` that Esc closes, and a click elsewhere or on one of its links.

/** For `{@attach}`. */
export function menu(details: HTMLDetailsElement): () => void {
  const onKey = ({ key }: KeyboardEvent): void => {
    if (key !== "Escape" || !details.open) return;
    details.open = false;
    details.querySelector("summary")?.focus();
  };
  const onClick = ({ target }: MouseEvent): void => {
    if (!details.contains(target as Node) || (target as Element).closest("a")) details.open = false;
  };
  addEventListener("keydown", onKey);
  addEventListener("click", onClick);
  return () => {
    removeEventListener("keydown", onKey);
    removeEventListener("click", onClick);
  };
}

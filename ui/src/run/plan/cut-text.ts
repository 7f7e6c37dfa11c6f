// SVG text neither wraps nor cuts itself.

import { cutText } from "../../units";

/** Widths of letters as shares of the size of the font, of the widest common one, in bold. */
const WIDE = 0.78;
const NARROW = 0.62;

/** Pixels that a text takes at most. */
export function textPx(text: string, size: number): number {
  const wide = text.match(/[A-Z0-9mw%…]/g)?.length ?? 0;
  return size * (wide * WIDE + (text.length - wide) * NARROW);
}

/** Cut to so many pixels. */
export function fitText(text: string, px: number, size: number): string {
  let length = text.length;
  while (length > 1 && textPx(cutText(text, length), size) > px) length -= 1;
  return cutText(text, length);
}

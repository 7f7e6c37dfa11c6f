// SVG text neither wraps nor cuts itself.

import { cutText } from "../../units";

const pen = document.createElement("canvas").getContext("2d") as CanvasRenderingContext2D;
let family = "";

/** Pixels that a text takes at most: in bold, which takes the most. */
export function textPx(text: string, size: number): number {
  family ||= getComputedStyle(document.body).fontFamily;
  pen.font = `600 ${size}px ${family}`;
  return pen.measureText(text).width;
}

/** Cut to so many pixels. */
export function fitText(text: string, px: number, size: number): string {
  let length = Math.min(text.length, Math.ceil((text.length * px) / (textPx(text, size) || 1)));
  while (length > 1 && textPx(cutText(text, length), size) > px) length -= 1;
  return cutText(text, length);
}

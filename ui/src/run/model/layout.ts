// A layered drawing of a tree: E. M. Reingold, J. S. Tilford, "Tidier Drawings of Trees", 1981. Boxes of one size,
// parents over the middle of their children, subtrees as close as their outlines allow.

import type { Folded } from "./fold";

export const BOX_WIDTH = 240;
export const BOX_HEIGHT = 66;
const GAP_X = 20;
const GAP_Y = 38;

export interface Place {
  /** Of the upper left corner. */
  x: number;
  y: number;
}

export interface Layout {
  places: ReadonlyMap<string, Place>;
  width: number;
  height: number;
}

/** The outline of a subtree, a value a level, relative to its top. */
interface Outline {
  left: number[];
  right: number[];
}

export function layOut(folded: Folded): Layout {
  const offsets = new Map<string, number>();
  const outlines = new Map<string, Outline>();
  const order = topDown(folded);
  for (const id of [...order].reverse()) outlines.set(id, placeChildren(folded.children.get(id) ?? [], outlines, offsets));

  // Several roots stand beside each other, as if something read them all.
  placeChildren(folded.roots, outlines, offsets);
  const places = new Map<string, Place>();
  for (const id of order) {
    const parent = folded.boxes.get(id)?.parent ?? null;
    const above = parent === null ? undefined : places.get(parent);
    places.set(id, {
      x: (above?.x ?? 0) + (offsets.get(id) ?? 0),
      y: above ? above.y + BOX_HEIGHT + GAP_Y : 0,
    });
  }
  return fromZero(places);
}

/** Each box before its children. */
function topDown(folded: Folded): string[] {
  const order: string[] = [];
  const waiting = [...folded.roots].reverse();
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    order.push(id);
    waiting.push(...[...(folded.children.get(id) ?? [])].reverse());
  }
  return order;
}

/** Puts subtrees side by side, centred under x = 0, and returns the outline of the whole. */
function placeChildren(ids: readonly string[], outlines: ReadonlyMap<string, Outline>, offsets: Map<string, number>): Outline {
  const whole: Outline = { left: [], right: [] };
  const at: number[] = [];
  for (const id of ids) {
    const outline = outlines.get(id) ?? { left: [0], right: [0] };
    let x = 0;
    for (let level = 0; level < Math.min(whole.right.length, outline.left.length); level += 1) {
      x = Math.max(x, (whole.right[level] ?? 0) + BOX_WIDTH + GAP_X - (outline.left[level] ?? 0));
    }
    at.push(x);
    outline.left.forEach((left, level) => (whole.left[level] ??= left + x));
    outline.right.forEach((right, level) => (whole.right[level] = right + x));
  }
  const middle = ((at[0] ?? 0) + (at.at(-1) ?? 0)) / 2;
  ids.forEach((id, i) => offsets.set(id, (at[i] ?? 0) - middle));
  return { left: [0, ...whole.left.map((x) => x - middle)], right: [0, ...whole.right.map((x) => x - middle)] };
}

function fromZero(places: ReadonlyMap<string, Place>): Layout {
  const all = [...places.values()];
  const left = all.reduce((least, { x }) => Math.min(least, x), Number.POSITIVE_INFINITY);
  const moved = new Map([...places].map(([id, { x, y }]) => [id, { x: Math.round(x - left), y }]));
  const width = [...moved.values()].reduce((most, { x }) => Math.max(most, x + BOX_WIDTH), 0);
  const height = all.reduce((most, { y }) => Math.max(most, y + BOX_HEIGHT), 0);
  return { places: moved, width, height };
}

/** From the top of a box up to the one that reads it, as an SVG path. */
export function edgePath(from: Place, to: Place, extra: boolean): string {
  const x1 = from.x + BOX_WIDTH / 2;
  const y1 = from.y;
  const x2 = to.x + BOX_WIDTH / 2;
  const y2 = to.y + BOX_HEIGHT;
  if (extra) {
    // Out at the side, around what lies between.
    const side = x2 >= x1 ? 1 : -1;
    const startX = from.x + (side > 0 ? BOX_WIDTH : 0);
    const startY = from.y + BOX_HEIGHT / 2;
    const endX = to.x + (x2 - x1 === 0 ? BOX_WIDTH : side > 0 ? 0 : BOX_WIDTH);
    const endY = to.y + BOX_HEIGHT / 2;
    const bend = side * Math.max(40, Math.abs(endX - startX) / 2);
    const back = x2 === x1 ? bend : -bend;
    return `M${startX},${startY}C${startX + bend},${startY} ${endX + back},${endY} ${endX},${endY}`;
  }
  if (x1 === x2) return `M${x1},${y1}V${y2}`;
  const middle = (y1 + y2) / 2;
  return `M${x1},${y1}C${x1},${middle} ${x2},${middle} ${x2},${y2}`;
}

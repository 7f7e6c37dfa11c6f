// A layered drawing of a tree by d3-hierarchy: boxes of one size, parents over the middle of their children.

import { hierarchy, tree } from "d3-hierarchy";
import type { Folded } from "./fold";

export const BOX_WIDTH = 240;
export const BOX_HEIGHT = 66;
const GAP_X = 20;
const GAP_Y = 30;

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

const place = tree<string>()
  .nodeSize([BOX_WIDTH + GAP_X, BOX_HEIGHT + GAP_Y])
  .separation(() => 1);

export function layOut({ roots, children }: Folded): Layout {
  // Several roots stand beside each other, as if something read them all.
  const all = place(hierarchy("", (id) => (id === "" ? roots : children.get(id))))
    .descendants()
    .slice(1);
  const least = all.reduce((left, { x }) => Math.min(left, x), Number.POSITIVE_INFINITY);
  const places = new Map(
    all.map(({ data, x, depth }) => [data, { x: Math.round(x - least), y: (depth - 1) * (BOX_HEIGHT + GAP_Y) }]),
  );
  const width = [...places.values()].reduce((most, { x }) => Math.max(most, x + BOX_WIDTH), 0);
  const height = [...places.values()].reduce((most, { y }) => Math.max(most, y + BOX_HEIGHT), 0);
  return { places, width, height };
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

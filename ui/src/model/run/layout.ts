// A layered drawing of a tree by d3-hierarchy: boxes of one size, parents over the middle of their children.

import { hierarchy, tree } from "d3-hierarchy";
import type { Folded } from "./fold";

const BOX_WIDTH = 240;
/** Boxes of a plan with few leaves are wider, as long as they need no more than this beside each other. */
const WIDE_BOX = 400;
const WIDE_PLAN = 1000;
export const BOX_HEIGHT = 66;
const GAP_X = 20;
const GAP_Y = 30;

export interface Place {
  /** Of the upper left corner. */
  x: number;
  y: number;
  /** That of all boxes of a drawing. */
  width: number;
}

export interface Layout {
  places: ReadonlyMap<string, Place>;
  width: number;
  height: number;
}

/** `leaves` are those of the whole plan: nothing that folds makes boxes wider. */
export function layOut({ roots, children }: Folded, leaves: number): Layout {
  const boxWidth = Math.max(BOX_WIDTH, Math.min(WIDE_BOX, Math.floor(WIDE_PLAN / leaves) - GAP_X));
  const place = tree<string>()
    .nodeSize([boxWidth + GAP_X, BOX_HEIGHT + GAP_Y])
    .separation(() => 1);
  // Several roots stand beside each other, as if something read them all.
  const all = place(hierarchy("", (id) => (id === "" ? roots : children.get(id))))
    .descendants()
    .slice(1);
  const least = all.reduce((left, { x }) => Math.min(left, x), Number.POSITIVE_INFINITY);
  const places = new Map(
    all.map(({ data, x, depth }) => [
      data,
      { x: Math.round(x - least), y: (depth - 1) * (BOX_HEIGHT + GAP_Y), width: boxWidth },
    ]),
  );
  const width = [...places.values()].reduce((most, { x }) => Math.max(most, x + boxWidth), 0);
  const height = [...places.values()].reduce((most, { y }) => Math.max(most, y + BOX_HEIGHT), 0);
  return { places, width, height };
}

/** The outline of a box, as an SVG path. */
export function boxPath({ x, y, width }: Place): string {
  return `M${x} ${y}h${width}v${BOX_HEIGHT}h-${width}z`;
}

/** From the top of a box up to the one that reads it, as an SVG path. */
export function edgePath(from: Place, to: Place, extra: boolean): string {
  const x1 = from.x + from.width / 2;
  const y1 = from.y;
  const x2 = to.x + from.width / 2;
  const y2 = to.y + BOX_HEIGHT;
  if (extra) {
    // Out at the side, around what lies between.
    const side = x2 >= x1 ? 1 : -1;
    const startX = from.x + (side > 0 ? from.width : 0);
    const startY = from.y + BOX_HEIGHT / 2;
    const endX = to.x + (x2 - x1 === 0 ? from.width : side > 0 ? 0 : from.width);
    const endY = to.y + BOX_HEIGHT / 2;
    const bend = side * Math.max(40, Math.abs(endX - startX) / 2);
    const back = x2 === x1 ? bend : -bend;
    return `M${startX},${startY}C${startX + bend},${startY} ${endX + back},${endY} ${endX},${endY}`;
  }
  if (x1 === x2) return `M${x1},${y1}V${y2}`;
  const middle = (y1 + y2) / 2;
  return `M${x1},${y1}C${x1},${middle} ${x2},${middle} ${x2},${y2}`;
}

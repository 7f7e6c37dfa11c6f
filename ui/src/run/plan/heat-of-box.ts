// What the picture says of a box: the heat of its nodes, whether it matches a search, and where it lies.

import type { Box, Folded } from "../../model/run/fold";
import { BOX_HEIGHT, boxPath, type Layout } from "../../model/run/layout";
import type { Moment } from "../../model/run/moment";
import type { NodeId } from "../../model/run/profile";
import { heatOf } from "../../units";

/** Share of the time of all nodes in a box; null where none tells. */
export function shareOf(box: Box, moment: Moment): number | null {
  let share: number | null = null;
  for (const id of box.members) {
    const own = moment.nodes.get(id)?.share ?? null;
    if (own !== null) share = (share ?? 0) + own;
  }
  return share;
}

/** Areas of one heat, as one SVG path: a thousand boxes far away are a handful of shapes. */
export interface Area {
  key: string;
  heat: number;
  dim: boolean;
  d: string;
}

/** All boxes as areas by heat; those without a match, where something is searched, are dimmed. */
export function areasOf(folded: Folded, layout: Layout, moment: Moment, matches: ReadonlySet<NodeId> | null): Area[] {
  const areas = new Map<string, Area>();
  for (const box of folded.boxes.values()) {
    const place = layout.places.get(box.id);
    if (place === undefined) continue;
    // A fold is many cheap nodes: it is no hot one.
    const heat = box.node === null ? 0 : heatOf(shareOf(box, moment));
    const dim = matches !== null && !box.members.some((id) => matches.has(id));
    const key = `${heat} ${dim}`;
    const area = areas.get(key);
    const d = boxPath(place);
    if (area) area.d += d;
    else areas.set(key, { key, heat, dim, d });
  }
  // What matches, and what is hot, is drawn last.
  return [...areas.values()].sort((a, b) => Number(b.dim) - Number(a.dim) || a.heat - b.heat);
}

/** The box at a point of the drawing. */
export function boxAt(folded: Folded, layout: Layout, x: number, y: number): Box | undefined {
  return [...folded.boxes.values()].find(({ id }) => {
    const place = layout.places.get(id);
    return (
      place !== undefined && x >= place.x && x <= place.x + place.width && y >= place.y && y <= place.y + BOX_HEIGHT
    );
  });
}

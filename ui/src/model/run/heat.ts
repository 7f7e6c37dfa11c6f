export const HEAT_NAMES = ["<1 %", "1-5 %", "5-15 %", "15-30 %", ">30 %"] as const;

/** Width of an edge in pixels: 1 for no rows or unknown, one and a bit more for each power of ten. */
export function edgeWidth(rows: number | null): number {
  return rows === null || rows <= 1 ? 1 : Math.min(12, 1 + 1.2 * Math.log10(rows));
}

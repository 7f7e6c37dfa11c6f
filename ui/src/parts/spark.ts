// Small lines over time, with the band that is usual behind them.

export interface Spark {
  width: number;
  height: number;
  /** The line, from one known value to the next. */
  line: string;
  /** The band's upper edge and its height. */
  band: { y: number; height: number } | undefined;
  /** Where the last value is. */
  last: { x: number; y: number } | undefined;
}

const EDGE = 2.5;

/** Lays out values, null where nothing is known, between zero and the largest. */
export function spark(
  values: readonly (number | null)[],
  band: readonly number[] | null | undefined,
  width: number,
  height: number,
): Spark {
  const known = values.filter((value) => value !== null);
  const [low, high] = [band?.[0] ?? 0, band?.[1] ?? 0];
  const top = Math.max(...known, high, Number.MIN_VALUE) * 1.05;
  const x = (at: number): number => EDGE + (at / Math.max(1, values.length - 1)) * (width - 2 * EDGE);
  // One value alone says nothing of high and low.
  const isAlone = known.length === 1 && high === 0;
  const y = (value: number): number => (isAlone ? height / 2 : height - EDGE - (value / top) * (height - 2 * EDGE));
  const points = values.flatMap((value, at) => (value === null ? [] : [{ x: x(at), y: y(value) }]));
  const line = points.map((point, at) => `${at === 0 ? "M" : "L"}${point.x.toFixed(1)} ${point.y.toFixed(1)}`).join("");
  return {
    width,
    height,
    line,
    band: band && high > 0 ? { y: y(high), height: Math.max(1, y(low) - y(high)) } : undefined,
    last: points.at(-1),
  };
}

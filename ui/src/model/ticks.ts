// Round values for the axes of charts.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ROUND_MS = [
  ...[0.001, 0.01, 0.1, 1, 10, 100].flatMap((decade) => [1, 2, 5].map((step) => step * decade)),
  ...[1, 2, 5, 10, 20, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 20, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 5, 10, 24, 48].map((hours) => hours * HOUR),
];
const MOST_TICKS = 8;

/** Round times between the two; where there are many, every other. */
export function wallTicks(from: number, to: number): number[] {
  let ticks = ROUND_MS.filter((ms) => ms >= from && ms <= to);
  while (ticks.length > MOST_TICKS) ticks = ticks.filter((_, at) => at % 2 === 0);
  return ticks;
}

const STEPS_MS = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  DAY,
];

/** Midnights, of a short range round times of the day; at most `most` of them. */
export function timeTicks(sinceMs: number, untilMs: number, dayStartMs: number, most: number): number[] {
  const range = untilMs - sinceMs;
  const step = STEPS_MS.find((one) => range / one <= most) ?? DAY * Math.ceil(range / DAY / Math.max(1, most));
  const round = Math.min(step, DAY);
  const first = dayStartMs + Math.ceil((sinceMs - dayStartMs) / round) * round;
  const ticks: number[] = [];
  for (let ms = first; ms <= untilMs; ms += step) ticks.push(ms);
  return ticks;
}

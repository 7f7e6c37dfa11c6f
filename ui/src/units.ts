// What numbers mean, and how they are said: at most three significant digits, a unit, "–" for unknown.

declare const unit: unique symbol;

/** A duration. */
export type Milliseconds = number & { readonly [unit]?: "ms" };
/** A point in time, in nanoseconds since 1970, exact. */
export type UnixNs = bigint & { readonly [unit]?: "unix ns" };
/** Where the day begins: where the reader is, or in Greenwich. */
export type Zone = "local" | "utc";

export const UNKNOWN = "–";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

type Maybe<T> = T | null | undefined;

/** At most `digits` significant digits, without an exponent or trailing zeros. */
function short(value: number, digits = 3): string {
  return String(Number(value.toPrecision(digits)));
}

const two = (value: number): string => String(value).padStart(2, "0");

/** Two units where both are small, else one: 4 min 41 s, 11.6 min. */
function pair(ms: number, big: number, bigName: string, small: number, smallName: string): string {
  const whole = Math.round(ms / small);
  const perBig = big / small;
  if (whole >= 10 * perBig) return `${short(ms / big)} ${bigName}`;
  const rest = whole % perBig;
  return `${Math.floor(whole / perBig)} ${bigName}${rest === 0 ? "" : ` ${two(rest)} ${smallName}`}`;
}

/** 0.42 ms, 309 ms, 1.6 s, 94 s, 4 min 41 s, 11.6 min, 2 h 05 min. */
export function formatDuration(ms: Maybe<Milliseconds>): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return UNKNOWN;
  if (ms < 0) return `-${formatDuration(-ms)}`;
  if (ms === 0) return "0 ms";
  if (ms < 1e-6) return "<1 ns";
  if (ms < 0.0009995) return `${short(ms * 1e6)} ns`;
  if (ms < 0.9995) return `${short(ms * 1000)} µs`;
  if (ms < 999.5) return `${short(ms)} ms`;
  if (ms < 119_500) return `${short(ms / 1000)} s`;
  if (ms < 59.95 * MINUTE) return pair(ms, MINUTE, "min", 1000, "s");
  if (ms < 47.95 * HOUR) return pair(ms, HOUR, "h", MINUTE, "min");
  return `${short(ms / DAY)} d`;
}

/** A duration to the last digit known, for tooltips: 41,213.5 ms. */
export function exactDuration(ms: Maybe<Milliseconds>): string {
  return ms === null || ms === undefined ? "unknown" : `${exactNumber(ms)} ms`;
}

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 4 });

/** A number to the last digit known: 1,234,567. */
export function exactNumber(value: Maybe<number | bigint>): string {
  return value === null || value === undefined ? "unknown" : grouped.format(value);
}

function scaled(value: number, base: number, names: readonly string[]): [string, string] {
  let power = 0;
  let rest = value;
  while (power < names.length - 1 && Math.abs(Number(rest.toPrecision(3))) >= 1000) {
    rest /= base;
    power += 1;
  }
  return [short(rest), names[power] ?? ""];
}

/** Rows and other counts: 7, 999, 8.06 k, 1.2 M. */
export function formatCount(value: Maybe<number | bigint>): string {
  if (value === null || value === undefined) return UNKNOWN;
  const [digits, name] = scaled(Number(value), 1000, ["", "k", "M", "G", "T", "P", "E"]);
  return name === "" ? digits : `${digits} ${name}`;
}

/** Bytes: 512 B, 1.5 MiB. */
export function formatBytes(value: Maybe<number | bigint>): string {
  if (value === null || value === undefined) return UNKNOWN;
  const [digits, name] = scaled(Number(value), 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]);
  return `${digits} ${name}`;
}

/** A share of one: 71 %, 4.2 %, 0.3 %, <0.1 %. */
export function formatShare(share: Maybe<number>): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return UNKNOWN;
  const percent = share * 100;
  if (percent === 0) return "0 %";
  if (Math.abs(percent) < 0.1) return "<0.1 %";
  return `${Math.abs(percent) < 9.95 ? short(Number(percent.toFixed(1))) : Math.round(percent)} %`;
}

/** How many times as much: <0.001x, 0.5x, 2.3x, 40x, 1,230x. */
export function formatRatio(ratio: Maybe<number>): string {
  if (ratio === null || ratio === undefined || !Number.isFinite(ratio)) return UNKNOWN;
  if (ratio > 0 && ratio < 0.001) return "<0.001x";
  if (ratio >= 999.5) return `${exactNumber(Number(ratio.toPrecision(3)))}x`;
  return ratio < 9.95
    ? `${ratio < 0.095 ? short(ratio, 1) : ratio.toFixed(1)}x`
    : `${short(ratio, ratio < 99.5 ? 2 : 3)}x`;
}

/** Busy threads: 0.3, 11.2. */
export function formatThreads(threads: Maybe<number>): string {
  return threads === null || threads === undefined
    ? UNKNOWN
    : threads < 99.95
      ? threads.toFixed(1)
      : String(Math.round(threads));
}

/** The heat of a share of the query's time, in fixed steps: <1, 1-5, 5-15, 15-30, >30 %. */
export function heatOf(exact: Maybe<number>): 0 | 1 | 2 | 3 | 4 {
  // As it is shown: a tenth of a percent.
  const share = Number((exact ?? 0).toFixed(3));
  if (share < 0.01) return 0;
  return share < 0.05 ? 1 : share < 0.15 ? 2 : share < 0.3 ? 3 : 4;
}

/** Whole milliseconds since 1970: for a `Date`, never for a link. */
export function epochMs(time: UnixNs): number {
  return Number(time / 1_000_000n);
}

export function fromEpochMs(ms: number): UnixNs {
  return BigInt(Math.round(ms)) * 1_000_000n;
}

/** Milliseconds from `from` to `to`, exact over centuries. */
export function elapsedMs(from: UnixNs, to: UnixNs): Milliseconds {
  return Number(to - from) / 1e6;
}

function parts(ms: number, zone: Zone): Record<"year" | "month" | "day" | "hour" | "minute" | "second", number> {
  const date = new Date(ms + utcOffset(ms, zone) * MINUTE);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth(),
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  };
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** As people say it: 14:02, 9 Nov 14:02, 9 Nov 2025. With `seconds`: 14:02:07. */
export function formatTime(time: Maybe<UnixNs>, zone: Zone, nowMs: number, seconds = false): string {
  if (time === null || time === undefined) return UNKNOWN;
  const then = parts(epochMs(time), zone);
  const now = parts(nowMs, zone);
  const clock = `${two(then.hour)}:${two(then.minute)}${seconds ? `:${two(then.second)}` : ""}`;
  const day = `${then.day} ${MONTHS[then.month]}`;
  if (then.year !== now.year) return `${day} ${then.year}`;
  return then.month === now.month && then.day === now.day ? clock : `${day} ${clock}`;
}

/** The day alone: 9 Nov. */
export function formatDay(time: UnixNs, zone: Zone): string {
  const { day, month } = parts(epochMs(time), zone);
  return `${day} ${MONTHS[month]}`;
}

/** The point itself, for tooltips: 2026-11-09 14:02:07.123456789 +01:00. */
export function exactTime(time: Maybe<UnixNs>, zone: Zone): string {
  if (time === null || time === undefined) return "unknown";
  const ms = epochMs(time);
  const { year, month, day, hour, minute, second } = parts(ms, zone);
  const fraction = String(((time % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n).padStart(9, "0");
  const date = `${year}-${two(month + 1)}-${two(day)} ${two(hour)}:${two(minute)}:${two(second)}.${fraction}`;
  return `${date} ${zone === "utc" ? "UTC" : offsetName(utcOffset(ms, zone))}`;
}

/** Minutes that the zone is ahead of UTC at this time. */
export function utcOffset(ms: number, zone: Zone): number {
  return zone === "utc" ? 0 : -new Date(ms).getTimezoneOffset();
}

function offsetName(minutes: number): string {
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** How long ago: just now, 14 s ago, 3 min ago, 5 h ago, 9 d ago. */
export function formatAgo(ageMs: Maybe<Milliseconds>): string {
  if (ageMs === null || ageMs === undefined) return UNKNOWN;
  if (ageMs < 1500) return "just now";
  if (ageMs < MINUTE) return `${Math.round(ageMs / 1000)} s ago`;
  if (ageMs < HOUR) return `${Math.round(ageMs / MINUTE)} min ago`;
  if (ageMs < 2 * DAY) return `${Math.round(ageMs / HOUR)} h ago`;
  return `${Math.round(ageMs / DAY)} d ago`;
}

/** 1 query, 2 queries. */
export function plural(count: number | bigint, one: string, many = `${one}s`): string {
  const text = formatCount(count);
  return `${text} ${text === "1" ? one : many}`;
}

/** With its first letter in upper case. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const UNIT = /(\d) (?=(?:%|µs|ms|s|min|h|d|k|M|B|[KMGT]iB)(?![a-zA-Z]))/g;

/** Keeps a number and its unit on one line. */
export function unbroken(text: string): string {
  return text.replace(UNIT, "$1\u00a0");
}

/** Cut to so many characters. */
export function cutText(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(1, length - 1)).trimEnd()}…`;
}

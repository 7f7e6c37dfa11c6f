import { exactNumber, formatBytes, formatCount, formatDuration } from "../../units";
import type { Exact } from "./json";

export interface SaidCounter {
  name: string;
  short: string;
  exact: string;
  /** What is copied: the digits alone. */
  digits: string;
}

/** A counter as people read it; its unit is in its name, as engines write it. */
export function sayCounter(name: string, value: Exact): SaidCounter {
  const digits = value.toString();
  const words = name.replaceAll("_", " ");
  if (/_ns$|^elapsed_compute$|_time$/.test(name)) {
    return {
      name: words.replace(/ ns$/, ""),
      short: formatDuration(Number(value) / 1e6),
      exact: `${exactNumber(value)} ns`,
      digits,
    };
  }
  if (/bytes|_mem_used$/.test(name))
    return { name: words, short: formatBytes(value), exact: `${exactNumber(value)} bytes`, digits };
  return { name: words, short: formatCount(value), exact: exactNumber(value), digits };
}

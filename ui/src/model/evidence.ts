// Figures of a cause, in the unit that the service names.

import { formatBytes, formatCount, formatDuration, formatRatio, formatShare, UNKNOWN } from "../units";

export function figure(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined) return UNKNOWN;
  switch (unit) {
    case "ms":
      return formatDuration(value);
    case "ns":
      return formatDuration(value / 1e6);
    case "bytes":
      return formatBytes(value);
    case "ratio":
      return formatRatio(value);
    case "share":
      return formatShare(value);
    case "1":
    case "":
      return formatCount(value);
    default:
      return `${formatCount(value)} ${unit}`;
  }
}

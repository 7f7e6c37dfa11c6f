// The first line of a query's page: when did it change, and why?

import type { Facets, LabelOverview } from "../api/client";
import { changeLine, firstCause, isWorse, place, type Change, type TimeText } from "../model/change";
import { firstLineOf } from "../model/failures";
import { isAsUsual, latelyWords } from "../model/lately";
import { nameInText } from "../model/names";
import { isBeside, type Plan } from "../model/plans";
import { formatDuration, plural } from "../units";

/** Five runs before a change and three since are the least it is found by. */
const RUNS_MIN = 8;
/** So much of an error is in the first line. */
const ERROR_MAX = 160;

/** The open change that the page is about: for the worse where there is one, the one that costs most. */
export function mainChange(open: readonly Change[]): Change | undefined {
  return open.find(isWorse) ?? open[0];
}

/**
 * Whether a change is one of all the runs that a page shows: it is of one service and environment, and may be of one
 * host. `places` counts the runs by place; of a field that the page restricts, it counts the other values as well.
 */
export function concernsAll(
  { service = null, environment = null, host = null }: Pick<Change, "service" | "environment" | "host">,
  places: Pick<Facets, "service" | "environment"> | undefined,
  chosen: { service?: string | undefined; environment?: string | undefined },
): boolean {
  const is = (own: string | null, wanted: string | undefined, values: readonly { value?: string | null }[]): boolean =>
    wanted === undefined ? values.length <= 1 : wanted === (own ?? "");
  if (host !== null) return false;
  const { service: services = [], environment: environments = [] } = places ?? {};
  return is(service, chosen.service, services) && is(environment, chosen.environment, environments);
}

/** Plans of one query that are named in its line at most. */
const PLANS_MAX = 4;

/** Whether its plans run beside each other, and take so different times that a median of all says nothing. */
export function isApart({ recent_spread_ms: spread }: LabelOverview, plans: readonly Plan[]): boolean {
  return spread != null && plans.length <= PLANS_MAX && plans.some(isBeside);
}

function errorLine(error: string): string {
  const line = nameInText(firstLineOf(error));
  return line.length > ERROR_MAX ? `${line.slice(0, ERROR_MAX).trimEnd()}…` : line;
}

/**
 * "2.4x slower since 18 Nov 02:05 (93.5 s in 37 runs, before 39.7 s in 120). Scan #3 reads 4x the rows." Of failures,
 * with what `error` says: their cause is these counts again.
 */
export function queryLine(
  label: LabelOverview,
  open: readonly Change[],
  during: string,
  timeText: TimeText,
  error?: string | null,
  plans: readonly Plan[] = [],
): string {
  const change = mainChange(open);
  if (change !== undefined) {
    const where = place(change);
    const more = open.length > 1 ? ` ${plural(open.length - 1, "other change is", "other changes are")} open.` : "";
    const line = `${changeLine(change, timeText)}${where === "" ? "" : ` ${where}`}`;
    if (change.kind !== "failing") return `${line}. ${firstCause(change)}${more}`.trim();
    const said = error == null ? line : `${line}: ${errorLine(error)}`;
    return `${said}${/[.!?…]$/.test(said) ? "" : "."}${more}`;
  }
  const unfinished = label.unfinished > 0 ? `, ${label.unfinished} unfinished` : "";
  const ran = `${plural(label.runs, "run")} ${during}${unfinished}`;
  const times = isApart(label, plans)
    ? `usually ${plans.map(({ letter, usualMs }) => `${formatDuration(usualMs)} with plan ${letter}`).join(", ")}`
    : latelyWords(label);
  const said = [times, ran].filter((text) => text !== "").join(", ");
  const needs =
    label.usual_wall_ms == null && label.runs < RUNS_MIN ? `. A change can be found from ${RUNS_MIN} runs on` : "";
  return `${isAsUsual(label) ? "As usual" : "No change is open"}: ${said}${needs}`;
}

// What a run's wall time is made of, by its counters: the same figures as crates/insights/src/query.rs.

import type { Milliseconds } from "../../units";
import { counter, ioNs } from "./counters";
import type { Exact } from "./json";
import type { Moment } from "./moment";
import type { Run } from "./run";
import { calledCode } from "./user-code";
import { QUERY_COUNTERS } from "./vocabulary";

export interface Times {
  wallMs: Milliseconds;
  /** Time threads worked, by the counters. */
  busyMs: Milliseconds;
  /** CPU time of the whole process meanwhile; null where the sender does not say. */
  processCpuMs: Milliseconds | null;
  /** The most queries of that process that ran at a time meanwhile; null where the sender does not say. */
  processQueries: number | null;
  /** Wall time in which reads or writes were under way and nothing can have worked. */
  waitedMs: Milliseconds;
  /** Time in which calls of code of the program were under way; null where the sender does not measure it. */
  userCodeMs: Milliseconds | null;
  /**
   * Wall time that no counter holds: what is left after planning, work, reads, writes and calls of user code, as if no
   * two of them had overlapped. So it is never more than the truth; 0 where nothing is counted at all.
   */
  uncountedMs: Milliseconds;
  /** Whether shares of the nodes' time say little, because most of the time is in no counter. */
  isMostlyUncounted: boolean;
  /** Whether they say little because most of the time is in calls of user code, which engines count little of. */
  isMostlyUserCode: boolean;
  /**
   * What the nodes' time is. Busy time where the engine times them by the clock on the wall: a thread that waits for a
   * core or sleeps is in that time. That is known of some engines, and where nodes tell more than the CPU clocks of the
   * run, or than its cores can give. Counted CPU where engines count little of what works: where most time is in no
   * counter, or a node calls user code.
   */
  nodesTime: "CPU" | "busy time" | "counted CPU";
  /** Whether that is so of what the run tells as its CPU time: its process used less, or DuckDB summed its nodes. */
  isCpuBusyTime: boolean;
  /** Whether nothing worked for most of the time, while reads or writes were under way. */
  isMostlyWaiting: boolean;
}

/** From this share of the wall time on, what no counter holds is said before anything else. */
const MOST = 0.5;
/** While a query runs, engines count a step when it ends: without user code, that is the likelier reason. */
const NEARLY_ALL = 0.9;
/** Two measurements of the same work differ by less. */
const MORE = 1.05;
/** While a query runs, the times of its nodes and its process are of other moments. */
const FAR_MORE = 2;
/** Samples until this share of a run tell of the whole. */
const SAMPLED = 0.95;
/** Engines that time their nodes by the clock on the wall. */
const BY_WALL_CLOCK = ["duckdb", "datafusion"];
/** Of a shorter query, scheduling alone may be as much. */
const FROM_MS = 1000;

export function timesOf(run: Run, moment: Moment): Times {
  const { profile } = run;
  const wallMs = run.elapsedMs;
  const ofQuery = (names: readonly string[]): Exact | null => counter(profile?.counters ?? {}, names);
  const busyMs = Math.max(ms(moment.busyNs) ?? 0, profile?.cpuMs ?? 0);
  const ofNodes = [...moment.nodes.values()].map(({ counters }) => Number((counters && ioNs(counters)) ?? 0));
  const ioMs = ms(ofQuery(QUERY_COUNTERS.io_ns)) ?? Math.max(0, ...ofNodes) / 1e6;
  const planningMs = profile?.planningMs ?? 0;
  // Of an ended run that was not sampled until its end, a part is known: that is no figure of the run.
  const sampledMs = run.sampleMs.at(-1) ?? wallMs;
  const isPart = run.finished !== null && sampledMs < SAMPLED * wallMs;
  const processCpuMs = ms(ofQuery(QUERY_COUNTERS.process_cpu_ns) ?? (isPart ? null : run.processCpuNs));
  const partMs = ms(run.processCpuNs);
  const likelyCpuMs = processCpuMs ?? (partMs === null ? null : (partMs / sampledMs) * wallMs);
  const queries = ofQuery(QUERY_COUNTERS.process_queries);
  // User code may have worked in any time that is not counted; only the process's CPU time bounds it.
  const isOpen = run.plan.physical.some((node) => calledCode(node) !== null);
  const worked = isOpen ? (processCpuMs === null ? wallMs : Math.max(busyMs, processCpuMs)) : busyMs;
  const waitedMs = Math.max(0, Math.min(ioMs, wallMs - planningMs - worked));
  const called = ms(ofQuery(QUERY_COUNTERS.user_code_ns));
  const userCodeMs = called === null ? null : Math.min(called, wallMs);
  const counted = planningMs + busyMs + ioMs + (userCodeMs ?? 0);
  const uncountedMs = busyMs === 0 ? 0 : Math.max(0, wallMs - counted);
  const isLong = wallMs >= FROM_MS;
  const cpuMs = run.finished === null ? null : (profile?.cpuMs ?? null);
  const { engine = null, cpuCount = null } = profile ?? {};
  const isCpuBusyTime = cpuMs !== null && (likelyCpuMs === null ? engine === "duckdb" : cpuMs > likelyCpuMs * MORE);
  const mostCpuMs = cpuMs === null ? processCpuMs && processCpuMs * FAR_MORE : cpuMs * MORE;
  const nodesMs = Number(moment.busyNs) / 1e6;
  const isBusyTime =
    isCpuBusyTime ||
    BY_WALL_CLOCK.includes(engine ?? "") ||
    (mostCpuMs !== null && nodesMs > mostCpuMs) ||
    (cpuCount !== null && nodesMs > cpuCount * wallMs);
  const isMostlyUncounted = isLong && uncountedMs >= (isOpen || run.finished ? MOST : NEARLY_ALL) * wallMs;
  // Of a function whose work the engine does count, shares of the nodes' time tell as much.
  const isMostlyUserCode = userCodeMs !== null && userCodeMs > 0 && userCodeMs - busyMs >= MOST * wallMs;
  return {
    wallMs,
    busyMs,
    processCpuMs,
    processQueries: queries === null ? null : Number(queries),
    waitedMs,
    userCodeMs,
    nodesTime: isBusyTime ? "busy time" : isOpen || isMostlyUncounted || isMostlyUserCode ? "counted CPU" : "CPU",
    isCpuBusyTime,
    uncountedMs,
    isMostlyUncounted,
    isMostlyUserCode,
    isMostlyWaiting: isLong && waitedMs >= MOST * wallMs,
  };
}

function ms(ns: Exact | null): Milliseconds | null {
  return ns === null ? null : Number(ns) / 1e6;
}

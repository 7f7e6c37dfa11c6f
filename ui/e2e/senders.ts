// Batches as a sender would send them, made up for a test.

import { randomUUID } from "node:crypto";

const SCHEMA = "engine-telemetry/events@1";

export interface Sent {
  label: string;
  service?: string | null;
  host?: string;
  runs?: number;
  wallMs?: number;
  /** How long before now the newest of them started; the others so long before each other, an hour unless told. */
  agoMs?: number;
  everyMs?: number;
  failed?: string;
  /** Version of the engine. */
  version?: string;
  /** Of its plan. */
  fingerprint?: string;
}

const HOUR_MS = 3_600_000;

function process(id: string, service: string | null, host: string): object {
  return { schema: SCHEMA, seq: 1, type: "process", id, service, environment: "test", host, pid: 1 };
}

const ROWS = 1_000_000;

function profile(query_id: string, label: string, wall_ms: number, startedMs: number, sent: Partial<Sent>): object {
  // One node works all the time, on the same rows: what is slower is slower per row.
  const metrics = { rows_in: ROWS, rows_out: ROWS, busy_ns: Math.round(wall_ms * 1e6) };
  const plan = { physical: [{ id: 1, kind: "Sort", role: "sort", inputs: [], metrics }], logical: [] };
  const { failed = null, version: engine_version = null, fingerprint = "0123456789ab" } = sent;
  return {
    schema: "engine-telemetry/profile@1",
    query_id,
    label,
    fingerprint,
    engine_version,
    wall_ms,
    cpu_ms: wall_ms,
    started_unix_ns: startedMs * 1e6,
    failed,
    plan,
  };
}

/** Runs of one query are never the same: within 3 % around the wall time, in a pattern. */
const NOISE = [0, 0.02, -0.01, 0.03, -0.03, 0.01, -0.02];

/** Runs of a query that ended, behind the process event of their stream. */
export function ended(sent: Sent): object[] {
  const { label, service = "etl", host = "etl-1", runs = 1, wallMs = 300, agoMs = HOUR_MS, everyMs = HOUR_MS } = sent;
  const events = Array.from({ length: runs }, (_, at) => {
    const query_id = randomUUID();
    const startedMs = Date.now() - agoMs - at * everyMs;
    const noise = runs === 1 ? 0 : (NOISE[at % NOISE.length] ?? 0);
    const body = profile(query_id, label, wallMs * (1 + noise), startedMs, sent);
    return { schema: SCHEMA, seq: 2 + at, type: "query.finished", query_id, profile: body };
  });
  return [process(randomUUID(), service, host), ...events];
}

/** A query that started a moment ago. */
export function started({ label, service = "etl", host = "etl-1" }: Sent): object[] {
  const query_id = randomUUID();
  const body = profile(query_id, label, 1000, Date.now() - 1000, {});
  const event = { schema: SCHEMA, seq: 2, type: "query.started", query_id, profile: body };
  return [process(randomUUID(), service, host), event];
}

/** The history of a query that became slower 2 hours ago: 12 runs as usual, and 6 that take 3 times as long. */
export function slowed(sent: Sent & { versions?: [string, string] }): object[][] {
  const { versions: [before, after] = [], ...rest } = sent;
  const everyMs = HOUR_MS / 3;
  return [
    ended({
      ...rest,
      everyMs,
      runs: 12,
      wallMs: 300,
      agoMs: 7 * everyMs,
      ...(before === undefined ? {} : { version: before }),
    }),
    ended({
      ...rest,
      everyMs,
      runs: 6,
      wallMs: 900,
      agoMs: everyMs,
      ...(after === undefined ? {} : { version: after }),
    }),
  ];
}

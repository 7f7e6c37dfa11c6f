// Batches as a sender would send them, made up for a test.

import { randomUUID } from "node:crypto";

const SCHEMA = "engine-telemetry/events@1";

export interface Sent {
  label: string;
  service?: string | null;
  host?: string;
  runs?: number;
  wallMs?: number;
  /** How long before now the newest of them started; the others an hour before each other. */
  agoMs?: number;
  failed?: string;
}

const HOUR_MS = 3_600_000;

function process(id: string, service: string | null, host: string): object {
  return { schema: SCHEMA, seq: 1, type: "process", id, service, environment: "test", host, pid: 1 };
}

function profile(query_id: string, label: string, wall_ms: number, startedMs: number, failed: string | null): object {
  const plan = { physical: [{ id: 1, kind: "Sort", role: "sort", inputs: [] }], logical: [] };
  const started_unix_ns = startedMs * 1e6;
  const schema = "engine-telemetry/profile@1";
  return { schema, query_id, label, fingerprint: "0123456789ab", wall_ms, started_unix_ns, failed, plan };
}

/** Runs of a query that ended, behind the process event of their stream. */
export function ended(sent: Sent): object[] {
  const { label, service = "etl", host = "etl-1", runs = 1, wallMs = 300, agoMs = HOUR_MS, failed } = sent;
  const events = Array.from({ length: runs }, (_, at) => {
    const query_id = randomUUID();
    const startedMs = Date.now() - agoMs - at * HOUR_MS;
    const body = profile(query_id, label, wallMs, startedMs, failed ?? null);
    return { schema: SCHEMA, seq: 2 + at, type: "query.finished", query_id, profile: body };
  });
  return [process(randomUUID(), service, host), ...events];
}

/** A query that started a moment ago. */
export function started({ label, service = "etl", host = "etl-1" }: Sent): object[] {
  const query_id = randomUUID();
  const body = profile(query_id, label, 1000, Date.now() - 1000, null);
  const event = { schema: SCHEMA, seq: 2, type: "query.started", query_id, profile: body };
  return [process(randomUUID(), service, host), event];
}

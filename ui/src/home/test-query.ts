// One small query, as a sender would report it, to see that sending works.

const SCHEMA = "engine-telemetry/events@1";

/** Sends it with this token. Says what came of it. */
export async function sendTestQuery(token: string): Promise<string> {
  try {
    const response = await fetch("/v1/events", {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
      body: testBatch(uuid(), uuid(), Date.now()),
    });
    if (response.ok) return "Sent: it is the query that shows up now.";
    if (response.status === 401) return "The service does not know this token.";
    return `The service answered ${response.status}: ${await response.text()}`;
  } catch {
    return "The service does not answer.";
  }
}

/** The batch: a process and a query that took 42 ms, which ended just now. */
export function testBatch(stream: string, query: string, nowMs: number): string {
  const wallMs = 42;
  const started = `${nowMs - wallMs}000000`;
  const process = {
    schema: SCHEMA,
    seq: 1,
    type: "process",
    id: stream,
    service: "dashboard",
    environment: "test",
    host: "browser",
    pid: 1,
  };
  const node = (id: number, kind: string, role: string, inputs: number[], rows: number): object => ({
    id,
    kind,
    role,
    inputs,
    metrics: { rows_sent: rows, total_time_ns: 9_000_000, done: true },
  });
  const physical = [
    node(1, "in-memory-source", "dataframe", [], 1_000_000),
    node(2, "group-by", "aggregation", [1], 10),
  ];
  const profile = {
    schema: "engine-telemetry/profile@1",
    query_id: query,
    label: "test-query",
    fingerprint: "test",
    started_unix_ns: "STARTED",
    wall_ms: wallMs,
    cpu_ms: 18,
    result_rows: 10,
    bytes_read: null,
    spilled_bytes: null,
    peak_memory_bytes: null,
    failed: null,
    plan: { physical, logical: [] },
    insights: { schema: "engine-telemetry/insights@1", findings: [] },
  };
  const finished = { schema: SCHEMA, seq: 2, type: "query.finished", query_id: query, profile };
  // A double cannot hold the nanoseconds.
  return `${JSON.stringify(process)}\n${JSON.stringify(finished).replace('"STARTED"', started)}\n`;
}

/** A random UUID; `crypto.randomUUID` is missing where the connection is not secure. */
function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

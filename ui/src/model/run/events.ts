import type { Counters } from "./counters";
import { asCount, asNumber, asString, type Exact, isObject, type Json, readJson } from "./json";
import { type NodeId, type Profile, readProfile } from "./profile";

export interface Process {
  id: string;
  service: string | null;
  environment: string | null;
  host: string | null;
}

export interface Sample {
  type: "sample";
  queryId: string;
  seq: Exact;
  elapsedMs: number;
  nodes: ReadonlyMap<NodeId, Counters>;
  usage: Usage;
}

/** What the process and its host had used by a sample; null where the sender does not say. */
export interface Usage {
  /** CPU time of the whole process since the query's start. */
  processCpuNs: Exact | null;
  /** Its resident memory at that moment. */
  processBytes: Exact | null;
  /** Time all processors of the host worked since the query's start. */
  hostCpuNs: Exact | null;
  /** Memory of the host in use at that moment, and in all. */
  hostBytes: Exact | null;
  hostTotalBytes: Exact | null;
}

export type Event =
  | { type: "process"; process: Process }
  | { type: "started"; queryId: string; seq: Exact; profile: Profile }
  | Sample
  | { type: "finished"; queryId: string; seq: Exact; profile: Profile }
  | { type: "other"; queryId: string | null; name: string };

const EVENTS = /^[a-z][a-z0-9-]*-telemetry\/events@1$/;
const PROFILE = /^[a-z][a-z0-9-]*-telemetry\/profile@1$/;

/** Reads one line; a string says in a few words why it is no event. A profile alone is what its query ended with. */
export function readEvent(line: string): Event | string {
  let value: Json;
  try {
    value = readJson(line);
  } catch {
    return "not JSON, or cut off";
  }
  if (!isObject(value)) return "not an object";
  const schema = asString(value["schema"]) ?? "";
  if (PROFILE.test(schema)) {
    const profile = readProfile(value);
    if (profile === null) return "a profile without a query_id";
    return { type: "finished", queryId: profile.queryId, seq: 0, profile };
  }
  if (!EVENTS.test(schema)) return "not of the formats events@1 and profile@1";
  const name = asString(value["type"]);
  if (name === null) return "without a type";
  const queryId = asString(value["query_id"]);
  const seq = asCount(value["seq"]) ?? 0;
  switch (name) {
    case "process":
      return {
        type: "process",
        process: {
          id: asString(value["id"]) ?? "",
          service: asString(value["service"]),
          environment: asString(value["environment"]),
          host: asString(value["host"]),
        },
      };
    case "query.started":
    case "query.finished": {
      const profile = readProfile(value["profile"]);
      if (profile === null) return `${name} without a profile`;
      return {
        type: name === "query.started" ? "started" : "finished",
        queryId: queryId ?? profile.queryId,
        seq,
        profile,
      };
    }
    case "query.progress": {
      const elapsedMs = asNumber(value["elapsed_ms"]);
      if (queryId === null || elapsedMs === null) return `${name} without query_id or elapsed_ms`;
      const nodes = isObject(value["nodes"]) ? value["nodes"] : {};
      const counters = Object.entries(nodes).filter((entry): entry is [NodeId, Counters] => isObject(entry[1]));
      const usage = {
        processCpuNs: asCount(value["process_cpu_ns"]),
        processBytes: asCount(value["process_memory_bytes"]),
        hostCpuNs: asCount(value["host_cpu_ns"]),
        hostBytes: asCount(value["host_memory_bytes"]),
        hostTotalBytes: asCount(value["host_memory_total_bytes"]),
      };
      return { type: "sample", queryId, seq, elapsedMs, nodes: new Map(counters), usage };
    }
    default:
      return { type: "other", queryId, name };
  }
}
